"""Labels of several levels of a hierarchy in one table: keys that tell them apart, and their tree.

A label may be that of two levels, as `*`, which stands for NULL at each. The key of a label begins
with its level; of a dimension without subtotals the key is the label.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.extensions.tables.cube import Dimension
from dbt_anonymize.extensions.tables.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

_AFTER_LEVEL = "^"


def key_of(level: int, label: str) -> str:
    """Return the key of a label of a dimension with subtotals, as ``<n>_table_cells`` has it.

    Examples
    --------
    >>> key_of(2, "north"), label_of("2^north")
    ('2^north', 'north')
    """
    return f"{level}{_AFTER_LEVEL}{label}"


def label_of(key: str) -> str:
    """Return the label of a key."""
    return key.partition(_AFTER_LEVEL)[2]


def keyed(frame: pd.DataFrame, labels: str, levels: str) -> pd.Series[Any]:
    """Return the keys of labels, missing in totals, from the columns of labels and levels."""
    import pandas as pd  # noqa: PLC0415 (slow to import)

    rows = zip(frame[labels], frame[levels], strict=True)
    keys = [None if pd.isna(level) else key_of(int(level), label) for label, level in rows]
    return pd.Series(keys, index=frame.index, dtype=object)


def tree_of(name: str, chains: Iterable[Sequence[str]]) -> Dimension:
    """Return the tree of the keys of a dimension.

    ``chains`` has the key of each finest label and those of its subtotals, the finest first, all of
    the same levels. Raises a `TableError` where a label belongs to two of the next level.

    Examples
    --------
    >>> tree = tree_of("zip", [("0^10", "1^1*"), ("0^11", "1^1*"), ("0^20", "1^2*")])
    >>> tree.labels, tree.parents.tolist()
    (('', '1^1*', '1^2*', '0^10', '0^11', '0^20'), [0, 0, 0, 1, 1, 2])
    """
    parents: dict[tuple[int, str], str] = {}
    torn = set()
    for chain in chains:
        parent = ""
        for depth, key in enumerate(reversed(chain)):
            if parents.setdefault((depth, key), parent) != parent:
                torn.add(key)
            parent = key
    if torn:
        raise TableError(
            f"subtotals must be sums of finer labels; {len(torn):,} labels of {name} belong to two "
            "labels of the next declared level. Correct the hierarchy, or leave the level out."
        )
    ordered = sorted(parents)
    numbers = {key: number for number, (_, key) in enumerate(ordered, start=1)} | {"": 0}
    above = [0, *(numbers[parents[one]] for one in ordered)]
    return Dimension(name, ("", *(key for _, key in ordered)), np.array(above, dtype=np.int64))


def trees_of(labels: pd.DataFrame, shown: Mapping[str, Sequence[int]]) -> dict[str, Dimension]:
    """Return the trees of dimensions of one effort that have subtotals.

    Parameters
    ----------
    labels : DataFrame
        Rows of ``<n>_table_labels`` of the effort: dimension, level, label, finest_label.
    shown : mapping of str to list of int
        Levels of each dimension with subtotals, the finest first.
    """
    trees = {}
    for name, levels in shown.items():
        # Of each finest label every combination of its labels: more than one is told as an error.
        chains: dict[str, list[list[str]]] = {}
        for level in levels:
            is_own = (labels["dimension"] == name) & (labels["level"] == level)
            own = labels.loc[is_own, ["finest_label", "label"]].itertuples(index=False)
            for finest, label in own:
                chains.setdefault(finest, [[] for _ in levels])[levels.index(level)].append(label)
        trees[name] = tree_of(
            name,
            (
                [key_of(level, label) for level, label in zip(levels, one, strict=True)]
                for of_levels in chains.values()
                for one in itertools.product(*of_levels)
            ),
        )
    return trees
