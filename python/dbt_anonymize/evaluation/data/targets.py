"""Read what is predicted: classes, numbers, or times to an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    text_rank_sql,
    text_sql,
    value_text,
)
from dbt_anonymize.evaluation.problem import Codes, Target
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.target_checks import check_numbers, check_target
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

MAX_CLASSES = 200
TASKS = ("classification", "regression", "survival")


@dataclass(frozen=True)
class TargetColumn:
    """A target as a spec declares it.

    Attributes
    ----------
    name : str
        Column; of a survival target the event.
    task : str
        classification, regression or survival.
    positive : object or None
        The positive class; of a survival target the value that means an event.
    time : str or None
        Column with the time of a survival target.
    """

    name: str
    task: str = "classification"
    positive: object | None = None
    time: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tell it."""
        return (self.name,) if self.time is None else (self.name, self.time)


def target_columns(
    declared: Sequence[Mapping[str, Any]], features: Sequence[str]
) -> list[TargetColumn]:
    """Check the targets of an evaluation.

    Parameters
    ----------
    declared : sequence of mapping
        ``name``, ``task``, ``positive`` and ``time``.
    features : sequence of str
        What models read.

    Raises
    ------
    EvaluationError
        If there is none, one is named twice or is a feature, or a task does not exist.
    """
    found = [
        TargetColumn(
            target["name"],
            target.get("task") or "classification",
            target.get("positive"),
            target.get("time"),
        )
        for target in declared
    ]
    names = [target.name for target in found]
    if not found or len(set(names)) < len(names):
        raise EvaluationError(
            f"targets must be one or more different columns; got {names}. Correct the targets."
        )
    for target in found:
        if target.task not in TASKS:
            raise EvaluationError(
                f"the task of target `{target.name}` must be one of {list(TASKS)}; got "
                f"{target.task!r}. Run `dbt-anonymize generate` again."
            )
        if (target.task == "survival") != (target.time is not None):
            raise EvaluationError(
                f"target `{target.name}` must have a time if it is the event of a survival target, "
                f"and only then; got task {target.task} and time {target.time!r}. Set or remove "
                "quality.time."
            )
        shared = sorted(set(target.columns) & set(features))
        if shared:
            raise EvaluationError(
                f"features must not hold what is predicted; got {shared}. Leave it out of the "
                "features."
            )
    return found


@dataclass(frozen=True)
class TargetReader:
    """How to read one target.

    Attributes
    ----------
    column : TargetColumn
        What was declared.
    position : int
        Among all targets.
    classes : tuple of str
        Of a classification.
    sql : mapping of str to str
        Numbers of each record, by names that no other target uses.
    """

    column: TargetColumn
    position: int
    classes: tuple[str, ...]
    sql: Mapping[str, str]

    def target(
        self,
        values: Mapping[str, NDArray[Any]],
        splitting: Splitting,
        groups: Codes | None,
    ) -> Target:
        """Return the target from the numbers that were read.

        Raises
        ------
        EvaluationError
            If its records cannot be split.
        """
        name, task = self.column.name, self.column.task
        if task == "regression":
            numbers = values[f"number {self.position}"].astype(np.float64)
            check_numbers(numbers, splitting, name, groups=groups)
            return Target(name, task, numbers=numbers)
        codes = values[f"code {self.position}"].astype(np.int64)
        if task == "classification":
            check_target(codes, len(self.classes), splitting, name, groups=groups)
            positive = _positive_code(self.column.positive, self.classes, name)
            return Target(name, task, self.classes, positive, codes)
        check_target(codes, 2, splitting, name, groups=groups)
        times = values[f"number {self.position}"].astype(np.float64)
        check_numbers(times, splitting, str(self.column.time), groups=groups)
        return Target(name, task, codes=codes, numbers=times)


def target_reader(
    relation: duckdb.DuckDBPyRelation, column: TargetColumn, position: int
) -> TargetReader:
    """Return how to read a target.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        The untouched records that are evaluated.
    column : TargetColumn
        What is declared.
    position : int
        Among all targets.

    Raises
    ------
    EvaluationError
        If a column is missing or of the wrong type.
    """
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
    """Return SQL for 1 where the event was seen, 0 where it was not, and -2 for NULL."""
    if column.positive is not None:
        seen = f"{text_sql(column.name)} = {quote_text(value_text(column.positive))}"
    elif kind == "number":
        seen = f"{quote_name(column.name)} <> 0"
    else:
        seen = f"{text_sql(column.name)} = 'true'"
    return f"case when {quote_name(column.name)} is null then -2 when {seen} then 1 else 0 end"


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
