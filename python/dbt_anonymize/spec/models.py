"""The spec of one anonymization: roles, efforts, guarantees, and how quality is measured.

Types and single values are checked here; what must hold between keys is in ``rules``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dbt_anonymize.spec.problems import Problem
from dbt_anonymize.spec.rules import BROKEN_RULES, violations

Role = Literal["identifier", "quasi_identifier", "sensitive", "insensitive"]
Measure = Literal["accuracy", "balanced_accuracy", "precision", "recall", "f1"]

# PostgreSQL allows 63 characters; the longest name of a relation adds 13.
LONGEST_NAME = 50
# Names of our own relations and models.
RESERVED_SPEC_NAMES = frozenset({"anonymization"})
LARGEST_SEED = 2**32 - 1


def _name(value: object) -> object:
    if value in RESERVED_SPEC_NAMES:
        raise _error(
            "must not be 'anonymization': its results would be the history of all anonymizations",
            "Choose another name.",
        )
    return value


def _column_name(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not value.strip():
        raise _error("must not be empty", "Write the name of the column.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise _error(
            "must be text that a database can store (no NUL, no half of a surrogate pair)",
            "Write the name of the column as the database shows it.",
        )
    return value


def _released_effort(value: object) -> object:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    if value == 0 and not isinstance(value, bool):
        raise _error(
            "must not be 0: effort 0 is the untouched source, which is never released",
            "Write auto, or the number of an effort, counted from 1.",
        )
    raise _error(
        "must be auto or the number of an effort", "Write auto, or a number counted from 1."
    )


def _error(rule: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError("rule", "{rule}", {"rule": rule, "remedy": remedy})


ColumnName = Annotated[str, Field(max_length=255), BeforeValidator(_column_name)]
SpecName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=LONGEST_NAME), BeforeValidator(_name)
]
RelationName = Annotated[str, Field(min_length=1)]
Level = Annotated[int, Field(ge=0)]
Scalar = StrictBool | StrictInt | FiniteFloat | StrictStr | None


def _parameter(value: object) -> object:
    """Accept a scalar or a list of scalars, so that a message names one rule, not one per type."""
    items = value if isinstance(value, list) else [value]
    finite = all(
        item is None
        or isinstance(item, (bool, int, str))
        or (isinstance(item, float) and abs(item) < float("inf"))
        for item in items
    )
    if not finite:
        raise _error(
            "must be a finite number, text, true, false, null or a list of these", "Correct it."
        )
    return value


Parameter = Annotated[Any, PlainValidator(_parameter)]


class _Strict(BaseModel):
    """No unknown keys, no silent conversions (`yes` is not text, `true` is not 1), no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Source(_Strict):
    """The table about people: a dbt model or seed (``ref``), or a dbt source (``source``)."""

    ref: RelationName | None = None
    source: Annotated[tuple[RelationName, RelationName] | None, Field(strict=False)] = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Source:
        if (self.ref is None) == (self.source is None):
            raise _error(
                "must name exactly one relation",
                "Write {ref: model_or_seed} or {source: [source_name, table_name]}.",
            )
        return self


class Hierarchy(_Strict):
    """Where the generalization hierarchy of a quasi-identifier lies and how high it is."""

    ref: RelationName
    kind: Literal["interval", "categorical"]
    levels: Annotated[int, Field(ge=1)]
    nested: bool = True


class Column(_Strict):
    """What a column says about a person."""

    role: Role
    hierarchy: Hierarchy | None = None

    @model_validator(mode="after")
    def _hierarchy_where_generalized(self) -> Column:
        if self.role == "quasi_identifier" and self.hierarchy is None:
            raise _error(
                "must have a hierarchy: a quasi-identifier is released generalized",
                "Add hierarchy: {ref: ..., kind: interval or categorical, levels: ...}.",
            )
        if self.role != "quasi_identifier" and self.hierarchy is not None:
            raise _error(
                f"must not have a hierarchy: columns of role {self.role} are not generalized",
                "Remove the hierarchy, or make the role quasi_identifier.",
            )
        return self


class KAnonymity(_Strict):
    """Every released record shares its quasi-identifiers with at least k - 1 others."""

    k: Annotated[int, Field(ge=2)]


