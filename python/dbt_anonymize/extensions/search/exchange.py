"""Exchanges: a column that an effort gives up replaces one that it keeps.

A race moves one column at a time. If a useless column keeps classes so small that a useful one
does not fit, only a step of two columns helps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.race import (
    EQUAL,
    FEWEST_SPLITS,
    SPLITS,
    Budget,
    Candidate,
    Track,
)

# Share of exchanges in the budget after the races; they train most of what reasons need.
SHARE_OF_EXCHANGES = 0.4
# Most exchanges per winner; each must be better by more than `EQUAL`.
_STEPS = 3


def exchange_columns(
    track: Track, candidates: Candidates, chosen: Sequence[Candidate], budget: Budget
) -> list[Candidate]:
    """Return candidates after all exchanges that improve models, as far as the budget goes.

    Afterwards no candidate gives up a useful column while it could give up another one without a
    loss, unless the budget ended first. Local recodings stay as they are.
    """
    improved = []
    for place, candidate in enumerate(chosen):
        part = budget.share(1.0 / (len(chosen) - place))
        improved.append(
            candidate
            if candidate.rounds
            else _exchange_repeatedly(track, candidates, candidate, part)
        )
        budget.pay(part)
    return improved


def _exchange_repeatedly(
    track: Track, candidates: Candidates, current: Candidate, budget: Budget
) -> Candidate:
    for _ in range(_STEPS):
        better = _best_exchange(track, candidates, current, budget)
        if better is None:
            return current
        current = better
    return current


def _best_exchange(
    track: Track, candidates: Candidates, current: Candidate, budget: Budget
) -> Candidate | None:
    """Return the best exchange if it is better on all splits."""
    finer = candidates.finer(current)
    track.advance([current, *finer.values()], range(FEWEST_SPLITS), budget)
    useful_axes = [
        axis for axis, candidate in finer.items() if _gain(track, candidate, current) >= EQUAL
    ]
    exchanges = [*_exchanges(candidates, current, useful_axes)]
    track.advance(exchanges, range(FEWEST_SPLITS), budget)
    better = [candidate for candidate in exchanges if _gain(track, candidate, current) > EQUAL]
    if not better:
        return None
    best = track.preferred(better)
    # The best of many looks better than it is: further splits decide.
    track.advance([current, best], range(SPLITS), budget)
    is_tested = min(map(track.splits, (current, best))) == SPLITS
    return best if is_tested and _gain(track, best, current) > EQUAL else None


def _gain(track: Track, better: Candidate, reference: Candidate) -> float:
    """Return the difference of scores, 0 where too little is trained."""
    return track.difference(better, reference) or 0.0


def _exchanges(
    candidates: Candidates, current: Candidate, useful_axes: Sequence[int]
) -> Iterator[Candidate]:
    """Yield the candidates with a useful column added, alone or in place of another column."""
    root, highest = candidates.root, candidates.lattice.highest
    removable = [
        axis
        for axis, level in enumerate(current.checked.node)
        if level < root[axis] == highest[axis]
    ]
    for new in useful_axes:
        for old in (None, *removable):
            candidate = _finest(candidates, current, new, old)
            if candidate is not None:
                yield candidate


def _finest(
    candidates: Candidates, current: Candidate, new: int, old: int | None
) -> Candidate | None:
    """Return the candidate with the finest feasible level of ``new``, without column ``old``."""
    root, node = candidates.root, list(current.checked.node)
    if old is not None:
        node[old] = root[old]
    finest = None
    for level in reversed(range(candidates.lattice.lowest[new], root[new])):
        node[new] = level
        candidate = candidates.of(tuple(node), current.required)
        if candidate is None:
            return finest
        finest = candidate
    return finest
