"""Three alternatives for a release: more use, balanced, more privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.coded_table import CodedTable
from dbt_anonymize.extensions.search.by_quality import LADDER, QualitySearch, WinnerScores
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.evidence import check_learned
from dbt_anonymize.extensions.search.exchange import SHARE_OF_EXCHANGES, exchange_columns
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.predictions import with_predictions
from dbt_anonymize.extensions.search.race import FEWEST_SPLITS, Budget, Candidate, Key, Track
from dbt_anonymize.extensions.search.reasons import Burden, GivenUp, find_reasons
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.search.results import CheckedNode, ProgressCallback
from dbt_anonymize.extensions.search.training import TrainingProgress
from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.spec import Effort, Spec

Chosen = TypeVar("Chosen")
# Candidates with the names of alternatives, from weak to strong.
Named = list[tuple[tuple[str, ...], Candidate]]
MORE_USE, BALANCED, MORE_PRIVACY = "more-use", "balanced", "more-privacy"
# Most class sizes that are tried, and fewest classes of such a size that the table could hold.
_SIZES, _FEWEST_CLASSES = 5, 20
# Work of a search for candidates, of which each class size has two: about a second.
_WORK_OF_SHORTLIST = 150_000_000
# Candidates per class size: few, so that each is trained on several splits within seconds.
_SHORTLIST = 8
# Share of the training budget for exchanges of columns and for reasons.
_SHARE_AFTER_RACES = 0.35
# Shares of the gain of models that alternatives keep. More use is the candidate of least loss that
# keeps the first; more privacy the largest class size that keeps the last; balanced the largest
# that keeps the middle one, with a loss up to halfway between them, or else the smallest of these.
_SHARE_OF_USE, _SHARE_OF_BALANCE, _SHARE_OF_PRIVACY = 0.95, 0.9, 0.75
# Each keeps this share of the gain of the best candidate of its class size.
_SHARE_OF_SIZE = 0.97


@dataclass(frozen=True)
class Alternative:
    """Levels that keep every guarantee, with their cost.

    Attributes
    ----------
    names : tuple of str
        Names of the alternative; several if one is best for more than one.
    required : int
        Class size that its effort declares.
    checked : CheckedNode
        Levels, the class size that they reach, and suppressed records.
    suppressed : array of bool
        Mask of suppressed records of the trial.
    raced : WinnerScores or None
        Scores of models, if any are trained.
    given : mapping of str to GivenUp
        Gains of the columns that it gives up, as far as trained.
    detail : float
        Remaining share of the detail of quasi-identifiers, 1 - loss.
    alike : int
        Released records of the trial in classes with a single value of the sensitive target.
    """

    names: tuple[str, ...]
    required: int
    checked: CheckedNode
    suppressed: np.ndarray
    raced: WinnerScores | None = None
    given: Mapping[str, GivenUp] = field(default_factory=dict)
    detail: float = np.nan
    alike: int = 0

    def effort(self, spec: Spec) -> Effort:
        """Return the effort of a spec."""
        levels = dict(zip(spec.quasi_identifiers, self.checked.node, strict=True))
        return Effort(levels=levels, k=self.required if self.required > spec.largest_k else None)


@dataclass(frozen=True)
class Trial:
    """Distinct alternatives from weak to strong, and the number of trained models.

    ``burdens`` are useless columns, the worst first. ``is_timed``: a time limit ended the training,
    not a number of models.
    """

    alternatives: tuple[Alternative, ...]
    trained: int = 0
    burdens: tuple[Burden, ...] = ()
    is_timed: bool = False


def find_alternatives(
    spec: Spec,
    counted: CodedTable,
    records: Records,
    budget: Budget,
    callback: ProgressCallback | None = None,
) -> Trial:
    """Search the best levels for models at a few class sizes, and choose three of them.

    If no levels are feasible, a `SearchError` names the guarantee that fails.
    """
    table = with_predictions(counted.table, records)
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    progress = TrainingProgress(callback, seconds=budget.seconds, evaluations=budget.evaluations)
    track = Track(records, spec.tests, list(spec.quasi_identifiers), progress)
    races_budget = budget.share(1.0 - _SHARE_AFTER_RACES)
    search = QualitySearch(
        *(table, guarantees, limit),
        track=track,
        budget=races_budget,
        shortlist_work=_WORK_OF_SHORTLIST,
        shortlist=_SHORTLIST,
    )
    sizes = _sizes(guarantees.min_class_size, table.total)
    check_learned(track, search.least_loss_candidate(sizes[0]), races_budget)
    if not search.run(sizes).points:
        raise SearchError(_infeasible(spec, table))
    choice = Choice(search, sizes)
    budget.pay(races_budget)
    exchanges_budget = budget.share(SHARE_OF_EXCHANGES)
    chosen = _exchange_columns(choice.chosen, search, track, exchanges_budget)
    budget.pay(exchanges_budget)
    reasons = find_reasons(track, search.candidates, [candidate for _, candidate in chosen], budget)
    alternatives = tuple(
        Alternative(
            *(
                names,
                candidate.required,
                candidate.checked,
                candidate.suppressed,
                search.scored(candidate),
                given_up,
            ),
            detail=1.0 - search.loss(candidate),
            alike=_homogeneous_records(candidate, records) if spec.target in spec.sensitive else 0,
        )
        for (names, candidate), given_up in zip(chosen, reasons.given, strict=True)
    )
    is_timed = budget.seconds is not None and budget.spent >= budget.seconds
    return Trial(alternatives, budget.trained, reasons.burdens, is_timed)


def _homogeneous_records(candidate: Candidate, records: Records) -> int:
    """Count the released records in equivalence classes with a single class of the target."""
    target = records.problem.targets[0]
    if target.task != "classification" or target.codes is None:
        return 0
    codes, classes = target.codes[~candidate.suppressed], candidate.classes[~candidate.suppressed]
    pairs = np.unique(np.column_stack([classes, codes]), axis=0)[:, 0]
    mixed = pairs[1:][pairs[1:] == pairs[:-1]]
    return int((~np.isin(classes, mixed)).sum())


def _exchange_columns(named: Named, search: QualitySearch, track: Track, budget: Budget) -> Named:
    """Return the chosen candidates after exchanges of columns that improve models."""
    exchanged = exchange_columns(
        track, search.candidates, [candidate for _, candidate in named], budget
    )
    by_name = {
        name: candidate
        for (names, _), candidate in zip(named, exchanged, strict=True)
        for name in names
    }
    return _deduplicated(by_name, lambda candidate: candidate.key)


def find_least_losses(
    spec: Spec, counted: CodedTable, rows: np.ndarray, seconds: float | None
) -> Trial:
    """Search the levels of least loss for a few class sizes, and choose three of them.

    No model is trained. Balanced is the largest class size with a loss up to halfway between those
    of the smallest and the largest one. ``rows`` are the rows of the example records in the coded
    table. If no levels are feasible, a `SearchError` names the guarantee that fails.
    """
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit, lattice = Decimal(str(spec.suppression_limit)), Lattice.of(table)
    checker = Checker(table, guarantees, Loss(), limit, must_release=True)
    sizes = _sizes(guarantees.min_class_size, table.total)
    seconds_per_size = None if seconds is None else seconds / len(sizes)
    feasible = [
        (k, node)
        for k in sizes
        for node in best_nodes(
            checker, lattice, k, Clock(seconds_per_size), work=_WORK_OF_SHORTLIST
        )
    ]
    if not feasible:
        raise SearchError(_infeasible(spec, table))
    halfway = (feasible[0][1].loss + feasible[-1][1].loss) / 2
    balanced = [point for point in feasible if point[1].loss <= halfway][-1]
    chosen = {MORE_USE: feasible[0], BALANCED: balanced, MORE_PRIVACY: feasible[-1]}
    alternatives = []
    for names, (k, checked) in _deduplicated(
        chosen, lambda point: ((point[1].node,), point[1].suppressed)
    ):
        classes, suppressed = checker.suppressed_classes(checked.node, k)
        left_out = classes.table_rows(suppressed)[rows]
        alternatives.append(Alternative(names, k, checked, left_out))
    return Trial(tuple(alternatives))


def _infeasible(spec: Spec, table: Table) -> str:
    """Explain why there is no alternative: a guarantee, or a column to keep readable."""
    limit = Decimal(str(spec.suppression_limit))
    readable = [attribute.name for attribute in table.attributes if attribute.highest is not None]
    free = replace(
        table, attributes=tuple(replace(attribute, highest=None) for attribute in table.attributes)
    )
    guarantees = compile_guarantees(spec.guarantees.resolved, free)
    root = tuple(attribute.height for attribute in table.attributes)
    checker = Checker(free, guarantees, Loss(), limit)
    if readable and checker.check(root, guarantees.min_class_size).result.is_feasible:
        return (
            f"no alternative keeps k = {guarantees.min_class_size} while "
            f"{', '.join(readable)} {'stay' if readable[1:] else 'stays'} readable. Leave out "
            "--keep, or keep fewer columns."
        )
    return explain_infeasible(table, spec.guarantees.resolved, limit, is_proven=True)


def recount(spec: Spec, counted: CodedTable, alternative: Alternative) -> None:
    """Check an alternative on a fresh count; a `SearchError` if it keeps less now."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit)
    result = checker.check(alternative.checked.node, alternative.required).result
    if not result.is_feasible or result.k < alternative.required:
        raise SearchError(
            f"{', '.join(alternative.names)}: must keep k = {alternative.required} on the "
            "table as it is now; it does not any more. Try again."
        )


