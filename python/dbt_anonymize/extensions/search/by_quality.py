"""Search by quality: for each class size the levels on which models do best, found by training.

Candidates are the nodes that keep most of what models tell apart (`guided`), and the node of least
loss. Each class size has a race of its own: across class sizes the smallest would win.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import import_module

import numpy as np

from dbt_anonymize.extensions.search.by_rounds import LocalCandidates
from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.exchange import exchange_columns
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.local_recoding import measure_rounds
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.race import EQUAL, SPLITS, Budget, Candidate, Key, Track
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table

# Class sizes of efforts, from the guaranteed one up.
LADDER = (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
# Candidates by the guided measure.
SHORTLIST = 20
# Work to search the candidates of one class size: some seconds. Not a time, so that slow machines
# find the same candidates.
WORK_OF_SHORTLIST = 1_000_000_000
# First nodes of local recodings beside the winner: the best of the shortlist.
FIRST_NODES = 3
# Share of the training budget for local recodings, if there are any.
SHARE_OF_ROUNDS = 0.4
# Of that, the share of their race; the rest compares the best of them with the winner again.
SHARE_OF_RACE = 0.7


@dataclass(frozen=True)
class WinnerScores:
    """Scores of a winner, of the untouched table and of the zero rule.

    Attributes
    ----------
    score, untouched, zero_rule : float
        Means over the same splits; errors are negated.
    interval : tuple of float
        95 % interval of winner less untouched table, corrected for overlapping splits.
    splits : int
        Number of splits.
    """

    score: float
    untouched: float
    zero_rule: float
    interval: tuple[float, float]
    splits: int


@dataclass(frozen=True)
class Races:
    """Winners by required class size, in ascending order, and the number of trained models.

    ``rounds`` are the levels of each round of a winner; empty for full-domain recoding. ``details``
    are the remaining shares of the detail of quasi-identifiers, 1 - loss.
    """

    points: tuple[tuple[int, CheckedNode], ...]
    raced: tuple[WinnerScores, ...]
    trained: int
    is_complete: bool
    rounds: tuple[tuple[Node, ...], ...] = ()
    details: tuple[float, ...] = ()


def ladder(smallest: int, length: int) -> list[int]:
    """Return ``length`` class sizes from the guaranteed one up.

    Examples
    --------
    >>> ladder(3, 4), ladder(5, 2)
    ([3, 5, 10, 20], [5, 10])
    """
    return [smallest, *(k for k in LADDER if k > smallest)][:length]


class QualitySearch:
    """Race the candidates of one class size after the other, the largest first.

    The winner of a larger class size is a candidate for all smaller ones. ``winners`` are distinct:
    smaller classes that gain neither quality nor detail are no effort.
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
        guided, self._by_loss = (
            Checker(table, guarantees, measure, suppression_limit, must_release=True)
            for measure in (Guided(), Loss())
        )
        self.candidates = Candidates(guided, self._lattice, track.rows)
        self.local = LocalCandidates(table, guarantees, track.rows) if is_local else None
        self._is_complete = True
        self._raced_by_size: dict[int, list[Candidate]] = {}
        self._least_losses: dict[int, Candidate | None] = {}
        self.winner_by_size: dict[int, Candidate] = {}
        self.winners: list[Candidate] = []

    def run(self, sizes: Sequence[int]) -> Races:
        """Return the winners of all class sizes that an informative node reaches."""
        winners: list[Candidate] = []
        with_rounds: dict[int, Candidate] = {}
        for place, k in enumerate(sorted(set(sizes), reverse=True)):
            self._track.progress.begin(k)
            budget = self._budget.share(1.0 / (len(set(sizes)) - place))
            nodes_budget = budget if self.local is None else budget.share(1.0 - SHARE_OF_ROUNDS)
            winner = self._winner(k, winners, nodes_budget)
            self._budget.pay(nodes_budget)
            if winner is not None:
                winners.append(winner)
                chosen = [*with_rounds.values()]
                with_rounds[k] = self._with_rounds(winner, k, chosen, budget, nodes_budget)
        return self.settle(with_rounds)

    def exchange(self, budget: Budget) -> Races:
        """Return the winners after exchanges of columns in each class size."""
        winners = {winner.key: winner for winner in self.winner_by_size.values()}
        after = exchange_columns(self._track, self.candidates, [*winners.values()], budget)
        exchanged = dict(zip(winners, after, strict=True))
        return self.settle({k: exchanged[one.key] for k, one in self.winner_by_size.items()})

    def settle(self, winner_by_size: Mapping[int, Candidate]) -> Races:
        """Take other winners by class size, and return them."""
        self.winner_by_size = dict(winner_by_size)
        self.winners = self._deduplicated()
        return self._races()

    def _races(self) -> Races:
        raced = tuple(self._winner_scores(self.winners)) if self.winners else ()
        points = tuple((winner.required, winner.checked) for winner in self.winners)
        rounds = tuple(winner.rounds for winner in self.winners)
        details = tuple(1.0 - self.loss(winner) for winner in self.winners)
        return Races(points, raced, self._budget.trained, self._is_complete, rounds, details)

    def _with_rounds(
        self,
        winner: Candidate,
        k: int,
        chosen: Sequence[Candidate],
        part: Budget,
        nodes_budget: Budget,
    ) -> Candidate:
        """Return the better of the best local recoding and the best node."""
        if self.local is None:
            return winner
        part.pay(nodes_budget)
        budget = part.share(1.0)
        nodes = [candidate.checked.node for candidate in self.raced(k)[: 1 + FIRST_NODES]]
        if (least_loss := self.least_loss_candidate(k)) is not None:
            nodes.append(least_loss.checked.node)
        nodes += self.local.first_nodes(k, self._shortlist_work)
        local = [candidate for candidate in chosen if candidate.rounds] + self.local.of(
            dict.fromkeys(nodes), k
        )
        local.sort(key=lambda candidate: candidate.checked.loss)
        race_budget = budget.share(SHARE_OF_RACE)
        self._track.race([winner, *local], race_budget, {winner.key})
        budget.pay(race_budget)
        best = self._best_rounds(local, winner)
        gain = None if best is None else self._track.gain(best, winner, budget)
        self._budget.pay(budget)
        self._is_complete = self._is_complete and not budget.is_spent
        return best if best is not None and gain is not None and gain > EQUAL else winner

    def _best_rounds(self, local: Sequence[Candidate], winner: Candidate) -> Candidate | None:
        """Return the best local recoding that raced to the end and beats the winner."""
        last = max(map(self._track.splits, local), default=0)
        better = [
            candidate
            for candidate in local
            if self._track.splits(candidate) == last
            and (self._track.difference(candidate, winner) or 0.0) > EQUAL
        ]
        return self._track.preferred(better) if better else None

    def _deduplicated(self) -> list[Candidate]:
        """Return distinct winners by class size, each for the largest class size that it keeps.

        A winner of larger classes takes the place of one on which models do no better if it keeps
        at least as much detail.
        """
        by_key: dict[Key, Candidate] = {}
        winners = self.winner_by_size
        losses = {k: self.loss(winner) for k, winner in winners.items()}
        for k, winner in winners.items():
            larger = {size: other for size, other in winners.items() if other.checked.k >= k}
            if not winner.rounds:
                # Rounds of larger classes raced against it already.
                larger = {size: other for size, other in larger.items() if not other.rounds}
            as_detailed = [other for size, other in larger.items() if losses[size] <= losses[k]]
            best = self._track.preferred([winner, *as_detailed])
            by_key.setdefault(best.key, replace(best, required=max(k, best.required)))
        return sorted(by_key.values(), key=lambda winner: winner.required)

    def raced(self, k: int) -> Sequence[Candidate]:
        """Return the candidates of the race of a class size, the winner first."""
        return self._raced_by_size.get(k, [])

    def loss(self, candidate: Candidate) -> float:
        """Return the loss of a candidate by the measure loss, which reads no target."""
        if candidate.rounds:
            guarantees = replace(self._guarantees, min_class_size=candidate.required)
            table = self.candidates.checker.table
            _, loss = measure_rounds(table, guarantees, Loss(), candidate.rounds)
            return np.nan if loss is None else loss
        return self._by_loss.check(candidate.checked.node, candidate.required).result.loss

    def finer_nodes(self, candidate: Candidate) -> list[Node]:
        """Return nodes of ever less loss, each one level of a column finer than the one before.

        Of the feasible ones each is that of least loss.
        """
        node, least, nodes = candidate.checked.node, self.loss(candidate), list[Node]()
        while True:
            checks = [
                self._by_loss.check(finer, candidate.required).result
                for finer in self._lattice.just_finer(node)
            ]
            losses = {check.node: check.loss for check in checks if check.is_feasible}
            node = min(losses, key=losses.__getitem__, default=node)
            if losses.get(node, least) >= least:
                return nodes
            least = losses[node]
            nodes.append(node)

    def scored(self, candidate: Candidate) -> WinnerScores:
        """Return the scores of a candidate, of the untouched table and of the zero rule."""
        (scores,) = self._winner_scores([candidate])
        return scores

    def least_loss_candidate(self, k: int) -> Candidate | None:
        """Return the node of least loss of a class size, chosen without the target."""
        if k not in self._least_losses:
            nodes = self._best(self._by_loss, k, 1)
            candidate = next((self.candidates.of(node, k) for node in nodes), None)
            self._least_losses[k] = candidate
        return self._least_losses[k]

    def _winner(self, k: int, winners: Sequence[Candidate], budget: Budget) -> Candidate | None:
        least_loss = self.least_loss_candidate(k)
        candidates = self._candidates(k, [*winners, *([least_loss] if least_loss else [])])
        if not candidates:
            return None
        stay = {candidate.key for candidate in [*winners, least_loss] if candidate is not None}
        winner = self._track.race(candidates, budget, stay)
        keys = {candidate.key for candidate in candidates}
        around = [
            candidate for candidate in self.candidates.around(winner) if candidate.key not in keys
        ]
        if around and not budget.is_spent:
            stay |= {winner.key}
            others = [candidate for candidate in candidates if candidate.key in stay]
            winner = self._track.race([*others, *around], budget, stay)
        # The winner comes first.
        self._raced_by_size[k] = [
            winner,
            *(candidate for candidate in [*candidates, *around] if candidate is not winner),
        ]
        self._is_complete = self._is_complete and not budget.is_spent
        return winner

    def _candidates(self, k: int, others: Sequence[Candidate]) -> list[Candidate]:
        """Return the shortlist and ``others``, the most promising first."""
        nodes = self._best(self.candidates.checker, k, self._shortlist)
        nodes += [candidate.checked.node for candidate in others]
        candidates = [*others, *(self.candidates.of(node, k) for node in dict.fromkeys(nodes))]
        by_key = {
            candidate.key: candidate for candidate in reversed(candidates) if candidate is not None
        }
        return sorted(by_key.values(), key=lambda candidate: candidate.checked.loss)

    def _best(self, checker: Checker, k: int, count: int) -> list[Node]:
        clock, work = Clock(), self._shortlist_work
        return [
            node.node for node in best_nodes(checker, self._lattice, k, clock, count, work=work)
        ]

    def _winner_scores(self, winners: Sequence[Candidate]) -> Iterator[WinnerScores]:
        scores_of_winners = [self._track.scores.get(winner.key, {}) for winner in winners]
        longest = max(map(len, scores_of_winners), default=0)
        untouched, zero_rule = self._track.baselines(range(min(max(longest, 1), SPLITS)))
        for scores_of_winner in scores_of_winners:
            splits = sorted(split for split in scores_of_winner if split < len(untouched))
            scores = np.array([scores_of_winner[split] for split in splits])
            untouched_scores = np.array([untouched[split] for split in splits])
            yield WinnerScores(
                float(np.mean(scores)) if splits else np.nan,
                float(np.mean(untouched_scores)) if splits else float(np.mean(untouched)),
                float(np.mean([zero_rule[split] for split in splits] or zero_rule)),
                corrected_interval(scores - untouched_scores, self._track.test_share),
                len(splits),
            )


def corrected_interval(
    differences: np.ndarray, test_share: float, chance: float = 0.025
) -> tuple[float, float]:
    """Return the interval of a mean over splits of the same records; NaN for a single split.

    ``chance`` is the probability of a mean below it, and of one above it.

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
