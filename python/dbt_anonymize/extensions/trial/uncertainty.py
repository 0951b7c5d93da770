"""Uncertainty of the scores of a trial, which come from few splits of the same records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dbt_anonymize.extensions.search.by_quality import corrected_interval
from dbt_anonymize.extensions.search.race import SPLITS, Candidate, Track


@dataclass(frozen=True)
class Uncertainty:
    """Half widths of the 95 % intervals of scores over splits; NaN for a single split.

    Attributes
    ----------
    score, untouched : float
        Of an alternative, and of the untouched table on the same splits.
    """

    score: float
    untouched: float


def uncertainty_of(track: Track, candidate: Candidate) -> Uncertainty:
    """Return the uncertainty of the scores of a candidate, as `results` computes it."""
    splits = track.splits(candidate)
    untouched, _ = track.baselines(range(splits))
    scores = _scores(track, candidate, splits)
    return Uncertainty(_half_width(track, scores), _half_width(track, untouched))


def chance_pairs(track: Track, candidates: Sequence[Candidate]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of candidates, by position, whose scores may differ by chance alone.

    The difference is that on their common splits. Without a second one, any may be chance.
    """
    pairs = []
    for (at, one), (other_at, other) in combinations(enumerate(candidates), 2):
        splits = min(track.splits(one), track.splits(other), SPLITS)
        scores, others = (np.array(_scores(track, each, splits)) for each in (one, other))
        lower, upper = corrected_interval(scores - others, track.test_share)
        if not (lower > 0 or upper < 0):
            pairs.append((at, other_at))
    return tuple(pairs)


def _scores(track: Track, candidate: Candidate, splits: int) -> list[float]:
    scores = track.scores.get(candidate.key, {})
    return [scores[split] for split in range(splits)]


def _half_width(track: Track, scores: Sequence[float]) -> float:
    lower, upper = corrected_interval(np.array(scores), track.test_share)
    return (upper - lower) / 2
