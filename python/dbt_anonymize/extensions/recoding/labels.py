"""The labels of spans of leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import RecodingError
from dbt_anonymize.extensions.recoding.leaves import Leaves, Texts
from dbt_anonymize.privacy.grouping import distinct_rows


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of one quasi-identifier; arrays are (labels,).

    ``first`` and ``last`` are the codes of the leaves at its ends; ``levels`` is -1 for a label of
    no level; ``numbers`` are means in the unit of the leaves, NaN where the text is released.
    ``raw`` has the codes of values that are released unchanged, or 0.
    """

    texts: Texts
    first: Ints
    last: Ints
    levels: Ints
    shares: Floats
    numbers: Floats
    raw: Ints | None = None

    def frame(self) -> pd.DataFrame:
        """Return the labels as a table with their numbers from 0."""
        return pd.DataFrame(
            {
                "id": np.arange(len(self.texts), dtype=np.int32),
                "label": pd.Series(self.texts, dtype="object"),
                "first_code": self.first.astype(np.int32),
                "last_code": self.last.astype(np.int32),
                "level": pd.Series(self.levels, dtype="Int32").where(self.levels >= 0),
                "share": self.shares,
                "number": self.numbers,
                "value_code": 0 if self.raw is None else self.raw.astype(np.int32),
            }
        )


def span_labels(leaves: Leaves, low: Ints, high: Ints) -> Labels:
    """Return the lowest labels that cover spans of codes; the root for a span with 0 (NULL)."""
    low_leaf, whole = np.maximum(low, 1), len(leaves)
    levels = np.full(len(low), leaves.height, dtype=np.int64)
    texts = np.full(len(low), "*", dtype=object)
    first, last = leaves.covered
    if leaves.is_interval:
        is_root = (low == 0) | ((low == 1) & (high == whole))
        levels[~is_root] = -1
        texts[~is_root] = _between(leaves, low[~is_root], high[~is_root])
        steps = range(1, leaves.height)
        fits = [(first[v][low_leaf] == low) & (last[v][low_leaf] == high) & ~is_root for v in steps]
    else:
        is_root = low == 0
        steps = range(leaves.height)
        fits = [
            (last[v][low_leaf] >= high)
            & ~is_root
            & ((v == 0) | (_texts(leaves, v, low_leaf) != "*"))
            for v in steps
        ]
    for level, fit in zip(reversed(steps), reversed(fits), strict=True):
        levels[fit], texts[fit] = level, _texts(leaves, level, low_leaf)[fit]
    is_root = levels == leaves.height
    if leaves.is_interval:
        low, high = np.where(is_root, 1, low), np.where(is_root, whole, high)
        shares = np.where(is_root, 1.0, leaves.shares(low, high))
    else:
        covered = (end[levels, low_leaf] for end in (last, first))
        shares = np.where(is_root, 1.0, (np.subtract(*covered) + 1) / max(whole, 1))
        low, high = low_leaf, low_leaf
    return Labels(texts, low, high, levels, shares, np.full(len(low), np.nan))


def check_labels(
    leaves: Sequence[Leaves], labels: Sequence[Labels], classes: Ints | None = None
) -> None:
    """Check that each label stands for one interval, since classes are distinguished by labels.

    Otherwise the released bounds would split a class. With ``classes`` all labels of a class
    together stand for one interval.
    """
    for of_place, label_set in zip(leaves, labels, strict=True):
        if not of_place.is_interval or not len(label_set.texts):
            continue
        meaning = pd.factorize(label_set.texts)[0] if classes is None else classes
        spans = [
            label_set.first,
            label_set.last,
            *([] if label_set.raw is None else [label_set.raw]),
        ]
        _, several = distinct_rows([meaning, *spans])
        meanings = np.bincount(meaning[np.unique(several, return_index=True)[1]])
        if (meanings > 1).any():
            raise RecodingError(
                f"a label of {of_place.name} must stand for one interval where the level differs "
                f"per record; {int((meanings > 1).sum())} labels stand for several. Write both "
                "bounds into the labels of its hierarchy, so that no label has another meaning at "
                "another level."
            )


def _texts(leaves: Leaves, level: int, codes: Ints) -> Texts:
    if not len(leaves):
        return np.full(len(codes), "*", dtype=object)
    texts: Texts = leaves.texts[level][codes - 1]
    return texts


def _between(leaves: Leaves, low: Ints, high: Ints) -> Texts:
    """Return labels of intervals between levels, in the notation of the leaves at their ends."""
    notation = _notation(leaves)
    first, last = _texts(leaves, 1, low), _texts(leaves, 1, high)
    if notation == "bounds":
        first, last = leaves.ends[0][low - 1], leaves.ends[1][high - 1]
    write = _WRITE[notation]
    labels = np.empty(len(low), dtype=object)
    labels[:] = [write(*ends) for ends in zip(first, last, strict=True)]
    return labels


def _notation(leaves: Leaves) -> str:
    """Return the notation of the leaves, so that labels between two of them sort in their order.

    `brackets` [05, 10), where zero may be plain; `numbers` 05, 05-09 or 8+; `texts`, others that
    begin with a digit and sort, such as 2024-Q1; else `bounds`.
    """
    labels = [str(label) for label in leaves.texts[1]]
    sides = [(_side(label, 0), _side(label, 1)) for label in labels]
    if all(len({side[place] for side in sides}) == len(labels) for place in (0, 1)) and all(
        (label == "0" and place == 0)
        or (label == ", ".join(side) and label.startswith("[") and label.endswith(")"))
        for place, (label, side) in enumerate(zip(labels, sides, strict=True))
    ):
        return "brackets"
    in_order = [label.encode() for label in labels]
    if in_order != sorted(in_order) or not all(label[:1] in _DIGITS for label in labels):
        return "bounds"
    if all(label.translate(_WITHOUT_DIGITS) in ("", "-", "+") for label in labels):
        return "numbers"
    return "texts"


_DIGITS = ("", *"0123456789")
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")


def _side(label: str, side: int, between: str = ", ") -> str:
    sides = label.split(between)
    return sides[side] if side < len(sides) else ""


def _numbers_between(first: str, last: str) -> str:
    if last.endswith("+"):
        return f"{_side(first, 0, '-')}+"
    return f"{_side(first, 0, '-')}-{_side(last, 1, '-') if '-' in last else last}"


_WRITE: dict[str, Callable[[str, str], str]] = {
    "brackets": lambda first, last: (
        f"{'[0' if first == '0' else _side(first, 0)}, {_side(last, 1)}"
    ),
    "numbers": _numbers_between,
    "texts": lambda first, last: f"{first} - {last}",
    "bounds": lambda first, last: f"[{first}, {last})",
}
