"""The leaves of a hierarchy as codes, ordered so that every label covers a contiguous range."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import RecodingError
from dbt_anonymize.evaluation.data.relations import SOURCE, column_kind, number_sql, query

if TYPE_CHECKING:
    import duckdb

Texts = NDArray[np.object_]
Unit = Literal["number", "day", "second"]


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of one quasi-identifier with codes 1, 2, ...; NULL is 0.

    Attributes
    ----------
    relation : DuckDBPyRelation
        One row per leaf: `leaf` as in the microdata, `upper_bound` of an interval, and `code`.
    texts : arrays of text, shape (leaves,)
        The leaf, and its label at each level.
    bounds : tuple of arrays, shape (leaves,), or None
        Lower and upper bounds of intervals, in ``unit``.
    ends : arrays of text, shape (leaves,)
        Both bounds of intervals as text.
    """

    name: str
    relation: duckdb.DuckDBPyRelation
    texts: tuple[Texts, ...]
    bounds: tuple[Floats, Floats] | None = None
    ends: tuple[Texts, ...] = ()
    unit: Unit = "number"

    @classmethod
    def read(cls, declared: Mapping[str, Any], as_text: str) -> Leaves:
        """Read a hierarchy, as generated models declare it; ``as_text`` is SQL with braces."""
        name, tree = str(declared["name"]), declared["hierarchy"]
        is_interval = declared["kind"] == "interval"
        levels = range(1, int(declared["levels"]) + 1)
        leaf = "lower_bound" if is_interval else as_text.format("value")
        columns = [f"min({as_text.format(f'level_{level}')}) as level_{level}" for level in levels]
        columns += ["max(upper_bound) as upper_bound"] if is_interval else []
        # By bytes, as everywhere: a collation may equate different values.
        order = [f"encode(level_{level})" for level in reversed(levels)] + ["encode(leaf)"]
        ordered = "leaf" if is_interval else ", ".join(order)
        leaves = query(
            tree,
            f"select *, cast(row_number() over (order by {ordered}) as integer) as code "  # noqa: S608
            f"from (select {leaf} as leaf, {', '.join(columns)} from {SOURCE} "
            f"where {leaf} is not null group by {leaf})",
        )
        wanted = [as_text.format("leaf"), *(f"level_{level}" for level in levels)]
        unit: Unit = "number"
        if is_interval:
            unit = _unit(tree)
            for bound in ("leaf", "upper_bound"):
                number = number_sql(bound, column_kind(leaves, bound))
                wanted.append(f"epoch({bound})" if unit == "second" else number)
            wanted += [as_text.format("upper_bound")]
        listed = ", ".join(f"{sql} as c{place}" for place, sql in enumerate(wanted))
        rows = query(leaves, f"select {listed} from {SOURCE} order by code").fetchnumpy()  # noqa: S608
        arrays = [np.ma.getdata(rows[f"c{place}"]) for place in range(len(wanted))]
        if is_interval and not len(arrays[0]):
            raise RecodingError(f"the hierarchy of {name} must have intervals; it is empty.")
        texts = tuple(arrays[: len(levels) + 1])
        if not is_interval:
            return cls(name, leaves, texts)
        lower, upper, ends = arrays[len(texts) :]
        return cls(name, leaves, texts, (lower, upper), (texts[0], ends), unit)

    def number_sql(self, column: str, relation: duckdb.DuckDBPyRelation) -> str:
        """Return SQL of a column in the unit of the leaves."""
        if self.unit == "second":
            return f"epoch({column})"
        return number_sql(column, column_kind(relation, column))

    @property
    def written_number(self) -> str:
        """SQL of the released form of a label's `number`, beside its `first_bound`."""
        if self.unit == "number":
            return "number"
        if self.unit == "day":
            return "cast(date '1970-01-01' + cast(number as integer) as date)"
        return "first_bound + to_seconds(number - epoch(first_bound))"

    @property
    def is_interval(self) -> bool:
        """Tell whether leaves are intervals of numbers or dates."""
        return self.bounds is not None

    @property
    def height(self) -> int:
        """Level of the root."""
        return len(self.texts) - 1

    def __len__(self) -> int:
        return len(self.texts[0])

    @cached_property
    def labels(self) -> Ints:
        """Code of the label of each leaf at each level, shape (levels, leaves)."""
        coded = [pd.factorize(texts, use_na_sentinel=False)[0] for texts in self.texts]
        return np.array(coded, dtype=np.int64)

    @cached_property
    def covered(self) -> tuple[Ints, Ints]:
        """First and last code that the label of a code covers, shape (levels, leaves + 1)."""
        first = np.zeros((self.height + 1, len(self) + 1), dtype=np.int64)
        last = first.copy()
        codes = np.arange(1, len(self) + 1)
        for level, labels in enumerate(self.labels if len(self) else ()):
            lowest = np.full(len(self), len(self) + 1)
            highest = np.zeros(len(self), dtype=np.int64)
            np.minimum.at(lowest, labels, codes)
            np.maximum.at(highest, labels, codes)
            first[level, 1:], last[level, 1:] = lowest[labels], highest[labels]
        return first, last

    def cover(self, low: Ints, high: Ints) -> Ints:
        """Return the lowest level at which codes from ``low`` to ``high`` have one label."""
        level = np.full(len(low), self.height, dtype=np.int64)
        for below in reversed(range(self.height)):
            level[self.covered[1][below][low] >= high] = below
        return level

    def bounds_of(self, first: Ints, last: Ints) -> tuple[Floats, Floats]:
        """Return the bounds of intervals from one leaf to another."""
        lower, upper = self.bounds or (np.zeros(0), np.zeros(0))
        return lower[first - 1], upper[last - 1]

    def spread(self, low: Ints, high: Ints) -> Floats:
        """Return the width between two codes as Mondrian measures it: 1 with NULL beside values.

        For categories it is the share of the covering label.
        """
        if self.bounds is None:
            level = self.cover(np.maximum(low, 1), high)
            first, last = (end[level, high] for end in self.covered)
            spread = np.where(level == self.height, 1.0, (last - first + 1) / max(len(self), 1))
        else:
            lower, upper = self.bounds
            whole = upper[-1] - lower[0]
            at = np.maximum(low, 1) - 1
            spread = (upper[high - 1] - lower[0]) / whole - (lower[at] - lower[0]) / whole
        return np.where(low == 0, 1.0, spread)

    def shares(self, low: Ints, high: Ints) -> Floats:
        """Return the share of the domain between two codes; 1 where NULL is among them."""
        if self.bounds is None:
            shares = (high - low + 1) / max(len(self), 1)
        else:
            lower, upper = self.bounds
            at = np.maximum(low, 1) - 1
            shares = (upper[high - 1] - lower[at]) / (upper[-1] - lower[0])
        return np.where(low == 0, 1.0, shares)


def _unit(tree: duckdb.DuckDBPyRelation) -> Unit:
    kinds = dict(zip(map(str.lower, tree.columns), map(str, tree.types), strict=True))
    if any(kinds[bound].startswith("TIMESTAMP") for bound in ("lower_bound", "upper_bound")):
        return "second"
    return "day" if column_kind(tree, "lower_bound") == "date" else "number"
