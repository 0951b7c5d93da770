"""Definition of information loss in a spec."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dbt_anonymize.validation import ColumnName, Strict


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
