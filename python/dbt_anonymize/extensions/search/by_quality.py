"""Search by quality: for each class size the levels on which models do best, found by training.

Candidates are the nodes of which a model says that they keep what it tells apart (`guided`), and
the one that loses the least by the plain loss. They race for each class size apart: across class
sizes the smallest would win.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module

import numpy as np

from dbt_anonymize.extensions.search.by_rounds import LocalCandidates
from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.exchange import exchanged
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.race import EQUAL, SPLITS, Budget, Candidate, Key, Track
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table

# Class sizes of efforts, from the guaranteed one up.
LADDER = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
# Candidates by the guided measure.
SHORTLIST = 20
# Work for the search of the candidates of one class size: some seconds. Not a time, so that a slow
# machine finds the same.
WORK_OF_SHORTLIST = 1_000_000_000
# Nodes that rounds begin with beside the winner: the best of the shortlist by the guided measure.
FIRST_NODES = 3
# Share of what may be trained that local recodings get, where there are any.
SHARE_OF_ROUNDS = 0.4
# Of that, the share of their race; the rest compares the best of them with the winner once more.
SHARE_OF_RACE = 0.7


@dataclass(frozen=True)
class Raced:
    """Scores of a winner, and of what it is compared with.

    Attributes
    ----------
    score, untouched, zero_rule : float
        Means over the same splits; of errors with a minus sign.
    interval : tuple of float
        Of the winner less the untouched table, at 95 %, corrected for splits that overlap.
    splits : int
        How many.
    """

    score: float
    untouched: float
    zero_rule: float
    interval: tuple[float, float]
    splits: int


@dataclass(frozen=True)
class Races:
    """Winners by required class size, from the smallest up, and what it took.

    ``rounds`` are the levels of each round of a winner; none where all records have the same.
    """

    points: tuple[tuple[int, CheckedNode], ...]
    raced: tuple[Raced, ...]
    trained: int
    is_complete: bool
    rounds: tuple[tuple[Node, ...], ...] = ()


def ladder(smallest: int, length: int) -> list[int]:
    """Return class sizes from the guaranteed one up.

    Examples
    --------
    >>> ladder(3, 4), ladder(5, 2)
    ([3, 5, 10, 20], [5, 10])
    """
    return [smallest, *(k for k in LADDER if k > smallest)][:length]


class QualitySearch:
    """Race the candidates of one class size after the other, the largest first.

    The winner of a larger class size is a candidate for all smaller ones: where nothing is gained
    by smaller classes, they are no effort.
    """

    def __init__(
        self,
        table: Table,
        guarantees: Guarantees,
        suppression_limit: Decimal,
        *,
        track: Track,
        budget: Budget,
        shortlist_work: int = WORK_OF_SHORTLIST,
        shortlist: int = SHORTLIST,
        is_local: bool = False,
    ):
        self._shortlist = shortlist
        self._shortlist_work = shortlist_work
        self._track = track
        self._budget = budget
        self._guarantees = guarantees
        self._lattice = Lattice.of(table)
        guided, self._lossy = (
            Checker(
                *(table, guarantees, measure, suppression_limit, self._lattice.lowest),
                must_release=True,
            )
            for measure in (Guided(), Loss())
        )
        self.candidates = Candidates(guided, self._lattice, track.rows)
        self.local = LocalCandidates(table, guarantees, track.rows) if is_local else None
        self._is_complete = True
        self._of_size: dict[int, list[Candidate]] = {}
        self._least_losses: dict[int, Candidate | None] = {}
        self.winners: list[Candidate] = []

    def run(self, sizes: Sequence[int]) -> Races:
        """Return the winners of all class sizes that a node reaches which tells something."""
        winners: list[Candidate] = []
        chosen: list[Candidate] = []
        for place, k in enumerate(sorted(set(sizes), reverse=True)):
            self._track.progress.begin(k)
            part = self._budget.share(1.0 / (len(set(sizes)) - place))
            of_nodes = part if self.local is None else part.share(1.0 - SHARE_OF_ROUNDS)
            winner = self._winner(k, winners, of_nodes)
            self._budget.pay(of_nodes)
            if winner is not None:
                winners.append(winner)
                chosen.append(self._with_rounds(winner, k, chosen, part, of_nodes))
        self.winners = self._without_doubles(chosen)
        return self._races()

    def exchange(self, budget: Budget) -> Races:
        """Return the winners after exchanges of columns, one class size after the other."""
        after = exchanged(self._track, self.candidates, self.winners, budget)
        self.winners = self._without_doubles(after)
        return self._races()

    def _races(self) -> Races:
        raced = tuple(self._raced(self.winners)) if self.winners else ()
        points = tuple((one.required, one.checked) for one in self.winners)
        rounds = tuple(one.rounds for one in self.winners)
        return Races(points, raced, self._budget.trained, self._is_complete, rounds)

    def _with_rounds(
        self,
        winner: Candidate,
        k: int,
        chosen: Sequence[Candidate],
        part: Budget,
        of_nodes: Budget,
    ) -> Candidate:
        """Return the best local recoding if it is better than the best node, else that."""
        if self.local is None:
            return winner
        part.pay(of_nodes)
        budget = part.share(1.0)
        nodes = [one.checked.node for one in self.raced(k)[: 1 + FIRST_NODES]]
        if (least_loss := self.of_least_loss(k)) is not None:
            nodes.append(least_loss.checked.node)
        nodes += self.local.first_nodes(k, self._shortlist_work)
        local = [one for one in chosen if one.rounds] + self.local.of(dict.fromkeys(nodes), k)
        local.sort(key=lambda one: one.checked.loss)
        of_race = budget.share(SHARE_OF_RACE)
        self._track.race([winner, *local], of_race, {winner.key})
        budget.pay(of_race)
        best = self._best_rounds(local, winner)
        gain = None if best is None else self._track.gain(best, winner, budget)
        self._budget.pay(budget)
        self._is_complete = self._is_complete and not budget.is_spent
        return best if best is not None and gain is not None and gain > EQUAL else winner

    def _best_rounds(self, local: Sequence[Candidate], winner: Candidate) -> Candidate | None:
        """Return the best of the local recodings that raced to the end and are better."""
        last = max(map(self._track.splits, local), default=0)
        better = [
            one
            for one in local
            if self._track.splits(one) == last
            and (self._track.difference(one, winner) or 0.0) > EQUAL
        ]
        return self._track.preferred(better) if better else None

    def _without_doubles(self, winners: Sequence[Candidate]) -> list[Candidate]:
        """Return winners from the smallest class size up, each once, for the largest that it keeps.

        What won a race of smaller classes may have larger ones, and then counts among those.
        """
        found: dict[Key, Candidate] = {}
        for one in winners:
            able = [other for other in winners if other.checked.k >= one.required]
            if not one.rounds:
                # Rounds of larger classes raced against it already.
                able = [other for other in able if not other.rounds]
            best = self._track.preferred([one, *able])
            found.setdefault(best.key, replace(best, required=max(one.required, best.required)))
        return sorted(found.values(), key=lambda one: one.required)

    def raced(self, k: int) -> Sequence[Candidate]:
        """Return the candidates of a class size, the winner first; none where nothing raced."""
        return self._of_size.get(k, [])

    def loss(self, candidate: Candidate) -> float:
        """Return the plain loss of a candidate, which knows no target."""
        return self._lossy.check(candidate.checked.node, candidate.required).result.loss

    def scored(self, candidate: Candidate) -> Raced:
        """Return the scores of a candidate, and of what it is compared with."""
        (scores,) = self._raced([candidate])
        return scores

    def of_least_loss(self, k: int) -> Candidate | None:
        """Return the node of a class size that loses the least, chosen without the target."""
        if k not in self._least_losses:
            nodes = self._best(self._lossy, k, 1)
            found = next((self.candidates.of(node, k) for node in nodes), None)
            self._least_losses[k] = found
        return self._least_losses[k]

    def _winner(self, k: int, winners: Sequence[Candidate], budget: Budget) -> Candidate | None:
        least_loss = self.of_least_loss(k)
        candidates = self._candidates(k, [*winners, *([least_loss] if least_loss else [])])
        if not candidates:
            return None
        stay = {one.key for one in [*winners, least_loss] if one is not None}
        winner = self._track.race(candidates, budget, stay)
        known = {one.key for one in candidates}
        around = [one for one in self.candidates.around(winner) if one.key not in known]
        if around and not budget.is_spent:
            stay |= {winner.key}
            others = [one for one in candidates if one.key in stay]
            winner = self._track.race([*others, *around], budget, stay)
        # The winner is the first, so that the others are compared with it.
        self._of_size[k] = [winner, *(one for one in [*candidates, *around] if one is not winner)]
        self._is_complete = self._is_complete and not budget.is_spent
        return winner

    def _candidates(self, k: int, others: Sequence[Candidate]) -> list[Candidate]:
        """Return the best by the guided measure and others, the most promising first."""
        nodes = self._best(self.candidates.checker, k, self._shortlist)
        nodes += [one.checked.node for one in others]
        found = [*others, *(self.candidates.of(node, k) for node in dict.fromkeys(nodes))]
        known = {one.key: one for one in reversed(found) if one is not None}
        return sorted(known.values(), key=lambda one: one.checked.loss)

    def _best(self, checker: Checker, k: int, count: int) -> list[Node]:
        clock, work = Clock(None, None), self._shortlist_work
        return [one.node for one in best_nodes(checker, self._lattice, k, clock, count, work=work)]

    def _raced(self, winners: Sequence[Candidate]) -> Iterator[Raced]:
        scored = [self._track.scores.get(winner.key, {}) for winner in winners]
        most = max((len([*own]) for own in scored), default=0)
        untouched, zero_rule = self._track.baselines(range(min(max(most, 1), SPLITS)))
        for own in scored:
            splits = sorted(split for split in own if split < len(untouched))
            scores = np.array([own[split] for split in splits])
            raw = np.array([untouched[split] for split in splits])
            yield Raced(
                float(np.mean(scores)) if splits else np.nan,
                float(np.mean(raw)) if splits else float(np.mean(untouched)),
                float(np.mean([zero_rule[split] for split in splits] or zero_rule)),
                corrected_interval(scores - raw, self._track.test_share),
                len(splits),
            )


def corrected_interval(
    differences: np.ndarray, test_share: float, chance: float = 0.025
) -> tuple[float, float]:
    """Return the interval of a mean over splits of the same records; NaN of fewer than two.

    ``chance`` is the probability of a mean below it, and of one above.

    References
    ----------
    .. [1] Nadeau and Bengio 2003: training sets overlap, so the variance is larger.
    """
    count = len(differences)
    if count < 2:
        return np.nan, np.nan
    quantile = import_module("scipy.special").stdtrit  # imported here: few commands need it
    variance = float(np.var(differences, ddof=1)) * (1 / count + test_share / (1 - test_share))
    half = float(quantile(count - 1, 1.0 - chance)) * variance**0.5
    mean = float(np.mean(differences))
    return mean - half, mean + half
