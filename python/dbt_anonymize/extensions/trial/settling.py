"""Chosen candidates after exchanges of columns, and with the detail that classes leave room for.

The search looks for what models use. Where the class size and the suppression limit allow finer
levels on which models do nearly as well, they are given back: detail remains for other questions.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.exchange import exchange_columns
from dbt_anonymize.extensions.search.race import (
    EQUAL,
    FEWEST_SPLITS,
    SPLITS,
    Budget,
    Candidate,
    Track,
)
from dbt_anonymize.extensions.trial.choice import SHARE_OF_SIZE, Choice

# Shares of the remaining budget for two rounds, and of each for exchanges. Scores change in the
# first, so that others may be chosen in the second; the rest confirms what is chosen.
_ROUNDS = (0.7, 0.8)
_SHARE_OF_EXCHANGES = 0.4


def settle(search: QualitySearch, track: Track, sizes: Sequence[int], budget: Budget) -> Choice:
    """Choose candidates, exchange their columns, give detail back; and choose among the results.

    What is chosen is trained on all splits, and chosen again, as far as the budget goes.
    """
    pools = {k: [*search.raced(k)] for k in sizes}
    settled: list[Candidate] = []
    for share in _ROUNDS:
        choice = Choice(search, pools)
        # The smallest classes leave most room, however much the race has given up there.
        found = [*choice.most_detailed, *(candidate for _, candidate in choice.chosen)]
        chosen = [
            candidate
            for candidate in {id(one): one for one in found}.values()
            if not any(candidate is other for other in settled)
        ]
        part = budget.share(share)
        exchanges_budget = part.share(_SHARE_OF_EXCHANGES)
        exchanged = exchange_columns(track, search.candidates, chosen, exchanges_budget)
        part.pay(exchanges_budget)
        for place, (before, after) in enumerate(zip(chosen, exchanged, strict=True)):
            own_part = part.share(1.0 / (len(chosen) - place))
            results = [after, *give_back(search, track, after, own_part)]
            part.pay(own_part)
            settled += results
            for pool in pools.values():
                for at in [at for at, candidate in enumerate(pool) if candidate is before]:
                    pool[at : at + 1] = results
        budget.pay(part)
    choice = Choice(search, pools, settled)
    while not budget.is_spent:
        waiting = [one for _, one in choice.chosen if track.splits(one) < SPLITS]
        if not waiting:
            break
        track.advance(waiting, range(SPLITS), budget)
        choice = Choice(search, pools, settled)
    return choice


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
