"""Quasi-identifiers that are numbers or dates, as features: see ``features``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.features import (
    POSITIONS,
    VALUES,
    Arrays,
    Blocks,
    Codes,
    Column,
    Floats,
    Reading,
    check_numbers,
    distinct_rows,
    has_nan,
    level_sql,
)
from dbt_anonymize.evaluation.hierarchy import ROOT, Hierarchy
from dbt_anonymize.evaluation.relations import column_kind, number_sql, text_sql
from dbt_anonymize.evaluation.spaces import UNKNOWN, Block, Numbers
from dbt_anonymize.literals import quote_text

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Interval:
    """A quasi-identifier that is a number or a date."""

    name: str
    hierarchy: Hierarchy
    reading: Reading
    may_be_hidden: bool = False

    def sql(self, relation: duckdb.DuckDBPyRelation, *, has_levels: bool = False) -> dict[str, str]:
        """Return SQL of what is read of each record of an effort, by a name."""
        column_kind(relation, self.name)
        found = {}
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
            # Not NULL: that a bound is missing where there is a label is an error.
            found[bound] = (
                f"case when {is_known} then coalesce({number}, cast('inf' as double)) end"
            )
        return found | (level_sql(relation, self.name) if has_levels else {})

    def untouched(self, arrays: Arrays) -> Column:
        """Return the column of effort 0: the numbers themselves."""
        check_numbers(self.name, arrays["lower"])
        values, codes = np.unique(arrays["lower"], return_inverse=True)
        return self._column(codes, {VALUES: [values[:, None]]}, {VALUES: [values[:, None]]}, values)

    def generalized(self, arrays: Arrays, level: int | None, first: Column) -> Column:
        """Return the column of another effort.

        Parameters
        ----------
        arrays : mapping of str to array
            What its SQL gave.
        level : int or None
            Of the effort; None if each record has its own.
        first : Column
            That of effort 0.
        """
        for bound in ("lower", "upper"):
            check_numbers(self.name, arrays[bound])
        lower, of_lower = np.unique(arrays["lower"], return_inverse=True)
        upper, of_upper = np.unique(arrays["upper"], return_inverse=True)
        parts = [of_lower, of_upper]
        levels = np.full(len(of_lower), -1.0 if level is None else level)
        if level is None:
            levels = np.where(np.isnan(arrays["level"]), -1.0, arrays["level"])
            parts.append(levels.astype(np.int64) + 1)
        sample, codes = distinct_rows(parts)
        bounds = np.column_stack([lower[of_lower[sample]], upper[of_upper[sample]]])
        raw = first.raw[:, None]
        if self.reading.numbers == "bounds":
            own, original = [bounds], [np.repeat(raw, 2, axis=1)]
        else:
            own, original = [bounds.mean(axis=1, keepdims=True)], [raw]
        spaces = {VALUES: own}
        originals = {VALUES: original}
        if self.reading.numbers == "by_model" and (levels != 0).any():
            both = self._positions(bounds, levels[sample].astype(np.int64), first.raw)
            spaces[POSITIONS], originals[POSITIONS] = both
        return self._column(codes, spaces, originals)

    def _positions(
        self, bounds: Floats, levels: Codes, raw: Floats
    ) -> tuple[list[Floats], list[Floats]]:
        """Return numbers per code and per untouched code, for models that split."""
        tree = self.hierarchy
        is_known = ~np.isnan(bounds[:, 0])
        in_use = sorted(set(levels[is_known].tolist()))
        first, raw_leaf = tree.leaf_of(bounds[:, 0]), tree.leaf_of(raw)
        self._check_bounds(bounds[:, 0], first, levels)
        own, original = [], []
        if 0 in in_use:  # finer than every leaf
            own.append(np.where(levels == 0, bounds[:, 0], np.nan)[:, None])
            original.append(raw[:, None])
        if UNKNOWN in in_use:  # between two levels
            last = np.searchsorted(tree.leaves, bounds[:, 1], side="left") - 1
            last = np.where(levels == 0, first, last)
            own.append(_or_nan(np.column_stack([first, last]), is_known[:, None]))
            both = np.column_stack([raw_leaf, raw_leaf])
            original.append(_or_nan(both, both != UNKNOWN))
            return own, original
        for level in (level for level in in_use if level > 0):
            above = tree.positions(level)[first]
            # In a hierarchy that is not nested a label may lead to several of a coarser level.
            for finer in (finer for finer in in_use if 0 < finer < level):
                at = np.flatnonzero(levels == finer)
                above[at] = tree.ancestors(finer, level)[tree.positions(finer)[first[at]]]
            is_shown = is_known & (levels <= level) & (above != UNKNOWN)
            own.append(_or_nan(above, is_shown)[:, None])
            carried = np.where(raw_leaf == UNKNOWN, UNKNOWN, tree.positions(level)[raw_leaf])
            original.append(_or_nan(carried, carried != UNKNOWN)[:, None])
        return own, original

    def _check_bounds(self, lower: Floats, leaf: Codes, levels: Codes) -> None:
        wrong = (levels != 0) & (leaf != UNKNOWN) & (self.hierarchy.leaves[leaf] != lower)
        if wrong.any():
            raise EvaluationError(
                f"every interval of feature `{self.name}` must begin at a bound of its hierarchy; "
                f"{int(wrong.sum())} of {len(lower)} do not. Build the efforts and the hierarchy "
                "again."
            )

    def _column(
        self,
        codes: Codes,
        own: Mapping[str, list[Floats]],
        original: Mapping[str, list[Floats]],
        raw: Floats | None = None,
    ) -> Column:
        """Return a column whose blocks are numbers; a hidden record has none."""
        size = len(own[VALUES][0])
        if self.may_be_hidden:
            own = {
                space: [np.vstack([b, np.full((1, b.shape[1]), np.nan)]) for b in blocks]
                for space, blocks in own.items()
            }
        flags = {space: [has_nan(b) for b in blocks] for space, blocks in own.items()}

        def blocks(values: Mapping[str, list[Floats]]) -> Blocks:
            made: dict[str, Sequence[Block]] = {
                space: [Numbers(b, flag) for b, flag in zip(found, flags[space], strict=True)]
                for space, found in values.items()
            }
            return {POSITIONS: made[VALUES], **made}  # the same object where there is no other

        made = blocks(own)
        return Column(
            codes,
            made,
            made if raw is not None and not self.may_be_hidden else blocks(original),
            hidden=size if self.may_be_hidden else None,
            is_quasi=True,
            raw=np.zeros(0) if raw is None else raw,
        )


def _or_nan(values: Codes, is_known: NDArray[np.bool_]) -> Floats:
    return np.where(is_known, values.astype(np.float64), np.nan)
