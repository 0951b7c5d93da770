"""Causes: findings with the same cause are printed once, with their places and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dbt_anonymize.verify.finding import Finding, Status

# Statuses that need action, worst first.
NEEDS_ACTION: tuple[Status, ...] = ("FAILED", "warning", "not run")
# Longest list of causes, and of the places of one cause.
MOST_LINES = 10
_MOST_PLACES = 3
_NUMBER = re.compile(r"\d+([.,:]\d+)*")
_WORD = re.compile(r"[^\s,;:()`]+")


@dataclass(frozen=True)
class Cause:
    """Findings of one check and status whose messages differ in places and numbers only."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding whose message is printed."""
        return self.findings[0]

    @property
    def text(self) -> str:
        """Places, and the message of the first finding, with the remedy.

        Examples
        --------
        >>> one = Finding("content", "people.a", False, "2 values occur in people.a. Drop it.")
        >>> Cause((one,)).text
        'people.a: 2 values occur in people.a. Drop it.'
        >>> Cause((one,) * 5).text
        'people.a, people.a, people.a and 2 more: 2 values occur in people.a. Drop it.'
        """
        places = [finding.subject for finding in self.findings]
        listed = ", ".join(places[:_MOST_PLACES])
        if len(places) > _MOST_PLACES:
            listed += f" and {len(places) - _MOST_PLACES:,} more"
        return f"{listed}: {self.first.message}"


def causes(findings: Iterable[Finding]) -> list[Cause]:
    """Group findings that need action by cause: failures first, then the most frequent cause.

    Examples
    --------
    >>> findings = [
    ...     Finding("content", "people.a", False, "2 values occur in people.a. Drop it."),
    ...     Finding("content", "people.b", True, "none occurs here."),
    ...     Finding("content", "people.c", False, "31 values occur in people.c. Drop it."),
    ... ]
    >>> [[finding.subject for finding in cause.findings] for cause in causes(findings)]
    [['people.a', 'people.c']]
    """
    grouped = dict[tuple[str, ...], list[Finding]]()
    for finding in findings:
        if finding.status in NEEDS_ACTION:
            key = (finding.status, finding.check, _without_place(finding))
            grouped.setdefault(key, []).append(finding)
    return sorted(
        (Cause(tuple(group)) for group in grouped.values()),
        key=lambda cause: (NEEDS_ACTION.index(cause.first.status), -len(cause.findings)),
    )


def _without_place(finding: Finding) -> str:
    """Return a message without its numbers and the words of its place."""
    words = {*_WORD.findall(finding.subject), *finding.subject.split("."), finding.subject}
    message = finding.message
    for word in sorted((word.strip(".") for word in words), key=len, reverse=True):
        if word:
            message = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "_", message)
    return _NUMBER.sub("#", message)