def _sizes(smallest: int, records: int) -> list[int]:
    """Return class sizes from the guaranteed one up, small enough for several classes."""
    larger = [k for k in LADDER if smallest < k <= records // _FEWEST_CLASSES]
    return [smallest, *larger][:_SIZES]


@dataclass(frozen=True)
class Choice:
    """Choice among all candidates that raced.

    Each alternative is, of the candidates of its class size on which models gain nearly as much as
    on the best, the one of least loss, so that detail remains for other questions.
    """

    search: QualitySearch
    sizes: Sequence[int]

    @cached_property
    def chosen(self) -> Named:
        """The chosen candidates with their names, from weak to strong."""
        sizes = [k for k in self.sizes if self.search.raced(k)]
        useful = [
            candidate
            for k in sizes
            for candidate in [self._least_loss(k, _SHARE_OF_USE)]
            if candidate
        ]
        more_use = min(useful or self.search.raced(sizes[0])[:1], key=self.search.loss)
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
        chosen = {MORE_USE: more_use, BALANCED: (balanced or [more_use])[-1]}
        return _deduplicated(
            {**chosen, MORE_PRIVACY: more_privacy}, lambda candidate: candidate.key
        )

    def _least_loss(self, k: int, share: float) -> Candidate | None:
        """Return the candidate of least loss that keeps a share of the gain of models."""
        candidates = [
            candidate for candidate in self.search.raced(k) if self._keeps(candidate, share)
        ]
        return min(candidates, key=self.search.loss, default=None)

    def _keeps(self, candidate: Candidate, share: float) -> bool:
        """Tell whether models keep a share of their gain on the best candidates."""
        scores = self.search.scored(candidate)
        if scores.splits < self._fewest_splits(candidate.required):
            return False
        gain, untouched = scores.score - scores.zero_rule, scores.untouched - scores.zero_rule
        best, best_of_size = self._best_gain, self._gain(self.search.raced(candidate.required)[0])
        if untouched > 0:
            best, best_of_size = min(best, untouched), min(best_of_size, untouched)
        return gain >= max(share * best, _SHARE_OF_SIZE * best_of_size)

    def _fewest_splits(self, k: int) -> int:
        """Return the fewest splits that count, or those of the winner if it has fewer."""
        return min(FEWEST_SPLITS, self.search.scored(self.search.raced(k)[0]).splits)

    @cached_property
    def _best_gain(self) -> float:
        return max(
            (self._gain(self.search.raced(k)[0]) for k in self.sizes if self.search.raced(k)),
            default=0.0,
        )

    def _gain(self, winner: Candidate) -> float:
        """Return the gain of models over the zero rule on a winner, 0 if none was trained."""
        scores = self.search.scored(winner)
        return scores.score - scores.zero_rule if scores.splits else 0.0


def _deduplicated(
    chosen: Mapping[str, Chosen], key: Callable[[Chosen], Key]
) -> list[tuple[tuple[str, ...], Chosen]]:
    """Return distinct choices with their names, each for its largest class size."""
    names: dict[Key, list[str]] = {}
    for name, candidate in chosen.items():
        names.setdefault(key(candidate), []).append(name)
    return [(tuple(same), chosen[same[-1]]) for same in names.values()]
