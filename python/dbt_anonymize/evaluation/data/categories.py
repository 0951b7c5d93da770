"""Text quasi-identifiers as features: see ``features``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import limits
from dbt_anonymize.evaluation.data import features
from dbt_anonymize.evaluation.data.features import (
    Arrays,
    Column,
    Reading,
    check_categories,
    level_sql,
)
from dbt_anonymize.evaluation.data.hierarchy import ROOT, Hierarchy
from dbt_anonymize.evaluation.data.relations import column_kind, ranked_texts, text_rank_sql
from dbt_anonymize.evaluation.data.spaces import UNKNOWN, Block, OneHot, Shares, flag_unknown
from dbt_anonymize.privacy.grouping import distinct_rows

if TYPE_CHECKING:
    import duckdb

    from dbt_anonymize.evaluation.data.reading import Effort


@dataclass(frozen=True)
class Category:
    """A text quasi-identifier."""

    name: str
    hierarchy: Hierarchy
    reading: Reading
    may_be_hidden: bool = False

    def sql(
        self, relation: duckdb.DuckDBPyRelation, effort: Effort | None = None
    ) -> dict[str, str]:
        """Return the SQL that reads the column of an effort (None: the untouched one), by name."""
        column_kind(relation, self.name)
        sqls = {"label": text_rank_sql(self.name)}
        is_recoded = effort is not None and effort.is_recoded
        return sqls | (level_sql(relation, self.name) if is_recoded else {})

    def untouched(self, relation: duckdb.DuckDBPyRelation, arrays: Arrays) -> Column:
        """Return the column of effort 0: values, or labels where there are too many values."""
        labels = ranked_texts(relation, self.name)
        codes = arrays["label"].astype(np.int64)
        leaf = self._places(labels, np.zeros(len(labels), dtype=np.int64), codes)
        return self._column(codes, np.zeros(len(labels), dtype=np.int64), leaf, raw=leaf)

    def generalized(
        self,
        arrays: Arrays,
        labels: Sequence[str | None],
        level: int | None,
        first: Column,
        *,
        has_modes: bool = False,
    ) -> Column:
        """Return the column of another effort; ``first`` is that of effort 0.

        ``labels`` are the text of each rank. ``level`` is None where each record has its own. With
        ``has_modes`` a label that is not in its level is read as a leaf.
        """
        codes = arrays["label"].astype(np.int64)
        if level is not None:
            levels, texts = np.full(len(labels), level), list(labels)
        else:
            own = self._levels(arrays["level"])
            sample, codes = distinct_rows([codes, own])
            levels, texts = own[sample], [labels[at] for at in arrays["label"][sample].astype(int)]
        if has_modes:
            levels = self._levels_of_modes(texts, levels)
        places = self._places(texts, levels, codes)
        return self._column(codes, levels, places, raw=first.raw, first=first)

    def _levels(self, levels: Floats) -> Ints:
        if np.isnan(levels).any():
            raise EvaluationError(
                f"column `{self.name}_level` must hold the level of every record; it is missing in "
                "some. Only intervals have labels between two levels. Build the recoding again."
            )
        return levels.astype(np.int64)

    def _levels_of_modes(self, texts: Sequence[str | None], levels: Ints) -> Ints:
        labels = [set(self.hierarchy.labels(level)) for level in range(self.hierarchy.levels + 1)]
        return np.array(
            [
                0 if text in labels[0] and text not in labels[level] else level
                for text, level in zip(texts, levels.tolist(), strict=True)
            ],
            dtype=np.int64,
        )

    def _places(self, texts: Sequence[str | None], levels: Ints, codes: Ints) -> Ints:
        """Return the position of each label in its level; `UNKNOWN` for ``*`` and NULL."""
        places = np.full(len(texts), UNKNOWN)
        is_stray = np.zeros(len(texts), dtype=np.bool_)
        positions = {
            level: {label: at for at, label in enumerate(self.hierarchy.labels(level))}
            for level in set(levels.tolist())
        }
        for at, (text, level) in enumerate(zip(texts, levels.tolist(), strict=True)):
            if text is None or text == ROOT:
                continue
            places[at] = positions[level].get(text, UNKNOWN)
            is_stray[at] = places[at] == UNKNOWN
        strays = int(is_stray[codes].sum())
        if strays:
            raise EvaluationError(
                f"every label of feature `{self.name}` must be in its level of the hierarchy; "
                f"{strays} of {len(codes)} records have another. Build the efforts and the "
                "hierarchy again."
            )
        return places

    def _column(
        self, codes: Ints, levels: Ints, places: Ints, *, raw: Ints, first: Column | None = None
    ) -> Column:
        size = len(places)
        occurring = np.unique(raw[raw != UNKNOWN])
        if self.may_be_hidden:
            levels, places = np.append(levels, 0), np.append(places, UNKNOWN)
        coarser: dict[int, int] = {}
        if self.reading.categories == "label":
            in_use = set(levels[places != UNKNOWN].tolist())
            read = {level: self._readable_level(level, occurring) for level in in_use}
            coarser = {level: at for level, at in read.items() if at != level}
            pairs: list[tuple[Block, Block]] = [
                self._one_hot(levels, places, raw, at, read) for at in sorted(set(read.values()))
            ]
        else:
            raw_codes = codes if first is None else first.codes
            pairs = [self._shares(levels, places, raw, occurring, raw_codes)]
        if (places == UNKNOWN).any():
            pairs.append((flag_unknown(places), flag_unknown(raw)))
        own, original = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return Column(
            codes,
            dict.fromkeys(features.SPACES, own),
            dict.fromkeys(features.SPACES, original),
            hidden=size if self.may_be_hidden else None,
            is_quasi=True,
            raw=raw,
            coarser=coarser,
        )

    def _readable_level(self, level: int, occurring: Ints) -> int:
        """Return the finest level from this one upward with few enough occurring labels."""
        for at in range(level, self.hierarchy.levels + 1):
            labels = np.unique(self.hierarchy.positions(at)[occurring])
            if 0 < np.count_nonzero(labels != UNKNOWN) <= limits.MOST_CATEGORIES:
                return at
        check_categories(self.name, len(occurring))
        return level

    def _one_hot(
        self, levels: Ints, places: Ints, raw: Ints, level: int, read: Mapping[int, int]
    ) -> tuple[OneHot, OneHot]:
        """Return a feature for each label of a level that occurs in the effort."""
        tree = self.hierarchy
        above = np.full(len(places), UNKNOWN)
        for finer in (finer for finer in set(levels.tolist()) if finer <= level):
            at = np.flatnonzero((levels == finer) & (places != UNKNOWN))
            above[at] = tree.ancestors(finer, level)[places[at]]
        visible = np.unique(above[above != UNKNOWN])
        feature = np.full(tree.size(level), len(visible))
        feature[visible] = np.arange(len(visible))
        generalized = tree.generalize(raw, level)
        is_own = np.isin(levels, [own for own, at in read.items() if at == level])
        own, original = (
            OneHot(np.where(at == UNKNOWN, UNKNOWN, feature[at]), len(visible), flags)
            for at, flags in ((above, is_own & (places != UNKNOWN)), (generalized, None))
        )
        return own, original

    def _shares(
        self, levels: Ints, places: Ints, raw: Ints, occurring: Ints, raw_codes: Ints
    ) -> tuple[Shares, Shares]:
        """Return a feature for each leaf that occurs."""
        check_categories(self.name, len(occurring))
        tree = self.hierarchy
        table = np.zeros((len(places), len(occurring)))
        for level in set(levels.tolist()):
            of_leaf = tree.positions(level)
            sizes = np.bincount(of_leaf[of_leaf != UNKNOWN], minlength=1)
            rows = np.flatnonzero((levels == level) & (places != UNKNOWN))
            covered = of_leaf[occurring] == places[rows][:, None]
            table[rows] = covered / sizes[places[rows]][:, None]
        feature = np.full(len(tree.leaves), UNKNOWN)
        feature[occurring] = np.arange(len(occurring))
        of_raw = np.where(raw == UNKNOWN, UNKNOWN, feature[raw])
        untouched = (of_raw[:, None] == np.arange(len(occurring))).astype(np.float64)
        counted = of_raw[raw_codes] if self.reading.categories == "frequencies" else None
        return Shares(table, counted), Shares(untouched)
