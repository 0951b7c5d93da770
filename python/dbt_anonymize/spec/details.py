"""Optional relations, which the choice of an effort does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from dbt_anonymize.relations import DETAILS
from dbt_anonymize.spec.of_extensions import remedy_of
from dbt_anonymize.spec.problems import did_you_mean, names
from dbt_anonymize.validation import rule_error

if TYPE_CHECKING or not DETAILS:  # noqa: SIM108 (mypy knows no literal of a variable)
    Detail = str
else:
    Detail = Literal[DETAILS]


def _check_names(value: object) -> object:
    """Refuse names of no detail, before pydantic reports both branches of the union."""
    if value == "all":
        return value
    wrong = (
        [name for name in value if name not in DETAILS] if isinstance(value, (list, tuple)) else []
    )
    if wrong or not isinstance(value, (list, tuple)):
        remedy = f"Write `details: all`, or some of {names(DETAILS)} as a list."
        if wrong and "all" not in wrong:
            remedy = did_you_mean(wrong[0], DETAILS, remedy)
            remedy = remedy_of(("details", wrong[0]), remedy)
        raise rule_error("must be all, or a list of details", remedy)
    return value


Details = Annotated[
    Literal["all"] | Annotated[tuple[Detail, ...], Field(strict=False)],
    BeforeValidator(_check_names),
]


def chosen_details(details: Details) -> frozenset[str]:
    """Return the names of the details of a spec.

    Examples
    --------
    >>> chosen_details("all") == set(DETAILS), sorted(chosen_details(("curves",)))
    (True, ['curves'])
    """
    return frozenset(DETAILS if details == "all" else details)
