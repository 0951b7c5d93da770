"""Joined knowledge by its definition: each multiset of a subject's records is sought in all."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Subject:
    """A person: her own values, her linked records, and each sensitive value that is told of her.

    Records are of any of the tables; a sensitive value says which column it is of.
    """

    own: Hashable
    records: list[Hashable] = field(default_factory=list)
    sensitive: list[tuple[str, Hashable]] = field(default_factory=list)


def found_by(
    subjects: list[Subject], known: int | None, k: int, least_values: int | None = None
) -> tuple[set[int], set[int]]:
    """Return whom somebody finds who knows a subject's own values and so many records, or fewer.

    Parameters
    ----------
    subjects : list of Subject
        Everybody in the release.
    known : int, optional
        Most records that are known; None for all of them, and that there are no others.
    k : int
        Subjects who must match.
    least_values : int, optional
        l: no sensitive value is of more than a share 1/l of those who match.

    Returns
    -------
    tuple of set of int
        Places of the subjects who match something with fewer than k, and of those who match
        something with at least k of whom a value is told.
    """
    rare, told = set(), set()
    for place, subject in enumerate(subjects):
        for combination in _combinations(subject, known):
            matching = [one for one in subjects if _matches(one, subject.own, combination, known)]
            if len(matching) < k:
                rare.add(place)
            elif least_values and _most_common(matching) * least_values > len(matching):
                told.add(place)
    return rare, told


def _combinations(subject: Subject, known: int | None) -> Iterator[Counter[Hashable]]:
    if known is None:
        yield Counter(subject.records)
        return
    for number in range(known + 1):
        yield from map(Counter, itertools.combinations(subject.records, number))


def _matches(
    one: Subject, own: Hashable, combination: Counter[Hashable], known: int | None
) -> bool:
    held = Counter(one.records)
    return one.own == own and (held == combination if known is None else combination <= held)


def _most_common(subjects: Iterable[Subject]) -> int:
    """Return how many subjects share the value that most of them have."""
    values = Counter(value for one in subjects for value in {*one.sensitive})
    return max(values.values(), default=0)
