"""Read the relations of an evaluation, each once, into the arrays that workers need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.design import class_means, known_leaves, make_design
from dbt_anonymize.evaluation.features import (
    Encoding,
    Reading,
    categorical_encoding,
    interval_encodings,
    label_encoding,
    plain_encoding,
    raw_number_sql,
    recoded_encoding,
)
from dbt_anonymize.evaluation.problem import EffortData
from dbt_anonymize.evaluation.relations import column_kind, read_arrays
from dbt_anonymize.evaluation.sampling import Sample

if TYPE_CHECKING:
    import duckdb

# What an effort has for levels where they differ per record.
PER_RECORD = "per record"


@dataclass(frozen=True)
class Feature:
    """A column that the model reads; ``hierarchy`` only for a categorical quasi-identifier."""

    name: str
    kind: str
    hierarchy: duckdb.DuckDBPyRelation | None = None


@dataclass(frozen=True)
class Effort:
    """A generalized relation.

    ``levels`` are those of categorical quasi-identifiers, or `PER_RECORD` where each record has its
    own, in the columns ``<quasi-identifier>_level`` of the relation. ``k`` is what it requires
    beside the guarantees.
    """

    effort: int
    relation: duckdb.DuckDBPyRelation
    levels: Mapping[str, int] | str
    k: int | None = None

    @property
    def is_recoded(self) -> bool:
        """Whether levels differ per record."""
        return isinstance(self.levels, str)


@dataclass(frozen=True)
class EffortReader:
    """Reads the features of one effort after the other; the first is the untouched one.

    Attributes
    ----------
    features : sequence of Feature
        In the order in which models see them.
    reading : Reading
        How generalized values enter a model.
    sample : Sample
        The records that are read.
    record_key : str
        Unique column.
    may_be_hidden : bool
        Whether suppressed records train too.
    has_recount : bool
        Whether equivalence classes are needed to count suppressed records again.
    """

    untouched: Effort
    features: Sequence[Feature]
    reading: Reading
    sample: Sample
    record_key: str
    may_be_hidden: bool = False
    has_recount: bool = False

    @property
    def has_original(self) -> bool:
        """Whether models can read untouched records."""
        is_categorical = any(feature.kind == "categorical" for feature in self.features)
        return not (self.reading.categories == "label" and is_categorical)

    def first(
        self, extra: Mapping[str, str]
    ) -> tuple[EffortData, dict[str, NDArray[Any]], FirstArrays]:
        """Read the untouched effort.

        Parameters
        ----------
        extra : mapping of str to str
            SQL of further numbers of each record, by a name.

        Returns
        -------
        tuple
            The effort, the further numbers, and what reading the other efforts needs.
        """
        encodings = self._encodings(self.untouched)
        raw = self._raw_sql()
        values = self._read(self.untouched, encodings, {**raw, **extra})
        keys = values["record_hash"]
        _check_keys(keys, self.record_key)
        arrays = [values[f"feature {position}"] for position in range(len(encodings))]
        leaves = self._leaves(encodings, arrays)
        design = make_design(encodings, arrays, may_be_hidden=self.may_be_hidden)
        design = replace(design, leaves=leaves)
        suppressed = values["is_suppressed"].astype(bool)
        kept = [None if e.is_quasi else a for e, a in zip(encodings, arrays, strict=True)]
        numbers = [values.get(f"raw {position}") for position in range(len(encodings))]
        data = EffortData(self.untouched.effort, design, None, suppressed)
        return (
            data,
            {name: values[name] for name in extra},
            FirstArrays(keys, kept, numbers, leaves),
        )

    def further(self, effort: Effort, first: FirstArrays) -> EffortData:
        """Read another effort; columns that are not generalized are those of the first."""
        encodings = self._encodings(effort)
        has_means = any(numbers is not None for numbers in first.raw)
        extra = {}
        if has_means or self.has_recount:
            column_kind(effort.relation, "equivalence_class")
            extra["class"] = "hash(equivalence_class)"
        values = self._read(effort, [e for e in encodings if e.is_quasi], extra, encodings)
        _check_same_keys(first.keys, values["record_hash"], effort.effort)
        classes = None
        if "class" in values:
            classes = np.unique(values["class"], return_inverse=True)[1].astype(np.int64)
        arrays = [
            values[f"feature {position}"] if kept is None else kept
            for position, kept in enumerate(first.kept)
        ]
        design = make_design(
            encodings,
            arrays,
            may_be_hidden=self.may_be_hidden,
            classes=classes if has_means else None,
            raw=first.raw,
        )
        design = replace(design, leaves=first.leaves)
        suppressed = values["is_suppressed"].astype(bool)
        return EffortData(
            effort.effort,
            design,
            class_means(design, np.flatnonzero(~suppressed)),
            suppressed,
            is_recoded=effort.is_recoded,
            classes=classes if self.has_recount else None,
            k=effort.k,
        )

    def _read(
        self,
        effort: Effort,
        encodings: Sequence[Encoding],
        extra: Mapping[str, str],
        among: Sequence[Encoding] | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Read encodings, named by their position ``among`` all of the effort."""
        column_kind(effort.relation, "is_suppressed")
        positions = {id(e): position for position, e in enumerate(among or encodings)}
        expressions = {f"feature {positions[id(e)]}": e.sql for e in encodings}
        expressions["is_suppressed"] = "cast(coalesce(is_suppressed, true) as bigint)"
        relation = self.sample.of(effort.relation)
        return read_arrays(relation, {**expressions, **extra}, order_by=self.record_key)

    def _encodings(self, effort: Effort) -> list[Encoding]:
        """Return how to read each feature of an effort, in the order of the features."""
        found: list[Encoding] = []
        for feature in self.features:
            if feature.kind == "plain":
                found.append(self._plain[feature.name])
            elif feature.kind == "interval":
                numbers = self.reading.numbers
                found.extend(interval_encodings(effort.relation, feature.name, numbers))
            elif feature.kind == "categorical" and feature.hierarchy is not None:
                found.append(self._categorical(effort, feature.name, feature.hierarchy))
            else:
                raise EvaluationError(
                    f"feature `{feature.name}` must be interval, plain, or categorical with a "
                    f"hierarchy; got kind {feature.kind!r}. Run `dbt-anonymize generate` again."
                )
        return found

    def _categorical(
        self, effort: Effort, name: str, hierarchy: duckdb.DuckDBPyRelation
    ) -> Encoding:
        if isinstance(effort.levels, str):
            return recoded_encoding(effort.relation, name, hierarchy)
        level = effort.levels.get(name, 0)
        if self.reading.categories == "label":
            return label_encoding(effort.relation, name, hierarchy, level)
        return categorical_encoding(effort.relation, name, hierarchy, level)

    @cached_property
    def _plain(self) -> dict[str, Encoding]:
        relation = self.sample.of(self.untouched.relation)
        plain = [feature.name for feature in self.features if feature.kind == "plain"]
        return {name: plain_encoding(relation, name) for name in plain}

    def _leaves(
        self, encodings: Sequence[Encoding], arrays: Sequence[NDArray[Any]]
    ) -> dict[int, NDArray[np.int32]]:
        """Return the leaf of each record, where leaves weigh as often as they occur."""
        if self.reading.categories != "frequencies":
            return {}
        parts = enumerate(zip(encodings, arrays, strict=True))
        return {
            position: known_leaves(encoding, array)
            for position, (encoding, array) in parts
            if encoding.is_quasi and encoding.table is not None
        }

    def _raw_sql(self) -> dict[str, str]:
        """Return SQL for the numbers whose class means are needed, by position of the encoding."""
        if self.reading.numbers != "class_mean":
            return {}
        return {
            f"raw {position}": raw_number_sql(self.untouched.relation, feature.name)
            for position, feature in enumerate(self.features)  # each has one encoding
            if feature.kind == "interval"
        }


@dataclass(frozen=True)
class FirstArrays:
    """What efforts share: keys, plain columns, numbers for class means, leaves for their counts."""

    keys: NDArray[Any]
    kept: Sequence[NDArray[Any] | None]
    raw: Sequence[NDArray[Any] | None]
    leaves: Mapping[int, NDArray[np.int32]]


def _check_keys(keys: NDArray[Any], record_key: str) -> None:
    repeated = int((keys[1:] == keys[:-1]).sum())
    if repeated:
        raise EvaluationError(
            f"record key `{record_key}` must be unique; got {repeated} repeated values in "
            f"{len(keys)} records. Name another column or remove the duplicates."
        )


def _check_same_keys(expected: NDArray[Any], found: NDArray[Any], effort: int) -> None:
    if not np.array_equal(expected, found):
        raise EvaluationError(
            f"effort {effort} must hold the same record keys as effort 0; got {len(found)} and "
            f"{len(expected)} records whose keys differ. Build all efforts in one run."
        )
