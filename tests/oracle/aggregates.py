"""Aggregates that classes show for labels, once more, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.oracle.grouping import reachable


@dataclass(frozen=True)
class Member:
    """A record of a class: who holds it, and a value; None is NULL."""

    holder: Hashable
    value: Fraction | str | None


def aggregate(
    members: Sequence[Member],
    show: str,
    bounds: tuple[int, int] = (0, 0),
    p_percent: int = 10,
) -> Fraction | str | None:
    """Return the unrounded aggregate of a class, or None where the label is shown.

    Somebody who knows all records of one holder must not know too much of the others.
    """
    if any(member.value is None for member in members):
        return None
    attackers = {member.holder for member in members}
    if show == "mode":
        return _mode(members, attackers)
    values = sorted(Fraction(member.value or 0) for member in members)
    least = Fraction(p_percent, 100) * (bounds[1] - bounds[0])
    lower, upper = reachable(values, *bounds)
    center = values[(len(values) - 1) // 2]
    if show == "mean":
        center = sum(values, Fraction(0)) / len(values)
    elif min(center - lower, upper - center) < least:
        return None
    for attacker in attackers:
        others = [Fraction(m.value or 0) for m in members if m.holder != attacker]
        if len(others) < 2:
            return None
        if show == "mean" and (
            sum(value - lower for value in others) < least
            or sum(upper - value for value in others) < least
        ):
            return None
    return center


def _mode(members: Sequence[Member], attackers: set[Hashable]) -> str | None:
    for attacker in attackers:
        if len({member.value for member in members if member.holder != attacker}) < 2:
            return None
    counts = Counter(str(member.value) for member in members)
    return min(counts, key=lambda value: (-counts[value], value.encode()))
