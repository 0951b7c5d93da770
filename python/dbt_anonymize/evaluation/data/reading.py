"""Read the relations of an evaluation, each once, into the arrays that workers need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.categories import Category
from dbt_anonymize.evaluation.data.design import class_means, make_design, make_space
from dbt_anonymize.evaluation.data.features import SPACES, Column, Plain, Reading
from dbt_anonymize.evaluation.data.hierarchy import read_hierarchy
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.relations import column_kind, ranked_texts, read_arrays
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.data.spaces import Space
from dbt_anonymize.evaluation.problem import EffortData

if TYPE_CHECKING:
    import duckdb

Feature = Plain | Interval | Category
# Levels of an effort in which they differ per record.
PER_RECORD = "per record"


@dataclass(frozen=True)
class FeatureColumn:
    """A column that models read; only a quasi-identifier has a ``hierarchy``.

    ``kind`` is interval or categorical; for other columns plain, or masked if efforts differ.
    """

    name: str
    kind: str
    hierarchy: duckdb.DuckDBPyRelation | None = None


@dataclass(frozen=True)
class Effort:
    """A generalized relation.

    ``levels`` maps quasi-identifiers to levels, or is `PER_RECORD`: each record has its own in
    ``<quasi-identifier>_level``. ``k`` is required in addition to the guarantees. ``has_means``:
    numbers are labelled with the mean of their group; ``has_modes``: categories with its mode.
    ``aggregates``: quasi-identifiers labelled with that of their class alone.
    """

    effort: int
    relation: duckdb.DuckDBPyRelation
    levels: Mapping[str, int] | str
    k: int | None = None
    has_means: bool = False
    has_modes: bool = False
    aggregates: Sequence[str] = ()

    @property
    def is_recoded(self) -> bool:
        """Tell whether levels differ per record."""
        return isinstance(self.levels, str)

    def level(self, name: str) -> int | None:
        """Return the level of a quasi-identifier; None if each record has its own."""
        return None if isinstance(self.levels, str) else self.levels.get(name, 0)


@dataclass(frozen=True)
class EffortReader:
    """Read the features of one effort after the other, beginning with the untouched one.

    ``columns`` are in the order in which models see them. ``may_be_hidden``: suppressed records
    train too. ``has_recount``: equivalence classes are read, to recount suppression.
    """

    untouched: Effort
    columns: Sequence[FeatureColumn]
    reading: Reading
    sample: Sample
    record_key: str
    may_be_hidden: bool = False
    has_recount: bool = False

    @cached_property
    def features(self) -> list[Feature]:
        """Feature of each column."""
        features: list[Feature] = []
        for column in self.columns:
            if column.hierarchy is None:
                features.append(Plain(column.name, is_masked=column.kind == "masked"))
                continue
            tree = read_hierarchy(column.name, column.kind, column.hierarchy)
            kind = Interval if column.kind == "interval" else Category
            features.append(kind(column.name, tree, self.reading, self.may_be_hidden))
        return features

    def read_untouched(
        self, extra: Mapping[str, str]
    ) -> tuple[EffortData, dict[str, NDArray[Any]], FirstArrays]:
        """Read the untouched effort, and further numbers, defined as SQL by name.

        Return the effort, these numbers, and the arrays that all efforts share.
        """
        relation = self.sample.restrict(self.untouched.relation)
        expressions = {f.name: f.sql(relation) for f in self.features}
        values, parts = self._read(self.untouched, relation, expressions, extra)
        keys = values["record_hash"]
        _check_keys(keys, self.record_key)
        columns = [f.untouched(relation, parts[f.name]) for f in self.features]
        data = self.effort_data(self.untouched, columns, values)
        return data, {name: values[name] for name in extra}, FirstArrays(keys, columns)

    def read_column(
        self, relation: duckdb.DuckDBPyRelation, sql: str, keys: NDArray[Any], what: str
    ) -> NDArray[Any]:
        """Read a number for each record of the untouched effort, whose keys are ``keys``.

        ``what`` names the numbers in errors.
        """
        values = read_arrays(
            self.sample.restrict(relation), {"value": sql}, order_by=self.record_key
        )
        if not np.array_equal(keys, values["record_hash"]):
            raise EvaluationError(
                f"{what} must be known for the records of effort 0; got {len(values['value'])} "
                f"and {len(keys)} records whose keys differ. Build all in one run."
            )
        return values["value"]

    def read_effort(self, effort: Effort, first: FirstArrays) -> EffortData:
        """Read another effort; columns that do not differ are those of the untouched one."""
        has_means = self._has_means
        extra = {}
        if has_means or self.has_recount:
            column_kind(effort.relation, "equivalence_class")
            extra["class"] = "hash(equivalence_class)"
        relation = self.sample.restrict(effort.relation)
        expressions = {
            f.name: f.sql(relation, effort)
            for f in self.features
            if not isinstance(f, Plain) or f.is_masked
        }
        values, parts = self._read(effort, relation, expressions, extra)
        _check_same_keys(first.keys, values["record_hash"], effort.effort)
        classes = None
        if "class" in values:
            classes = np.unique(values["class"], return_inverse=True)[1].astype(np.int64)
        columns: list[Column] = []
        for feature, untouched in zip(self.features, first.columns, strict=True):
            if isinstance(feature, Plain):
                is_own = feature.is_masked
                columns.append(
                    feature.masked(parts[feature.name], untouched) if is_own else untouched
                )
                continue
            arrays, level = parts[feature.name], effort.level(feature.name)
            if isinstance(feature, Interval):
                columns.append(feature.generalized(arrays, level, untouched))
            else:
                texts = ranked_texts(relation, feature.name)
                has_modes = effort.has_modes or feature.name in effort.aggregates
                columns.append(
                    feature.generalized(arrays, texts, level, untouched, has_modes=has_modes)
                )
        return self.effort_data(effort, columns, values, classes=classes, first=first.columns)

    def effort_data(
        self,
        effort: Effort,
        columns: Sequence[Column],
        values: Mapping[str, NDArray[Any]],
        *,
        classes: NDArray[np.int64] | None = None,
        first: Sequence[Column] | None = None,
    ) -> EffortData:
        """Return an effort with its columns; ``first`` are those of the untouched effort."""
        suppressed = values["is_suppressed"].astype(bool)
        has_means = self._has_means and first is not None
        raw = [
            untouched.raw[untouched.codes] if isinstance(feature, Interval) else None
            for feature, untouched in zip(self.features, first or (), strict=bool(first))
        ]
        design = make_design(columns, classes=classes if has_means else None, raw=raw)
        return EffortData(
            effort.effort,
            design,
            _spaces(columns),
            _spaces(columns, is_original=True),
            suppressed,
            class_means(design, np.flatnonzero(~suppressed)),
            is_recoded=effort.is_recoded,
            classes=classes if self.has_recount else None,
            k=effort.k,
            coarser={
                feature.name: column.coarser
                for feature, column in zip(self.features, columns, strict=True)
                if column.coarser
            },
        )

    @property
    def _has_means(self) -> bool:
        has_intervals = any(isinstance(feature, Interval) for feature in self.features)
        return self.reading.numbers == "class_mean" and has_intervals

    def _read(
        self,
        effort: Effort,
        relation: duckdb.DuckDBPyRelation,
        parts: Mapping[str, Mapping[str, str]],
        extra: Mapping[str, str],
    ) -> tuple[dict[str, NDArray[Any]], dict[str, dict[str, NDArray[Any]]]]:
        column_kind(effort.relation, "is_suppressed")
        flat = {f"{f} {part}": sql for f, sqls in parts.items() for part, sql in sqls.items()}
        flat |= {"is_suppressed": "cast(coalesce(is_suppressed, true) as bigint)", **extra}
        values = read_arrays(relation, flat, order_by=self.record_key)
        by_feature = {
            f: {part: values[f"{f} {part}"] for part in sqls} for f, sqls in parts.items()
        }
        return values, by_feature


@dataclass(frozen=True)
class FirstArrays:
    """Arrays that all efforts share: keys, and the columns of the untouched one."""

    keys: NDArray[Any]
    columns: Sequence[Column]


def _spaces(columns: Sequence[Column], *, is_original: bool = False) -> dict[str, Space]:
    """Return all spaces by name; one object where they do not differ."""
    space_by_columns: dict[tuple[int, ...], Space] = {}
    spaces: dict[str, Space] = {}
    for name in SPACES:
        same = tuple(id(column.own[name]) for column in columns)
        if same not in space_by_columns:
            space_by_columns[same] = make_space(columns, name, is_original=is_original)
        spaces[name] = space_by_columns[same]
    return spaces


def _check_keys(keys: NDArray[Any], record_key: str) -> None:
    repeated = int((keys[1:] == keys[:-1]).sum())
    if repeated:
        raise EvaluationError(
            f"record key `{record_key}` must be unique; got {repeated} repeated values in "
            f"{len(keys)} records. Name another column or remove the duplicates."
        )


def _check_same_keys(expected: NDArray[Any], keys: NDArray[Any], effort: int) -> None:
    if not np.array_equal(expected, keys):
        raise EvaluationError(
            f"effort {effort} must hold the same record keys as effort 0; got {len(keys)} and "
            f"{len(expected)} records whose keys differ. Build all efforts in one run."
        )
