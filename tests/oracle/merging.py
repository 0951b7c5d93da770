"""Merging of groups in plain Python (Soria-Comas et al. 2015, algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.oracle.grouping import Row, Value, center, distance

# A record: its quasi-identifiers and its sensitive value.
Member = tuple[Row, str]
Group = list[Member]


def merged(
    groups: Sequence[Group], order: Sequence[Sequence[Value]], breaks: Callable[[Group], bool]
) -> list[Group]:
    """Return groups of which none breaks a guarantee, or one of all; ``groups`` are in order."""
    found = [list(group) for group in groups]
    while len(found) > 1 and any(map(breaks, found)):
        weakest = min(filter(breaks, found), key=len)
        place = next(i for i, group in enumerate(found) if group is weakest)
        others = [i for i in range(len(found)) if i != place]

        def apart(other: int, from_: Group = weakest) -> float:
            return distance(*(center([r for r, _ in g], order) for g in (from_, found[other])))

        first, second = sorted((place, min(others, key=apart)))
        found[first] = found[first] + found.pop(second)
    return found
