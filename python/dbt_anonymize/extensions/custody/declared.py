"""Keys of a spec that are about going back to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BeforeValidator, Field

from dbt_anonymize.validation import BESIDE_MODELS, BESIDE_RESULTS, Strict, one_line

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec

Purpose = Annotated[str, Field(max_length=200), BeforeValidator(one_line)]


class Relinking(Strict):
    """Conditions on which a custodian may re-link released rows to people; without them, never."""

    purposes: Annotated[tuple[Purpose, ...], Field(min_length=1, strict=False)]
    """Purposes of re-linking; every request names one of them."""
    highest_information_loss: Annotated[float, Field(gt=0, le=1)]
    """The release must lose less than this: a value that has lost more says too little about a
    person to act on it.
    """
    k: Annotated[int, Field(ge=2)] | None = None
    """Smallest group that is shown; that of k_anonymity by default."""


class Keys(Strict):
    """Keys of the spec."""

    relinking: Annotated[Relinking | None, BESIDE_RESULTS, BESIDE_MODELS] = None
    """Conditions on which a custodian may re-link released rows to people; without them, never."""


def relinking_of(spec: Spec) -> Relinking | None:
    """Return the conditions that a spec declares."""
    relinking: Relinking | None = cast(Any, spec).relinking
    return relinking
