"""Objective of a search, and the definition of information loss."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dbt_anonymize.information_loss.names import MeasureName
from dbt_anonymize.validation import ColumnName, Level, Strict


class InformationLoss(Strict):
    """Combination of the information losses of the quasi-identifiers."""

    aggregate: Literal["sum", "maximum", "arithmetic_mean", "geometric_mean"] = "geometric_mean"
    """Combination of the losses of the quasi-identifiers."""
    generalization_suppression_factor: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Below 0.5 suppression costs less than generalization, above 0.5 more; at 0.5 both cost what
    they destroy.
    """
    targets: (
        Annotated[dict[ColumnName, Annotated[float, Field(gt=0)]], Field(min_length=1)] | None
    ) = None
    """Weight of each target of the classification metric; by default all that models predict,
    alike.
    """


class Bounds(Strict):
    """Levels of one quasi-identifier that a search may use, both included."""

    lowest: Level = 0
    """Lowest level, included."""
    highest: Level | None = None
    """Highest level, included; that of the hierarchy by default."""


class Search(Strict):
    """Objective of `dbt-anonymize search`."""

    efforts: Annotated[int, Field(ge=1, le=50)] = 5
    """Most efforts that the chain has."""
    measure: MeasureName | None = None
    """Measure of the search: the quality of models that are trained on efforts, by default where
    there is a target, or a measure of information loss, by default loss.
    """
    levels: dict[str, Bounds] = Field(default={})
    """Levels of quasi-identifiers that may be used."""