class Guarantees(_Strict):
    """What a release must keep; checked on the data of every build."""

    k_anonymity: KAnonymity


class Quality(_Strict):
    """How the functional quality QF of an effort is measured."""

    model: str
    parameters: dict[str, Parameter] = {}
    measure: Measure
    positive: StrictStr | StrictInt | StrictBool | None = None
    repetitions: Annotated[int, Field(ge=1)]
    test_share: Annotated[float, Field(gt=0, lt=1)]
    random_state: Annotated[int, Field(ge=0, le=LARGEST_SEED)]


class Release(_Strict):
    """Which effort is published: the best that qualifies (``auto``), or one by its number."""

    effort: Annotated[Literal["auto"] | int, PlainValidator(_released_effort)] = "auto"


class Spec(_Strict):
    """One anonymization.

    Examples
    --------
    >>> spec = Spec.model_validate({
    ...     "version": 1, "name": "visits", "source": {"ref": "visits_source"},
    ...     "record_key": "visit_id",
    ...     "columns": {
    ...         "phone": {"role": "identifier"},
    ...         "age": {
    ...             "role": "quasi_identifier",
    ...             "hierarchy": {"ref": "ages", "kind": "interval", "levels": 3},
    ...         },
    ...         "diagnosis": {"role": "sensitive"},
    ...     },
    ...     "target": "diagnosis", "features": ["age"], "efforts": [{"age": 1}, {"age": 2}],
    ...     "guarantees": {"k_anonymity": {"k": 3}}, "suppression_limit": 0.1,
    ...     "quality": {
    ...         "model": "naive_bayes", "measure": "accuracy", "repetitions": 10,
    ...         "test_share": 0.3, "random_state": 1,
    ...     },
    ...     "alpha": 0.1, "qnf": "k",
    ... })
    >>> spec.identifiers, list(spec.quasi_identifiers), spec.kept_columns
    (['phone'], ['age'], ['diagnosis'])
    >>> spec.numbered_efforts
    {0: {'age': 0}, 1: {'age': 1}, 2: {'age': 2}}
    """

    version: Literal[1]
    name: SpecName
    description: str = ""
    source: Source
    record_key: ColumnName
    columns: Annotated[dict[ColumnName, Column], Field(min_length=1)]
    target: str
    features: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    efforts: Annotated[tuple[dict[str, Level], ...], Field(min_length=1, strict=False)]
    guarantees: Guarantees
    suppression_limit: Annotated[float, Field(ge=0, lt=1)]
    quality: Quality
    alpha: Annotated[float, Field(ge=0)]
    qnf: Literal["k", "1 - 1/k"]
    release: Release = Release()

    @model_validator(mode="after")
    def _keeps_the_rules(self) -> Spec:
        problems: Sequence[Problem] = violations(self.model_dump(mode="python"))
        if problems:
            raise PydanticCustomError(
                BROKEN_RULES, "{problems}", {"problems": "\n".join(map(str, problems))}
            )
        return self

    def columns_with_role(self, *roles: Role) -> list[str]:
        """Return the columns that have one of the roles, in declared order."""
        return [name for name, column in self.columns.items() if column.role in roles]

    @property
    def identifiers(self) -> list[str]:
        """Columns that name a person."""
        return self.columns_with_role("identifier")

    @cached_property
    def quasi_identifiers(self) -> dict[str, Hierarchy]:
        """Hierarchy of each quasi-identifier, in declared order."""
        return {
            name: column.hierarchy
            for name, column in self.columns.items()
            if column.hierarchy is not None
        }

    @property
    def sensitive(self) -> list[str]:
        """Columns whose values nobody may link to a person."""
        return self.columns_with_role("sensitive")

    @property
    def kept_columns(self) -> list[str]:
        """Columns that are released as they are: sensitive and insensitive, the target included."""
        return self.columns_with_role("sensitive", "insensitive")

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with anything but the description."""
        content = self.model_dump(mode="json", exclude={"description"})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def numbered_efforts(self) -> dict[int, dict[str, int]]:
        """Levels of each effort, the untouched baseline (effort 0) included."""
        baseline = dict.fromkeys(self.quasi_identifiers, 0)
        declared = (
            {name: effort[name] for name in self.quasi_identifiers} for effort in self.efforts
        )
        return dict(enumerate([baseline, *declared]))
