"""Masks: how a kept column is coarsened or hidden where it is released."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dbt_anonymize.validation import Strict, rule_error

Number = int | float
# Their values keep the meaning of the source, so models may train on them.
NUMERIC = frozenset({"round", "top", "bottom", "truncate", "shift_days"})
# Masks that may be combined; every other mask stands alone.
TOGETHER = (frozenset({"round", "top", "bottom"}), frozenset({"shift_days", "truncate"}))


class Mask(Strict):
    """One mask; NULL stays NULL except under ``constant``.

    Examples
    --------
    >>> Mask(round=100, top=150000).parts
    {'round': 100, 'top': 150000}
    """

    round: Annotated[Number, Field(gt=0)] | None = None
    """Round to the nearest multiple of this number, halves up."""
    top: Number | None = None
    """Largest number that is shown; applied before rounding."""
    bottom: Number | None = None
    """Smallest number that is shown; applied before rounding."""
    truncate: Literal["year", "quarter", "month", "week", "day", "hour"] | None = None
    """Set dates to the start of this unit."""
    shift_days: Annotated[int, Field(ge=1, le=3650)] | None = None
    """Move dates by up to this many days, one number for each subject, before truncating."""
    keyed_hash: Literal[True] | None = None
    """Hash values under a key that stays in the vault."""
    email: Literal["domain"] | None = None
    """Show only the domain of an e-mail address."""
    phone: Annotated[int, Field(ge=1, le=4)] | None = None
    """Show only this many last digits."""
    constant: int | float | str | None = None
    """Show one value for all."""

    @model_validator(mode="after")
    def _is_one_mask(self) -> Mask:
        kinds = frozenset(self.parts)
        if not kinds or (len(kinds) > 1 and not any(kinds <= group for group in TOGETHER)):
            raise rule_error(
                "must be one mask; only round, top and bottom, or shift_days and truncate, stand "
                "together",
                f"Write one of {', '.join(type(self).model_fields)}.",
            )
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            raise rule_error("must have bottom < top", "Exchange them.")
        return self

    @property
    def has_key(self) -> bool:
        """Tell whether the mask needs a key in the vault."""
        return self.shift_days is not None or self.keyed_hash is not None

    @property
    def parts(self) -> dict[str, Number | str]:
        """Declared parameters, by kind."""
        return self.model_dump(exclude_none=True)

    def __str__(self) -> str:
        """Return the declared parameters as text."""
        return ", ".join(f"{kind} {value}" for kind, value in self.parts.items())


def check_mask(role: str, mask: Mask | None) -> None:
    """Raise the error of a forbidden or a missing mask."""
    if role == "masked" and mask is None:
        raise rule_error(
            "must have a mask: of a masked column nothing else is released",
            "Add mask: {...}, or make the role identifier (vault only) or dropped (nowhere).",
        )
    if mask is None or role in {"masked", "insensitive"}:
        return
    reason, remedy = {
        "sensitive": (
            "guarantees and attacks are about the values that are released",
            "Round or cap it in a model before the source.",
        ),
        "quasi_identifier": ("a quasi-identifier is released generalized", "Remove it."),
        "identifier": (
            "an identifier is not released",
            "Make the role masked, or remove the mask.",
        ),
    }.get(role, ("the column is not released", "Remove it."))
    raise rule_error(f"must not have a mask: {reason}", remedy)
