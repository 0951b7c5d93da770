"""Choice of the alternatives among candidates: more use, balanced, more privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.detail import gain, is_trained, keeps
from dbt_anonymize.extensions.search.race import Candidate, Key

Chosen = TypeVar("Chosen")
# Candidates with the names of alternatives, from weak to strong.
Named = list[tuple[tuple[str, ...], Candidate]]
MORE_USE, BALANCED, MORE_PRIVACY = "more-use", "balanced", "more-privacy"
# Shares of the gain of models that alternatives keep. More use is the candidate of least loss that
# keeps the first; more privacy the largest class size that keeps the last; balanced the largest
# that keeps the middle one, with a loss up to halfway between them, or else the smallest of these.
_SHARE_OF_USE, _SHARE_OF_BALANCE, _SHARE_OF_PRIVACY = 0.95, 0.9, 0.75
SHARES = {MORE_USE: _SHARE_OF_USE, BALANCED: _SHARE_OF_BALANCE, MORE_PRIVACY: _SHARE_OF_PRIVACY}


@dataclass(frozen=True)
class Choice:
    """Choice among candidates by class size, the best first.

    Each alternative is, of the candidates of its class size on which models gain nearly as much as
    on the best, the one of least loss, so that detail remains for other questions. With
    ``settled``, only these are chosen, and none that another one dominates.
    """

    search: QualitySearch
    pools: Mapping[int, Sequence[Candidate]]
    settled: Sequence[Candidate] | None = None

    @cached_property
    def chosen(self) -> Named:
        """The chosen candidates with their names, from weak to strong."""
        sizes = sorted(k for k, pool in self.pools.items() if pool)
        useful = [
            candidate
            for k in sizes
            for candidate in [self._least_loss(k, _SHARE_OF_USE)]
            if candidate
        ]
        more_use = min(useful or self._unsettled(sizes), key=self.search.loss)
        larger = [k for k in sizes if k > more_use.required]
        private = [self._least_loss(k, _SHARE_OF_PRIVACY) for k in larger]
        more_privacy = next(
            (candidate for candidate in reversed(private) if candidate is not None), more_use
        )
        halfway = (self.search.loss(more_use) + self.search.loss(more_privacy)) / 2
        between = [
            candidate
            for k in larger
            for candidate in [self._least_loss(k, _SHARE_OF_BALANCE)]
            if candidate is not None and k <= more_privacy.required
        ]
        balanced = [
            candidate for candidate in between if self.search.loss(candidate) <= halfway
        ] or between[:1]
        chosen = self._ascending(more_use, (balanced or [more_use])[-1], more_privacy)
        return deduplicated(chosen, lambda candidate: candidate.key)

    def _ascending(
        self, more_use: Candidate, balanced: Candidate, more_privacy: Candidate
    ) -> dict[str, Candidate]:
        """Return the alternatives by name, so that none has smaller classes than a weaker one.

        Classes may be larger than an effort requires.
        """
        if balanced.checked.k > more_privacy.checked.k:
            if self._keeps(more_privacy, _SHARE_OF_BALANCE):
                balanced = more_privacy
            else:
                more_privacy = balanced
        if more_use.checked.k > balanced.checked.k:
            balanced = more_use
        if balanced.checked.k > more_privacy.checked.k:
            more_privacy = balanced
        return {MORE_USE: more_use, BALANCED: balanced, MORE_PRIVACY: more_privacy}

    @property
    def most_detailed(self) -> list[Candidate]:
        """The candidate of least loss of the smallest class size, if models keep enough on one."""
        found = self._least_loss(min(k for k, pool in self.pools.items() if pool), _SHARE_OF_USE)
        return [] if found is None else [found]

    def _least_loss(self, k: int, share: float) -> Candidate | None:
        """Return the candidate of least loss that keeps a share of the gain of models."""
        candidates = [
            candidate
            for candidate in self.pools[k]
            if self._is_eligible(candidate) and self._keeps(candidate, share)
        ]
        return min(candidates, key=self.search.loss, default=None)

    def _is_eligible(self, candidate: Candidate) -> bool:
        """Tell whether a candidate is settled, and no other one dominates it."""
        return self.settled is None or (
            any(candidate is other for other in self.settled)
            and not any(self._dominates(other, candidate) for other in self.settled)
        )

    def _dominates(self, other: Candidate, candidate: Candidate) -> bool:
        """Tell whether a candidate is at least as good in everything, and better in something."""
        theirs, ours = (
            (each.checked.k, -self.search.loss(each), self.search.scored(each).score)
            for each in (other, candidate)
        )
        return theirs != ours and all(a >= b for a, b in zip(theirs, ours, strict=True))

    def _unsettled(self, sizes: Sequence[int]) -> Sequence[Candidate]:
        """Return what keeps enough without having been settled, or else the best of a size."""
        raced = replace(self, settled=None)
        found = [raced._least_loss(k, _SHARE_OF_USE) for k in sizes]
        return [one for one in found if one is not None][:1] or self.pools[sizes[0]][:1]

    def _keeps(self, candidate: Candidate, share: float) -> bool:
        """Tell whether models keep a share of their gain on the best candidates."""
        best = self.pools[candidate.required][0]
        return keeps(self.search, candidate, best, share=share, of_gain=self.best_gain)

    @cached_property
    def best_gain(self) -> float:
        """Largest gain of models over the zero rule on any candidate of enough splits."""
        found = [*(self.settled or ()), *(one for pool in self.pools.values() for one in pool)]
        return max(
            (
                gain(self.search, candidate)
                for candidate in found
                if is_trained(self.search, candidate, self.pools[candidate.required][0])
            ),
            default=0.0,
        )


def deduplicated(
    chosen: Mapping[str, Chosen], key: Callable[[Chosen], Key]
) -> list[tuple[tuple[str, ...], Chosen]]:
    """Return distinct choices with their names, each for its largest class size."""
    names: dict[Key, list[str]] = {}
    for name, candidate in chosen.items():
        names.setdefault(key(candidate), []).append(name)
    return [(tuple(same), chosen[same[-1]]) for same in names.values()]
