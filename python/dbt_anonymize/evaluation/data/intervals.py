"""Quasi-identifiers that are numbers or dates as features: see ``features``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.features import (
    POSITIONS,
    RANKS,
    VALUES,
    Arrays,
    Column,
    Reading,
    check_numbers,
    has_nan,
)
from dbt_anonymize.evaluation.data.hierarchy import ROOT, Hierarchy
from dbt_anonymize.evaluation.data.relations import column_kind, number_sql, text_sql
from dbt_anonymize.evaluation.data.spaces import UNKNOWN, Block, Ends, Numbers
from dbt_anonymize.literals import quote_text
from dbt_anonymize.privacy.grouping import distinct_rows

if TYPE_CHECKING:
    import duckdb

    from dbt_anonymize.evaluation.data.reading import Effort


# By space: numbers of the effort's codes, numbers of untouched codes, constructor of the block.
Spaces = Mapping[str, tuple[Floats, Floats, Callable[[Floats, bool], Block]]]


@dataclass(frozen=True)
class Interval:
    """A quasi-identifier that is a number or a date."""

    name: str
    hierarchy: Hierarchy
    reading: Reading
    may_be_hidden: bool = False

    def sql(
        self, relation: duckdb.DuckDBPyRelation, effort: Effort | None = None
    ) -> dict[str, str]:
        """Return the SQL that reads both bounds and, if labels have them, means, by name."""
        column_kind(relation, self.name)
        has_means = effort is not None and (effort.has_means or self.name in effort.aggregates)
        sqls, kind = {}, "number"
        for bound in ("lower", "upper"):
            kind = column_kind(relation, f"{self.name}_{bound}")
            if kind == "text":
                raise EvaluationError(
                    f"column `{self.name}_{bound}` must hold numbers or dates, since "
                    f"`{self.name}` is declared as an interval; it holds text. Check the "
                    "hierarchy's kind in the spec."
                )
            number = number_sql(f"{self.name}_{bound}", kind)
            is_known = f"{text_sql(self.name)} <> {quote_text(ROOT)}"
            # Not NULL: a label without a bound is an error.
            sqls[bound] = f"case when {is_known} then coalesce({number}, cast('inf' as double)) end"
        if has_means and self.reading.numbers in {"by_model", "midpoint"}:
            label = text_sql(self.name)
            mean = f"try_cast({label} as double)"
            if kind == "date":
                mean = f"epoch(try_cast({label} as timestamp)) / 86400.0"
            # Where a mean would disclose too much, the label is an interval, read as its midpoint.
            sqls["mean"] = (
                f"case when {mean} between {sqls['lower']} and {sqls['upper']} then {mean} "
                f"else ({sqls['lower']} + {sqls['upper']}) / 2 end"
            )
        return sqls

    def untouched(self, relation: duckdb.DuckDBPyRelation, arrays: Arrays) -> Column:
        """Return the column of effort 0: the numbers themselves."""
        check_numbers(self.name, arrays["lower"])
        values, codes = np.unique(arrays["lower"], return_inverse=True)
        return self._column(codes, {VALUES: (values[:, None], values[:, None], Numbers)}, values)

    def generalized(self, arrays: Arrays, level: int | None, first: Column) -> Column:
        """Return the column of another effort; ``first`` is that of effort 0.

        ``level`` is None where each record has its own. A mean is the same number for all models.
        """
        for bound in ("lower", "upper"):
            check_numbers(self.name, arrays[bound])
        raw = first.raw[:, None]
        if "mean" in arrays:
            means, codes = np.unique(arrays["mean"], return_inverse=True)
            return self._column(codes, {VALUES: (means[:, None], raw, Numbers)})
        lower, of_lower = np.unique(arrays["lower"], return_inverse=True)
        upper, of_upper = np.unique(arrays["upper"], return_inverse=True)
        sample, codes = distinct_rows([of_lower, of_upper])
        bounds = np.column_stack([lower[of_lower[sample]], upper[of_upper[sample]]])
        has_labels = self.reading.numbers in {"by_model", "bounds"}
        if has_labels and level is None:
            return self._column(codes, self._mixed_level_spaces(bounds, np.repeat(raw, 2, axis=1)))
        if has_labels and level:
            at = self._positions(bounds[:, 0], level, is_bound=True)
            return self._column(
                codes, self._single_level_spaces(level, at, self._positions(raw[:, 0], level))
            )
        if self.reading.numbers == "bounds":
            return self._column(codes, {VALUES: (bounds, np.repeat(raw, 2, axis=1), Numbers)})
        return self._column(codes, {VALUES: (bounds.mean(axis=1, keepdims=True), raw, Numbers)})

    def _single_level_spaces(self, level: int, own: Ints, original: Ints) -> Spaces:
        """Return the spaces of intervals at one level."""
        bounds = self.hierarchy.bounds(level)
        places = np.arange(len(bounds), dtype=np.float64)
        tables = {VALUES: bounds}
        if self.reading.numbers == "by_model":
            tables = {VALUES: bounds.mean(axis=1, keepdims=True), POSITIONS: places[:, None]}
            # Intervals without records do not affect ranks.
            occurring = np.unique(own[own != UNKNOWN])
            if 0 < len(occurring) < len(places):
                tables[RANKS] = np.interp(places, occurring, np.arange(len(occurring)))[:, None]
        return {
            space: (_rows_at(table, own), _rows_at(table, original), Numbers)
            for space, table in tables.items()
        }

    def _mixed_level_spaces(self, bounds: Floats, raw: Floats) -> Spaces:
        """Return the spaces of intervals of several levels, or of none."""
        ends = _ends(bounds), _ends(raw)
        if self.reading.numbers == "bounds":
            return {VALUES: (*ends, Ends)}
        return {
            VALUES: (*ends, partial(Ends, is_mean=True)),
            POSITIONS: (*ends, partial(Ends, is_ranked=True)),
            RANKS: (*ends, partial(Ends, is_ranked=True, is_mean=True)),
        }

    def _positions(self, numbers: Floats, level: int, *, is_bound: bool = False) -> Ints:
        """Return the position among the intervals of a level; `UNKNOWN` for ``*`` and NULL."""
        leaf = self.hierarchy.leaf_of(numbers)
        wrong = int(((leaf != UNKNOWN) & (self.hierarchy.leaves[leaf] != numbers)).sum())
        if is_bound and wrong:
            raise EvaluationError(
                f"every interval of feature `{self.name}` must begin at a bound of its hierarchy; "
                f"{wrong} of {len(numbers)} do not. Build the efforts and the hierarchy again."
            )
        return self.hierarchy.generalize(leaf, level)

    def _column(self, codes: Ints, spaces: Spaces, raw: Floats | None = None) -> Column:
        """Return a column from its numbers in each space; a hidden record has none."""
        own: dict[str, list[Block]] = {}
        original: dict[str, list[Block]] = {}
        for space, (released, untouched, make) in spaces.items():
            hidden = np.full((int(self.may_be_hidden), released.shape[1]), np.nan)
            numbers = np.vstack([released, hidden])
            is_unknown = has_nan(numbers)
            own[space] = [make(numbers, is_unknown)]
            original[space] = [make(untouched, is_unknown)]
        return Column(
            codes,
            # The same object where there is no other.
            {POSITIONS: own[VALUES], RANKS: own.get(POSITIONS, own[VALUES]), **own},
            {POSITIONS: original[VALUES], RANKS: original.get(POSITIONS, original[VALUES])}
            | original,
            hidden=len(spaces[VALUES][0]) if self.may_be_hidden else None,
            is_quasi=True,
            raw=np.zeros(0) if raw is None else raw,
        )


def _rows_at(table: Floats, at: Ints) -> Floats:
    """Return rows of a table; NaN for `UNKNOWN`."""
    rows = np.full((len(at), table.shape[1]), np.nan)
    is_known = at != UNKNOWN
    rows[is_known] = table[at[is_known]]
    return rows


def _ends(bounds: Floats) -> Floats:
    """Return the first and the largest number of each interval; for a number the number itself."""
    lower, upper = bounds.T
    return np.column_stack([lower, np.where(lower < upper, np.nextafter(upper, -np.inf), upper)])
