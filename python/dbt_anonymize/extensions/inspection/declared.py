"""Keys of ``quality`` that inspect models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StrictBool

from dbt_anonymize.validation import BESIDE_RESULTS, ColumnName, Level, Strict


def _levels_of_groups(value: object) -> object:
    """Read a list of columns as their raw values, level 0."""
    is_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return dict.fromkeys(value, 0) if isinstance(value, list) and is_list else value


_Groups = Annotated[
    dict[ColumnName, Level],
    Field(min_length=1),
    BeforeValidator(
        _levels_of_groups, json_schema_input_type=list[ColumnName] | dict[ColumnName, Level]
    ),
]


class Keys(Strict):
    """Keys of ``quality``."""

    decision_grid: Annotated[
        Annotated[list[ColumnName], Field(min_length=2, max_length=2)] | None, BESIDE_RESULTS
    ] = None
    """Two numeric features over which the predictions of the first split are reported."""
    importance: Annotated[StrictBool | None, BESIDE_RESULTS] = None
    """Measure permutation importance, which costs predictions for every feature."""
    groups: Annotated[_Groups | None, BESIDE_RESULTS] = None
    """Columns by which quality is reported, with the level at which each is read; a list reads raw
    values.
    """
