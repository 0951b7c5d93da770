"""Chosen candidates after exchanges of columns, and with the detail that classes leave room for."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.detail import give_back
from dbt_anonymize.extensions.search.exchange import exchange_columns
from dbt_anonymize.extensions.search.race import SPLITS, Budget, Candidate, Track
from dbt_anonymize.extensions.trial.choice import Choice

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
