"""By how much a release may be worse than the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field

from dbt_anonymize.validation import BESIDE_MODELS, BESIDE_RESULTS, Strict

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec

Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=0)]


class Tolerance(Strict):
    """By how much figures may get worse before `dbt-anonymize diff` fails; others are not judged.

    A figure that is not known on one side breaks its tolerance.
    """

    k: Annotated[int, Field(ge=0)] | None = None
    """Largest decrease of the smallest class."""
    suppressed_share: Share | None = None
    """Largest increase of the share of suppressed records; 0.01 is a hundredth of all records."""
    highest_risk: Share | None = None
    """Largest increase of the highest prosecutor risk."""
    average_risk: Share | None = None
    """Largest increase of the average prosecutor risk."""
    qf: Difference | None = None
    """Largest decrease of QF."""
    qnf: Difference | None = None
    """Largest decrease of QNF."""

    @property
    def declared(self) -> dict[str, float]:
        """The tolerances that are declared, by figure."""
        return {name: float(value) for name, value in self if value is not None}


class Keys(Strict):
    """Keys of the spec."""

    tolerance: Annotated[Tolerance, BESIDE_RESULTS, BESIDE_MODELS] = Tolerance()
    """By how much a release may be worse than the one before; `dbt-anonymize diff` checks it."""


def tolerance_of(spec: Spec) -> Tolerance:
    """Return the tolerances that a spec declares."""
    tolerance: Tolerance = cast(Any, spec).tolerance
    return tolerance
