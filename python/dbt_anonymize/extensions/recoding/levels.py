"""Labels of the levels of hierarchies, where each row has levels of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.recoding.labels import Labels
from dbt_anonymize.extensions.recoding.leaves import Texts
from dbt_anonymize.extensions.recoding.records import Key, Records, Source
from dbt_anonymize.privacy.table import Attribute


def read_levels(
    source: Source, levels: Sequence[Mapping[str, int]]
) -> tuple[Records, list[Ladder]]:
    """Read the distinct rows at these levels; numbers at level 0 keep their values."""
    exact = [name for name in source.names if any(vector[name] == 0 for vector in levels)]
    records = Records.read(source, by_value=exact)
    used = [sorted({vector[name] for vector in levels}) for name in source.names]
    return records, [Ladder(*pair) for pair in zip(records.keys, used, strict=True)]


@dataclass(frozen=True, eq=False)
class Ladder:
    """The labels of one quasi-identifier at the levels that a recoding uses.

    A label has one code, whatever its level; that of `*` is 0.
    """

    key: Key
    levels: Collection[int]

    @cached_property
    def texts(self) -> dict[int, Texts]:
        """Labels of each key, by level; NULL has `*`."""
        root = np.array(["*"], dtype=object)
        of_leaves = {level: np.append(root, self.key.leaves.texts[level]) for level in self.levels}
        return {
            level: self.key.texts() if level == 0 else of_leaves[level][self.key.codes]
            for level in self.levels
        }

    @cached_property
    def codes(self) -> dict[int, Ints]:
        """Codes of the labels of each key, by level."""
        root = np.array(["*"], dtype=object)
        texts = np.concatenate([root, *self.texts.values()])
        codes = pd.factorize(texts)[0].astype(np.int64)[1:]
        size = len(self.key.codes)
        return {
            level: codes[place * size : (place + 1) * size]
            for place, level in enumerate(self.texts)
        }

    @cached_property
    def shares(self) -> dict[int, Floats]:
        """Share of the domain that the label of each key covers, by level; 1 of `*` and NULL."""
        leaves, shares_of = self.key.leaves, {}
        for level in self.levels:
            if level == 0 and leaves.is_interval:
                shares = np.zeros(len(self.key.codes))
            else:
                first, last = (end[level][self.key.codes] for end in leaves.covered)
                shares = leaves.shares(first, last)
                if level:
                    shares[self.texts[level] == "*"] = 1.0
            shares[0] = 1.0
            shares_of[level] = shares
        return shares_of

    def attribute(self) -> Attribute:
        """Return the attribute that guarantees judge, its levels in the order of ``levels``."""
        levels, shares = [], []
        for level in self.levels:
            first, codes = np.unique(self.codes[level], return_index=True, return_inverse=True)[1:]
            levels.append(codes.reshape(-1).astype(np.int64))
            shares.append(self.shares[level][first])
        leaves = self.key.leaves
        smallest = 1.0 / max(len(leaves), 1)
        return Attribute(leaves.name, tuple(levels), tuple(shares), len(leaves), smallest)

    def labels(
        self, keys: Ints, levels: Ints, is_hidden: Bools | None = None
    ) -> tuple[Labels, Ints]:
        """Return the distinct labels of rows, each at its own level, and the label of each row.

        Rows that are ``is_hidden`` have `*`, the root.
        """
        leaves, size = self.key.leaves, len(self.key.codes)
        if is_hidden is not None:
            keys, levels = np.where(is_hidden, 0, keys), np.where(is_hidden, leaves.height, levels)
        pairs, ids = np.unique(levels * size + keys, return_inverse=True)
        level, key = pairs // size, pairs % size
        leaf = self.key.codes[key]
        first, last = (end[level, leaf] for end in leaves.covered)
        is_null = key == 0
        is_value = (level == 0) & ~is_null & (self.key.raw is not None)
        texts = np.full(len(pairs), "*", dtype=object)
        shares = np.ones(len(pairs))
        for used in self.levels:
            is_here = (level == used) & ~is_null
            texts[is_here] = self.texts[used][key[is_here]]
            shares[is_here] = self.shares[used][key[is_here]]
        if leaves.is_interval:
            first, last = np.where(is_null, 1, first), np.where(is_null, len(leaves), last)
        return Labels(
            texts=texts,
            first=first,
            last=last,
            levels=level,
            shares=shares,
            numbers=np.full(len(pairs), np.nan),
            raw=np.where(is_value, key, 0),
        ), ids.reshape(-1)
