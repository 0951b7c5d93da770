"""Read targets: classes, numbers, or times to an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    text_rank_sql,
    text_sql,
    value_text,
)
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.target_checks import (
    check_known,
    check_numbers,
    check_records,
    check_target,
)
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.tasks import UNSUPERVISED

if TYPE_CHECKING:
    import duckdb

MAX_CLASSES = 200


@dataclass(frozen=True)
class TargetColumn:
    """A target as a spec declares it.

    ``positive`` is the positive class or, for a survival target, the value of column ``name`` that
    marks an event at ``time``. Of clustering and anomaly, which predict no column, ``name`` is the
    task, and ``top_share`` the share of records that anomalies are compared among.
    """

    name: str
    task: str = "classification"
    positive: object | None = None
    time: str | None = None
    top_share: float = Target.top_share


@dataclass(frozen=True)
class TargetReader:
    """Reader of one target: its classes, and SQL by names that no other target uses."""

    column: TargetColumn
    position: int
    classes: tuple[str, ...]
    sql: Mapping[str, str]

    def target(
        self, values: Mapping[str, NDArray[Any]], splitting: Splitting, groups: Ints | None
    ) -> Target:
        """Return the target; records that cannot be split are an `EvaluationError`."""
        target = self._read(values)
        known = check_known(target)
        groups = None if groups is None else groups[known]
        if target.codes is not None:
            classes = len(target.classes) or 2
            check_target(target.codes[known], classes, splitting, target.name, groups=groups)
        if target.task in UNSUPERVISED:
            check_records(len(known), splitting, f"records of {target.task}", groups=groups)
        elif target.numbers is not None:
            name = str(self.column.time or target.name)
            check_numbers(target.numbers[known], splitting, name, groups=groups)
        if target.task != "classification":
            return target
        positive = _positive_code(self.column.positive, self.classes, target.name)
        return replace(target, positive=positive)

    def _read(self, values: Mapping[str, NDArray[Any]]) -> Target:
        name, task = self.column.name, self.column.task
        numbers = values.get(f"number {self.position}")
        if numbers is not None:
            numbers = numbers.astype(np.float64)
        if task in {"regression", *UNSUPERVISED}:
            return Target(name, task, numbers=numbers, top_share=self.column.top_share)
        codes = values[f"code {self.position}"].astype(np.int64)
        return Target(name, task, self.classes, codes=codes, numbers=numbers)


def target_reader(
    relation: duckdb.DuckDBPyRelation, column: TargetColumn, position: int
) -> TargetReader:
    """Return the reader of the target at a position among all targets.

    ``relation`` holds the untouched records. A missing or mistyped column is an `EvaluationError`.
    """
    if column.task in UNSUPERVISED:
        return TargetReader(column, position, (), {f"number {position}": "cast(0 as double)"})
    kind = column_kind(relation, column.name)
    if column.task == "classification":
        classes = tuple(t for t in ranked_texts(relation, column.name) if t is not None)
        _check_classes(column.name, len(classes))
        is_null = f"{quote_name(column.name)} is null"
        code = f"case when {is_null} then -2 else {text_rank_sql(column.name)} end"
        return TargetReader(column, position, classes, {f"code {position}": code})
    if column.task == "regression":
        _check_number(column.name, kind)
        return TargetReader(
            column, position, (), {f"number {position}": number_sql(column.name, "number")}
        )
    time = str(column.time)
    _check_number(time, column_kind(relation, time))
    sql = {
        f"code {position}": _event_sql(column, kind),
        f"number {position}": number_sql(time, "number"),
    }
    return TargetReader(column, position, (), sql)


def _event_sql(column: TargetColumn, kind: str) -> str:
    """Return SQL for 1 (event), 0 (censored) or -2 (NULL)."""
    if column.positive is not None:
        is_event = f"{text_sql(column.name)} = {quote_text(value_text(column.positive))}"
    elif kind == "number":
        is_event = f"{quote_name(column.name)} <> 0"
    else:
        is_event = f"{text_sql(column.name)} = 'true'"
    return f"case when {quote_name(column.name)} is null then -2 when {is_event} then 1 else 0 end"


def _check_classes(name: str, classes: int) -> None:
    if classes > MAX_CLASSES:
        raise EvaluationError(
            f"target `{name}` must have at most {MAX_CLASSES} classes, since each pair of them is "
            f"counted; got {classes}. Group them in the source, or predict numbers by a regression."
        )


def _check_number(name: str, kind: str) -> None:
    if kind != "number":
        raise EvaluationError(
            f"column `{name}` must hold numbers to be predicted by a regression or as a time; it "
            f"holds a {kind}. Name another column, or cast it in the source."
        )


def _positive_code(positive: object | None, classes: Sequence[str], target: str) -> int | None:
    if positive is None:
        return None
    text = value_text(positive)
    if text not in classes:
        raise EvaluationError(
            f"quality.positive must be one of the {len(classes)} values of target `{target}`; "
            f"got {text!r}, which does not occur. Write it as the database shows it."
        )
    return list(classes).index(text)
