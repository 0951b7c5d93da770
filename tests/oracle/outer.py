"""The outer hold-out from its definition: who is outer, and how sure a score on them is."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np


def is_outer(person: str, share: float, random_state: int) -> bool:
    """Tell whether a subject, as text, is outer."""
    draw = hashlib.md5(f"outer {random_state} {person}".encode(), usedforsecurity=False)
    return int.from_bytes(draw.digest()[:4]) < int(share * 2**32)


def interval(
    score: Callable[..., float],
    subjects: Sequence[int],
    *,
    resamples: int,
    confidence: float,
    random_state: int,
) -> tuple[float, float]:
    """Return the percentile interval of a score of positions, over resamples of their subjects.

    Subjects are drawn in ascending order of their codes.
    """
    records = defaultdict(list)
    for position, subject in enumerate(subjects):
        records[subject].append(position)
    people = sorted(records)
    draws = np.random.default_rng([random_state, 0])
    scores = []
    for _ in range(resamples):
        drawn = draws.integers(len(people), size=len(people)).tolist()
        scores.append(score([position for at in drawn for position in records[people[at]]]))
    ordered = sorted(scores)
    tail = (1 - confidence) / 2
    low, high = (_quantile(ordered, q) for q in (tail, 1 - tail))
    return low, high


def _quantile(ordered: Sequence[float], q: float) -> float:
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
