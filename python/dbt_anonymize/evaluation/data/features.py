"""Features of a value: generalized and untouched values share one feature space.

A model trained on labels predicts from labels. So every feature belongs to the *effort*, and the
hierarchy generalizes an untouched value to its label at that level:

=================  ===============================================================================
value              as features
=================  ===============================================================================
interval           for models that split and for classifiers its position among the intervals of its
                   level, so that a threshold between neighbours is their common bound. For other
                   models its midpoint. With ``bounds`` two features, lower and upper. With
                   ``midpoint``, or the mean of its class (``class_mean``), untouched values are
                   themselves
category           a feature for each label of its level; an untouched value has that of its label
level per record   a category: features for each level that training records show; what is finer
                   than a record shows is zero, an untouched value is known at every level. An
                   interval: its bounds among those that training records show, as ranks, their mean
                   or the midpoint; an untouched value is read as the finest one around it
mean of a group    itself; an untouched value is itself
plain number       itself; where it is masked, models learn from the mask and read the value itself
plain text, bool   a feature for each value
=================  ===============================================================================

Dates are days since 1970-01-01. NULL and ``*`` follow one rule: a number becomes the median of
the training records, a category zero, and one more feature flags it as unknown.

With ``leaves`` a label is spread evenly over its leaves, with ``frequencies`` by how often they
occur: for models that add up features. A model that splits would pick one of the tied leaves and
misread the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators, limits
from dbt_anonymize.evaluation.data.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    text_rank_sql,
)
from dbt_anonymize.evaluation.data.spaces import UNKNOWN, Block, Numbers, OneHot, flag_unknown
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    import duckdb

    from dbt_anonymize.evaluation.data.reading import Effort

# Trees compute in single precision.
LARGEST = float(np.finfo(np.float32).max)
# The spaces of models that split, of other classifiers, and of all others.
POSITIONS, RANKS, VALUES = SPACES = "positions", "ranks", "values"

Arrays = Mapping[str, NDArray[Any]]
Blocks = Mapping[str, Sequence[Block]]


@dataclass(frozen=True)
class Reading:
    """Encodings of generalized values, as ``quality`` of a spec names them.

    ``numbers``: by_model, midpoint, class_mean or bounds. ``categories``: label, leaves or
    frequencies.
    """

    numbers: str = "by_model"
    categories: str = "label"

    def space(self, model: str, task: str) -> str:
        """Return the space of a model."""
        if self.numbers != "by_model":
            return VALUES
        if estimators.estimator_type(model, task).splits:
            return POSITIONS
        return RANKS if task == "classification" else VALUES


@dataclass(frozen=True, eq=False)
class Column:
    """One feature of one effort.

    Attributes
    ----------
    codes : array of int, shape (records,)
        The value of each record.
    own, original : mapping of str to sequence of Block
        By space, the features of each code; ``original`` of the codes of the untouched effort.
    hidden : int or None
        Code of a record that is suppressed but kept.
    is_quasi : bool
        Whether the column is a quasi-identifier.
    raw : array, shape (codes of the untouched effort,)
        Its numbers, NaN for NULL; or its leaves, `UNKNOWN` for NULL.
    coarser : mapping of int to int
        Levels with too many labels, and the level at which each is read.
    """

    codes: Ints
    own: Blocks
    original: Blocks
    hidden: int | None = None
    is_quasi: bool = False
    raw: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    coarser: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plain:
    """A column that is not generalized: the same in all efforts, unless it is masked in them."""

    name: str
    is_masked: bool = False

    def sql(
        self, relation: duckdb.DuckDBPyRelation, effort: Effort | None = None
    ) -> dict[str, str]:
        """Return the SQL that reads the column, by name."""
        kind = column_kind(relation, self.name)
        return {
            "value": text_rank_sql(self.name) if kind == "text" else number_sql(self.name, kind)
        }

    def untouched(self, relation: duckdb.DuckDBPyRelation, arrays: Arrays) -> Column:
        """Return the column of effort 0.

        An infinite number, or more than `MOST_CATEGORIES` categories, is an `EvaluationError`.
        """
        if column_kind(relation, self.name) != "text":
            return self._numbers(arrays)
        codes = arrays["value"].astype(np.int64)
        labels = ranked_texts(relation, self.name)
        categories = len(labels) - labels.count(None)
        check_categories(self.name, categories)
        positions = np.where(np.arange(len(labels)) < categories, np.arange(len(labels)), UNKNOWN)
        blocks: list[Block] = [OneHot(positions, categories)]
        if categories < len(labels):
            blocks.append(flag_unknown(positions))
        blocks_by_space = dict.fromkeys(SPACES, blocks)
        return Column(codes, blocks_by_space, blocks_by_space)

    def masked(self, arrays: Arrays, first: Column) -> Column:
        """Return the column of another effort, in which it is masked; ``first`` is of effort 0."""
        return self._numbers(arrays, first.raw)

    def _numbers(self, arrays: Arrays, untouched: Floats | None = None) -> Column:
        """Return a column of numbers; ``untouched`` are those of effort 0, None for the same."""
        check_numbers(self.name, arrays["value"])
        values, codes = np.unique(arrays["value"], return_inverse=True)
        # A mask keeps NULL, so both miss the same numbers.
        own, original = (
            dict.fromkeys(SPACES, (Numbers(numbers[:, None], has_nan(values)),))
            for numbers in (values, values if untouched is None else untouched)
        )
        return Column(codes, own, original, raw=values)


def level_sql(relation: duckdb.DuckDBPyRelation, name: str) -> dict[str, str]:
    """Return the SQL of the level of each record, for efforts whose levels differ per record."""
    column = f"{name}_level"
    if column_kind(relation, column) != "number":
        raise EvaluationError(
            f"column `{column}` must hold numbers, the level of each record; it does not. "
            "Build the recoding again."
        )
    return {"level": f"cast({quote_name(column)} as double)"}


def has_nan(values: Floats) -> bool:
    """Tell whether a number is unknown."""
    return bool(np.isnan(values).any())


def check_numbers(name: str, values: Floats) -> None:
    """Refuse infinite numbers, and those that are infinite in single precision."""
    bad = int(np.isinf(values).sum())
    if bad:
        raise EvaluationError(
            f"every number of feature `{name}` must be finite or missing; {bad} of {len(values)} "
            "are not. Clean them in the source."
        )
    large = int((np.abs(values) > LARGEST).sum())
    if large:
        raise EvaluationError(
            f"every number of feature `{name}` must be at most {LARGEST:.2g} in size, since models "
            f"compute in single precision; {large} of {len(values)} are larger. Correct or rescale "
            "them in the source, or leave it out of the features."
        )


def check_categories(name: str, categories: int) -> None:
    """Refuse a feature with more than `limits.MOST_CATEGORIES` categories."""
    largest = limits.MOST_CATEGORIES
    if categories > largest:
        raise EvaluationError(
            f"feature `{name}` must have at most {largest} categories, since each is a column of "
            f"the model; got {categories}. Leave it out of the features or group it."
        )
