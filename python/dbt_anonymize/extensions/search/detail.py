"""Detail that classes leave room for and models hardly miss.

A race looks for what models use. Where the class size and the suppression limit allow finer levels
on which models do nearly as well, they are given back: detail remains for other questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.race import (
    EQUAL,
    FEWEST_SPLITS,
    SPLITS,
    Budget,
    Candidate,
    Track,
)

# Share of the gain of models on the best levels of a class size that others must keep.
SHARE_OF_SIZE = 0.97
# Share of the budget after exchanges; the rest is for reasons.
SHARE_OF_DETAIL = 0.6


def with_detail(
    search: QualitySearch, track: Track, winners: Mapping[int, Candidate], budget: Budget
) -> dict[int, Candidate]:
    """Return, by class size, the most detailed levels on which models keep nearly all they gain.

    Local recodings stay as they are.
    """
    settled: dict[int, Candidate] = {}
    for place, (k, winner) in enumerate(winners.items()):
        part = budget.share(1.0 / (len(winners) - place))
        if winner.rounds:
            settled[k] = winner
            continue
        start = _least_loss(search, track, [winner, *search.raced(k)], part)
        # A winner of larger classes has more room here.
        own = start if start.required == k else search.candidates.of(start.checked.node, k)
        finer = give_back(search, track, own or start, part)
        settled[k] = _least_loss(search, track, [winner, start, *finer], part)
        budget.pay(part)
    return settled


def _least_loss(
    search: QualitySearch, track: Track, pool: Sequence[Candidate], budget: Budget
) -> Candidate:
    """Return the candidate of least loss on which models keep enough, else the first, the best.

    It is trained on all splits, and chosen again, as far as the budget goes.
    """
    while True:
        kept = [candidate for candidate in pool if keeps(search, candidate, pool[0])]
        chosen = min(kept, key=search.loss, default=pool[0])
        if budget.is_spent or track.splits(chosen) == track.splits(pool[0]) == SPLITS:
            return chosen
        track.advance([pool[0], chosen], range(SPLITS), budget)


def keeps(
    search: QualitySearch,
    candidate: Candidate,
    best: Candidate,
    *,
    share: float = 0.0,
    of_gain: float = 0.0,
) -> bool:
    """Tell whether models keep enough of their gain on the best candidate of its class size.

    They must also keep a ``share`` of another gain. The untouched table sets what is enough where
    it is worse.
    """
    if not is_trained(search, candidate, best):
        return False
    scores = search.scored(candidate)
    own, untouched = scores.score - scores.zero_rule, scores.untouched - scores.zero_rule
    of_best = gain(search, best)
    if untouched > 0:
        of_gain, of_best = min(of_gain, untouched), min(of_best, untouched)
    return own >= max(share * of_gain, SHARE_OF_SIZE * of_best)


def is_trained(search: QualitySearch, candidate: Candidate, best: Candidate) -> bool:
    """Tell whether enough splits of a candidate count, or as many as of the best of its size."""
    return search.scored(candidate).splits >= min(FEWEST_SPLITS, search.scored(best).splits)


def gain(search: QualitySearch, candidate: Candidate) -> float:
    """Return the gain of models over the zero rule, 0 if none was trained."""
    scores = search.scored(candidate)
    return scores.score - scores.zero_rule if scores.splits else 0.0


def give_back(
    search: QualitySearch, track: Track, candidate: Candidate, budget: Budget
) -> list[Candidate]:
    """Return the candidate with all detail that classes leave room for, if models bear it.

    They may lose as much as alternatives may, compared with the best of their class size. Where
    they lose more, half of the steps are tried, and so on.
    """
    nodes = search.finer_nodes(candidate)
    if nodes:
        track.advance([candidate], range(FEWEST_SPLITS), budget)
    scores = search.scored(candidate)
    bearable = max(EQUAL, (1 - SHARE_OF_SIZE) * (scores.score - scores.zero_rule))
    while nodes and not budget.is_spent:
        finer = search.candidates.of(nodes[-1], candidate.required)
        if finer is not None:
            # Most that fail do so early.
            for splits in (FEWEST_SPLITS, SPLITS):
                track.advance([candidate, finer], range(splits), budget)
                difference = track.difference(finer, candidate)
                if difference is None or difference < -bearable:
                    break
            else:
                return [finer]
        del nodes[len(nodes) // 2 :]
    return []
