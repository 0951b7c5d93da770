"""Relations that tell more of an anonymization, and that its choice can do without."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

Detail = Literal[
    "alpha_ranges",
    "calibration",
    "confusion",
    "curves",
    "quasi_identifier_risk",
    "risk_profile",
]
Details = Literal["all"] | Annotated[tuple[Detail, ...], Field(strict=False)]
DETAILS: tuple[Detail, ...] = get_args(Detail)
# They come from the predicted probabilities of classes.
OF_CLASSES = frozenset({"calibration", "confusion", "curves"})


def chosen_details(details: Details) -> frozenset[str]:
    """Return the names of the details of a spec.

    Examples
    --------
    >>> chosen_details("all") == set(DETAILS), sorted(chosen_details(("curves",)))
    (True, ['curves'])
    """
    return frozenset(DETAILS if details == "all" else details)
