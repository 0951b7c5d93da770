"""What a proof found: the one form in which all parts of `verify` report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Check = Literal["provenance", "content", "recomputation", "guarantees", "attacks", "audit"]
CHECKS: tuple[Check, ...] = get_args(Check)
Status = Literal["FAILED", "warning", "measured", "holds"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    check : {"provenance", "content", "recomputation", "guarantees", "attacks", "audit"}
        Which proof it belongs to.
    subject : str
        What was looked at: a released column, a file, a guarantee, an attack.
    holds : bool or None
        Whether the promise holds. None for a number that no declared limit judges.
    message : str
        What came, against which rule and, where it does not hold, what to do. Never a value of a
        person: names of columns and relations, counts and shares only.
    is_warning : bool, default False
        Whether somebody must decide about it, though no declared limit judges it.
    """

    check: Check
    subject: str
    holds: bool | None
    message: str
    is_warning: bool = False

    @property
    def status(self) -> Status:
        """What is said first about it."""
        if self.holds is None:
            return "warning" if self.is_warning else "measured"
        return "holds" if self.holds else "FAILED"
