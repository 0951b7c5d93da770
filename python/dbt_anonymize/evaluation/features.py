"""How a value enters a model: generalized and untouched values in one space.

A model that was trained on labels must be able to read values that it has never seen. So every
feature is one of the *effort*, and an untouched value is carried up to it by the hierarchy:

=================  ===============================================================================
value              as features
=================  ===============================================================================
interval           for models that split: its position among all intervals of its level, so that a
                   threshold between neighbours is their common bound. For other models its
                   midpoint, or the mean of its class (``class_mean``); untouched values are
                   themselves. With ``bounds`` two features, lower and upper
category           a feature for each label of its level; an untouched value has that of its label
level per record   a position, or a feature for each label, for each level that occurs; what is
                   finer than a record shows is not known, an untouched value is known at every
                   level. Intervals between levels: first and last leaf
plain number       itself
plain text, bool   a feature for each value
=================  ===============================================================================

Dates are days since 1970-01-01. NULL and ``*`` follow one rule everywhere: a number becomes the
median of the training records, a category zero, and one more feature says that it is not known.

With ``leaves`` a label is the share of each of its leaves, with ``frequencies`` weighted by how
often they occur: for models that add up features. A model that splits would take one of the tied
leaves and misread the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.hierarchy import ROOT, Hierarchy
from dbt_anonymize.evaluation.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    text_rank_sql,
    text_sql,
)
from dbt_anonymize.evaluation.spaces import UNKNOWN, Block, Numbers, OneHot, Shares
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

# A feature each.
MAX_CATEGORIES = 2000
NUMBERS = ("by_model", "midpoint", "class_mean", "bounds")
CATEGORIES = ("label", "leaves", "frequencies")
# The spaces of models that split, and of all others.
POSITIONS, VALUES = "positions", "values"

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
Blocks = Mapping[str, Sequence[Block]]


@dataclass(frozen=True)
class Reading:
    """How generalized values enter a model.

    Parameters
    ----------
    numbers : str
        by_model, midpoint, class_mean or bounds.
    categories : str
        label, leaves or frequencies.

    Raises
    ------
    EvaluationError
        If there is no such reading.
    """

    numbers: str = "by_model"
    categories: str = "label"

    def __post_init__(self) -> None:
        for setting, valid in (("numbers", NUMBERS), ("categories", CATEGORIES)):
            if getattr(self, setting) not in valid:
                raise EvaluationError(
                    f"quality.{setting} must be one of {list(valid)}; got "
                    f"{getattr(self, setting)!r}. Name one of them."
                )

    def space(self, *, splits: bool) -> str:
        """Return the space that a model sees, by whether it splits features."""
        return POSITIONS if splits and self.numbers == "by_model" else VALUES


@dataclass(frozen=True, eq=False)
class Column:
    """One feature of one effort.

    Attributes
    ----------
    codes : array of int, shape (records,)
        Which value each record has.
    own : mapping of str to sequence of Block
        By space, what each code is.
    original : mapping of str to sequence of Block
        By space, what each code of the untouched effort is: the same features.
    hidden : int or None
        Code of a record that is suppressed but kept.
    is_quasi : bool
        Whether it is generalized.
    raw : array, shape (codes of the untouched effort,)
        Its numbers, NaN for NULL; or its leaves, `UNKNOWN` for NULL.
    coarser : mapping of int to int
        Levels that have too many labels, and at which one they are read.
    """

    codes: Codes
    own: Blocks
    original: Blocks
    hidden: int | None = None
    is_quasi: bool = False
    raw: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    coarser: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plain:
    """A column that is not generalized: the same in all efforts."""

    name: str

    def sql(self, relation: duckdb.DuckDBPyRelation) -> dict[str, str]:
        """Return SQL of what is read of each record, by a name."""
        kind = column_kind(relation, self.name)
        return {
            "value": text_rank_sql(self.name) if kind == "text" else number_sql(self.name, kind)
        }

    def column(self, relation: duckdb.DuckDBPyRelation, arrays: Arrays) -> Column:
        """Return the column, by its type.

        Raises
        ------
        EvaluationError
            If a number is infinite, or there are more than `MAX_CATEGORIES` categories.
        """
        if column_kind(relation, self.name) != "text":
            _check_numbers(self.name, arrays["value"])
            values, codes = np.unique(arrays["value"], return_inverse=True)
            blocks: list[Block] = [Numbers(values[:, None], has_indicator=_has_nan(values))]
        else:
            codes = arrays["value"].astype(np.int64)
            labels = ranked_texts(relation, self.name)
            known = len(labels) - labels.count(None)
            _check_categories(self.name, known)
            positions = np.where(np.arange(len(labels)) < known, np.arange(len(labels)), UNKNOWN)
            blocks = [OneHot(positions, known, has_indicator=known < len(labels))]
        both = {POSITIONS: blocks, VALUES: blocks}
        return Column(codes, both, both)


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
        return found | (_level_sql(relation, self.name) if has_levels else {})

    def untouched(self, arrays: Arrays) -> Column:
        """Return the column of effort 0: the numbers themselves."""
        _check_numbers(self.name, arrays["lower"])
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
            _check_numbers(self.name, arrays[bound])
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
        flags = {space: [_has_nan(b) for b in blocks] for space, blocks in own.items()}

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


@dataclass(frozen=True)
class Category:
    """A quasi-identifier that is a text."""

    name: str
    hierarchy: Hierarchy
    reading: Reading
    may_be_hidden: bool = False

    def sql(self, relation: duckdb.DuckDBPyRelation, *, has_levels: bool = False) -> dict[str, str]:
        """Return SQL of what is read of each record of an effort, by a name."""
        column_kind(relation, self.name)
        found = {"label": text_rank_sql(self.name)}
        return found | (_level_sql(relation, self.name) if has_levels else {})

    def untouched(self, arrays: Arrays, labels: Sequence[str | None]) -> Column:
        """Return the column of effort 0: each value, or its label where there are too many."""
        codes = arrays["label"].astype(np.int64)
        leaf = self._places(labels, np.zeros(len(labels), dtype=np.int64), codes)
        return self._column(codes, np.zeros(len(labels), dtype=np.int64), leaf, raw=leaf)

    def generalized(
        self, arrays: Arrays, labels: Sequence[str | None], level: int | None, first: Column
    ) -> Column:
        """Return the column of another effort.

        Parameters
        ----------
        arrays : mapping of str to array
            What its SQL gave.
        labels : sequence of str or None
            The text of each rank.
        level : int or None
            Of the effort; None if each record has its own.
        first : Column
            That of effort 0.
        """
        codes = arrays["label"].astype(np.int64)
        if level is not None:
            levels, texts = np.full(len(labels), level), list(labels)
        else:
            own = self._levels(arrays["level"])
            sample, codes = distinct_rows([codes, own])
            levels, texts = own[sample], [labels[at] for at in arrays["label"][sample].astype(int)]
        places = self._places(texts, levels, codes)
        return self._column(codes, levels, places, raw=first.raw, first=first)

    def _levels(self, found: Floats) -> Codes:
        if np.isnan(found).any():
            raise EvaluationError(
                f"column `{self.name}_level` must hold the level of every record; it is missing in "
                "some. Only intervals have labels between two levels. Build the recoding again."
            )
        return found.astype(np.int64)

    def _places(self, texts: Sequence[str | None], levels: Codes, codes: Codes) -> Codes:
        """Return the position of each label in its level; `UNKNOWN` for ``*`` and NULL."""
        places = np.full(len(texts), UNKNOWN)
        is_stray = np.zeros(len(texts), dtype=np.bool_)
        known = {
            level: {label: at for at, label in enumerate(self.hierarchy.labels(level))}
            for level in set(levels.tolist())
        }
        for at, (text, level) in enumerate(zip(texts, levels.tolist(), strict=True)):
            if text is None or text == ROOT:
                continue
            places[at] = known[level].get(text, UNKNOWN)
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
        self,
        codes: Codes,
        levels: Codes,
        places: Codes,
        *,
        raw: Codes,
        first: Column | None = None,
    ) -> Column:
        """Return a column from the level and the position of each code."""
        size = len(places)
        occurring = np.unique(raw[raw != UNKNOWN])
        if self.may_be_hidden:
            levels, places = np.append(levels, 0), np.append(places, UNKNOWN)
        coarser: dict[int, int] = {}
        if self.reading.categories == "label":
            in_use = set(levels[places != UNKNOWN].tolist())
            read = {level: self._readable(level, occurring) for level in in_use}
            coarser = {level: at for level, at in read.items() if at != level}
            pairs: list[tuple[Block, Block]] = [
                self._one_hot(levels, places, raw, level) for level in sorted(set(read.values()))
            ]
        else:
            raw_codes = codes if first is None else first.codes
            pairs = [self._shares(levels, places, raw, occurring, raw_codes)]
        own, original = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return Column(
            codes,
            {POSITIONS: own, VALUES: own},
            {POSITIONS: original, VALUES: original},
            hidden=size if self.may_be_hidden else None,
            is_quasi=True,
            raw=raw,
            coarser=coarser,
        )

    def _readable(self, level: int, occurring: Codes) -> int:
        """Return the finest level from this one on with few enough labels that occur."""
        for at in range(level, self.hierarchy.levels + 1):
            if len(np.unique(self.hierarchy.positions(at)[occurring])) <= MAX_CATEGORIES:
                return at
        _check_categories(self.name, len(occurring))
        return level

    def _one_hot(
        self, levels: Codes, places: Codes, raw: Codes, level: int
    ) -> tuple[OneHot, OneHot]:
        """Return a feature for each label of a level that a record of the effort shows."""
        tree = self.hierarchy
        above = np.full(len(places), UNKNOWN)
        for finer in (finer for finer in set(levels.tolist()) if finer <= level):
            at = np.flatnonzero((levels == finer) & (places != UNKNOWN))
            above[at] = tree.ancestors(finer, level)[places[at]]
        shown = np.unique(above[above != UNKNOWN])
        feature = np.full(tree.size(level), len(shown))
        feature[shown] = np.arange(len(shown))
        carried = np.where(raw == UNKNOWN, UNKNOWN, tree.positions(level)[raw])
        has_indicator = bool((above == UNKNOWN).any())
        own, original = (
            OneHot(np.where(at == UNKNOWN, UNKNOWN, feature[at]), len(shown), has_indicator)
            for at in (above, carried)
        )
        return own, original

    def _shares(
        self, levels: Codes, places: Codes, raw: Codes, occurring: Codes, raw_codes: Codes
    ) -> tuple[Shares, Shares]:
        """Return a feature for each leaf that occurs."""
        _check_categories(self.name, len(occurring))
        tree = self.hierarchy
        table = np.zeros((len(places), len(occurring)))
        for level in set(levels.tolist()):
            of_leaf = tree.positions(level)
            sizes = np.bincount(of_leaf[of_leaf != UNKNOWN], minlength=1)
            at = np.flatnonzero((levels == level) & (places != UNKNOWN))
            covered = of_leaf[occurring] == places[at][:, None]
            table[at] = covered / sizes[places[at]][:, None]
        feature = np.full(len(tree.leaves), UNKNOWN)
        feature[occurring] = np.arange(len(occurring))
        of_raw = np.where(raw == UNKNOWN, UNKNOWN, feature[raw])
        untouched = (of_raw[:, None] == np.arange(len(occurring))).astype(np.float64)
        has_indicator = bool((places == UNKNOWN).any())
        counted = of_raw[raw_codes] if self.reading.categories == "frequencies" else None
        return Shares(table, has_indicator, counted), Shares(untouched, has_indicator)


Feature = Plain | Interval | Category


def distinct_rows(parts: Sequence[NDArray[Any]]) -> tuple[Codes, Codes]:
    """Return where each distinct combination of codes occurs first, and which each record has.

    Parameters
    ----------
    parts : sequence of array of int, length >= 1
        Codes, each shape (records,).

    Examples
    --------
    >>> distinct_rows([np.array([1, 0, 1]), np.array([5, 5, 5])])
    (array([1, 0]), array([1, 0, 1]))
    """
    together = np.zeros(len(parts[0]), dtype=np.int64)
    for part in parts:
        _, together = np.unique(together, return_inverse=True)
        lowest = int(part.min())
        together = together * (int(part.max()) - lowest + 1) + (part - lowest)
    _, first, codes = np.unique(together, return_index=True, return_inverse=True)
    return first, codes


def _level_sql(relation: duckdb.DuckDBPyRelation, name: str) -> dict[str, str]:
    column = f"{name}_level"
    if column_kind(relation, column) != "number":
        raise EvaluationError(
            f"column `{column}` must hold numbers, the level of each record; it does not. "
            "Build the recoding again."
        )
    return {"level": f"cast({quote_name(column)} as double)"}


def _or_nan(values: Codes, is_known: NDArray[np.bool_]) -> Floats:
    return np.where(is_known, values.astype(np.float64), np.nan)


def _has_nan(values: Floats) -> bool:
    return bool(np.isnan(values).any())


def _check_numbers(name: str, values: Floats) -> None:
    bad = int(np.isinf(values).sum())
    if bad:
        raise EvaluationError(
            f"every number of feature `{name}` must be finite or missing; {bad} of {len(values)} "
            "are not. Clean them in the source."
        )


def _check_categories(name: str, categories: int) -> None:
    if categories > MAX_CATEGORIES:
        raise EvaluationError(
            f"feature `{name}` must have at most {MAX_CATEGORIES} categories, since each is a "
            f"column of the model; got {categories}. Leave it out of the features or group it."
        )
