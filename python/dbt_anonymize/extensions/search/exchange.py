"""Exchanges: a column that an effort gives up takes the place of one that it keeps.

A race moves one column at a time. Where a column that models need is out of reach because another
one, which adds little, fills the classes, only a step of two columns leads there.
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

# Share for exchanges of what is kept for them and for reasons, most of which they train.
SHARE_OF_EXCHANGES = 0.6
# Steps from what won: each must be better by more than what counts as equal.
_STEPS = 3


def exchanged(
    track: Track, candidates: Candidates, chosen: Sequence[Candidate], budget: Budget
) -> list[Candidate]:
    """Return candidates after the exchanges by which models do better, as far as is trained.

    Afterwards no column that would add something is given up while another one could go instead
    without a loss, unless the budget ended first. Local recodings stay as they are.
    """
    after = []
    for place, one in enumerate(chosen):
        part = budget.share(1.0 / (len(chosen) - place))
        after.append(one if one.rounds else _exchanged(track, candidates, one, part))
        budget.pay(part)
    return after


def _exchanged(track: Track, candidates: Candidates, one: Candidate, budget: Budget) -> Candidate:
    for _ in range(_STEPS):
        better = _better(track, candidates, one, budget)
        if better is None:
            return one
        one = better
    return one


def _better(
    track: Track, candidates: Candidates, one: Candidate, budget: Budget
) -> Candidate | None:
    """Return the best exchange if it is better on all splits."""
    finer = candidates.finer(one)
    track.advance([one, *finer.values()], range(FEWEST_SPLITS), budget)
    adding = [axis for axis, other in finer.items() if _gain(track, other, one) >= EQUAL]
    others = [*_exchanges(candidates, one, adding)]
    track.advance(others, range(FEWEST_SPLITS), budget)
    better = [other for other in others if _gain(track, other, one) > EQUAL]
    if not better:
        return None
    best = track.preferred(better)
    # The best of many looks better than it is: the other splits decide.
    track.advance([one, best], range(SPLITS), budget)
    is_tested = min(map(track.splits, (one, best))) == SPLITS
    return best if is_tested and _gain(track, best, one) > EQUAL else None


def _gain(track: Track, one: Candidate, other: Candidate) -> float:
    """Return by how much a candidate does better, 0 where too little is trained."""
    return track.difference(one, other) or 0.0


def _exchanges(
    candidates: Candidates, one: Candidate, adding: Sequence[int]
) -> Iterator[Candidate]:
    """Yield the nodes with one of the columns that add something, alone or for one that is kept."""
    root, highest = candidates.root, candidates.lattice.highest
    gone = [
        axis for axis, level in enumerate(one.checked.node) if level < root[axis] == highest[axis]
    ]
    for new in adding:
        for old in (None, *gone):
            found = _finest(candidates, one, new, old)
            if found is not None:
                yield found


def _finest(candidates: Candidates, one: Candidate, new: int, old: int | None) -> Candidate | None:
    """Return the node with as much of a column as fits, without another one."""
    root, node = candidates.root, list(one.checked.node)
    if old is not None:
        node[old] = root[old]
    finest = None
    for level in reversed(range(candidates.lattice.lowest[new], root[new])):
        node[new] = level
        found = candidates.of(tuple(node), one.required)
        if found is None:
            return finest
        finest = found
    return finest
