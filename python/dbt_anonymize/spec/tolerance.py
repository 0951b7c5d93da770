"""By how much a release may be worse than the one before."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dbt_anonymize.validation import Strict

Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=0)]


class Tolerance(Strict):
    """By how much figures may get worse before `dbt-anonymize diff` fails; others are not judged.

    A figure that is not known on one side breaks its tolerance.
    """

    k: Annotated[int, Field(ge=0)] | None = None
    """How much smaller the smallest class may become."""
    suppressed_share: Share | None = None
    """How much the share of suppressed records may rise; 0.01 is a hundredth of all records."""
    highest_risk: Share | None = None
    """How much the highest prosecutor risk may rise."""
    average_risk: Share | None = None
    """How much the average prosecutor risk may rise."""
    qf: Difference | None = None
    """How much smaller QF may become."""
    qnf: Difference | None = None
    """How much smaller QNF may become."""

    @property
    def declared(self) -> dict[str, float]:
        """The tolerances that are declared, by figure."""
        return {name: float(value) for name, value in self if value is not None}
