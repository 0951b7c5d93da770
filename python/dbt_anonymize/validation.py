"""Base of all parts of the spec: strict models, named columns, errors in our words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

# A mark of keys that change neither which records are released nor what was measured of them.
BESIDE_RESULTS = "beside results"
# A mark of keys that change no generated model but its description.
BESIDE_MODELS = "beside models"


class Strict(BaseModel):
    """No unknown keys, no silent conversions (`yes` is not text, `true` is not 1), no NaN."""

    # Docstrings of keys are read for the JSON schema only: that takes a while.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def rule_error(rule: str, remedy: str) -> PydanticCustomError:
    """Return the error of a rule that starts with "must", and what to do."""
    return PydanticCustomError("rule", "{rule}", {"rule": rule, "remedy": remedy})


def one_line(value: object) -> object:
    """Refuse a text of several lines."""
    if isinstance(value, str) and (value != value.strip() or len(value.splitlines()) != 1):
        raise rule_error("must be one line without spaces around it", "Write it so.")
    return value


def _column_name(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not value.strip():
        raise rule_error("must not be empty", "Write the name of the column.")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise rule_error(
            "must be text that a database can store (no NUL, no half of a surrogate pair)",
            "Write the name of the column as the database shows it.",
        )
    return value


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, str) else value


ColumnName = Annotated[str, Field(max_length=255), BeforeValidator(_column_name)]
# One column, or a list.
ColumnNames = Annotated[
    tuple[ColumnName, ...],
    Field(strict=False),
    BeforeValidator(_one_or_several, json_schema_input_type=str | list[ColumnName]),
]
RelationName = Annotated[str, Field(min_length=1)]
Level = Annotated[int, Field(ge=0)]
# By quasi-identifier.
Levels = dict[str, Level]


class ShownLevel(Strict):
    """A level that forms classes, and the aggregate of a class that is shown for its label."""

    level: Level
    """Level of the quasi-identifier; the root forms classes without it."""
    show: Literal["mean", "median", "mode"]
    """Mean or median of a number, mode of a category; the label where it would tell too much."""
    p_percent: Annotated[float, Field(gt=0, le=100)] | None = None
    """Rule for means and medians: least share of the interval, in percent, that they must leave
    open; 10 by default.
    """

    @property
    def least_percent(self) -> float:
        """Least share of the interval that a mean or median must leave open, in percent."""
        return self.p_percent or 10.0


# As a spec has them.
WrittenLevels = dict[str, Level | ShownLevel]

# Each level is a column of the hierarchy and a part of the SQL of every effort.
MOST_LEVELS = 1_000


def _read_levels(schema: dict[str, Any]) -> None:
    """Make levels optional in the schema: they are read from files before validation."""
    schema["required"].remove("levels")


class Hierarchy(Strict):
    """Place and height of the generalization hierarchy of an attribute."""

    model_config = ConfigDict(json_schema_extra=_read_levels)

    ref: RelationName
    """Seed or model that holds the hierarchy."""
    kind: Literal["interval", "categorical"]
    """Intervals of numbers or dates (lower_bound, upper_bound), or single values (value)."""
    levels: Annotated[int, Field(ge=1, le=MOST_LEVELS)]
    """Number of level columns; the last level is *. Read from the header of the seed, or from the
    columns that the properties of a model list; given where neither says it.
    """
    nested: bool = True
    """True if every level is a coarsening of the one before."""
    unknown: Literal["*"] | None = None
    """Release values that the hierarchy does not hold as *, as missing ones; without it, they stop
    a build.
    """


def generalized_columns(
    quasi_identifiers: Mapping[str, Hierarchy], ends: Sequence[str] = ("", "_lower", "_upper")
) -> list[str]:
    """Return the columns of quasi-identifiers: labels, and bounds of intervals, by their ends."""
    trees = quasi_identifiers.items()
    listed = ((name, ends if tree.kind == "interval" else ends[:1]) for name, tree in trees)
    return [f"{name}{end}" for name, own in listed for end in own]


class Source(Strict):
    """The table about people: a dbt model or seed (``ref``), or a dbt source (``source``)."""

    ref: RelationName | None = None
    """A model or seed."""
    source: Annotated[tuple[RelationName, RelationName] | None, Field(strict=False)] = None
    """A dbt source: [source_name, table_name]."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.ref is None) == (self.source is None):
            raise rule_error(
                "must name exactly one relation",
                "Write {ref: model_or_seed} or {source: [source_name, table_name]}.",
            )
        return self

    @property
    def name(self) -> str:
        """Its name in sentences, and in what a vault remembers."""
        return self.ref or ".".join(self.source or ())
