"""Finding of a check: the one form in which all parts of `verify` report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["FAILED", "warning", "not run", "measured", "holds"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    ``holds`` is None for a number that no declared limit judges; ``is_warning`` asks somebody to
    decide about it nevertheless. ``message`` says what came, against which rule and, where it does
    not hold, what to do: names of columns and relations, counts and shares, never a value of a
    person. ``was_run`` is false of what cannot be looked at here, and the message says why.
    """

    check: str
    subject: str
    holds: bool | None
    message: str
    is_warning: bool = False
    was_run: bool = True

    @property
    def status(self) -> Status:
        """Status label."""
        if not self.was_run:
            return "not run"
        if self.holds is None:
            return "warning" if self.is_warning else "measured"
        return "holds" if self.holds else "FAILED"
