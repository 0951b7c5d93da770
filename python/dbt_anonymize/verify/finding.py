"""Finding of a check, in which all parts of `verify` report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["FAILED", "warning", "not run", "measured", "holds"]


@dataclass(frozen=True)
class Finding:
    """Result of a check for one subject.

    ``holds`` is None for a number without a declared limit; ``is_warning`` asks somebody to decide
    about it nevertheless. ``message`` states the rule, the observation and, if it does not hold,
    the remedy: names of columns and relations, counts and shares, never a value of a person.
    ``was_run`` is false if the check is impossible here; the message gives the reason.
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
