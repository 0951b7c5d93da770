"""Three alternatives of a release: more use, balanced, more privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.counted import Counted
from dbt_anonymize.extensions.search.by_quality import LADDER, QualitySearch, Raced
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.evidence import check_learned
from dbt_anonymize.extensions.search.exchange import SHARE_OF_EXCHANGES, exchanged
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.predictions import with_predictions
from dbt_anonymize.extensions.search.race import FEWEST_SPLITS, Budget, Candidate, Key, Track
from dbt_anonymize.extensions.search.reasons import Burden, Given, find_reasons
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
# Class sizes that are tried, and the smallest number of classes that a table must have for one.
_SIZES, _FEWEST_CLASSES = 5, 20
# Of the search for candidates, of which there are two for each class size: about a second.
_WORK_OF_SHORTLIST = 150_000_000
# Candidates of one class size: few, so that each is trained on several splits within seconds.
_SHORTLIST = 8
# Share of what may be trained that exchanges columns, and tells what alternatives give up.
_SHARE_AFTER_RACES = 0.35
# More use loses the least of what keeps this share of what models learn. More privacy is the
# largest class size that keeps less; balanced the largest that keeps a share between them, and
# loses at most halfway from more use to more privacy, or else the smallest of these.
_SHARE_OF_USE, _SHARE_OF_BALANCE, _SHARE_OF_PRIVACY = 0.95, 0.9, 0.75
# Each keeps this share of what models learn from the best of its class size.
_SHARE_OF_SIZE = 0.97


@dataclass(frozen=True)
class Alternative:
    """Levels that keep every guarantee, with what they cost.

    Attributes
    ----------
    names : tuple of str
        What it is: several where one is the best of its kind.
    required : int
        Class size that its effort declares.
    checked : CheckedNode
        Levels, the class size that is reached, and records that are left out.
    suppressed : array of bool
        Which of the records of the trial are left out.
    raced : Raced or None
        How models do on it, if any is trained.
    given : mapping of str to Given
        What columns that it gives up would add, as far as that was trained.
    detail : float
        Share of the detail of quasi-identifiers that is left, 1 - loss; of whatever use that is.
    alike : int
        Released records of the trial in classes of which all have the same sensitive target.
    """

    names: tuple[str, ...]
    required: int
    checked: CheckedNode
    suppressed: np.ndarray
    raced: Raced | None = None
    given: Mapping[str, Given] = field(default_factory=dict)
    detail: float = np.nan
    alike: int = 0

    def effort(self, spec: Spec) -> Effort:
        """Return it as a spec writes it."""
        levels = dict(zip(spec.quasi_identifiers, self.checked.node, strict=True))
        return Effort(levels=levels, k=self.required if self.required > spec.largest_k else None)


@dataclass(frozen=True)
class Trial:
    """Alternatives from weak to strong, without doubles, and how many models found them.

    ``burdens`` are columns that had better go, the worst first. ``is_timed``: seconds ended it, and
    not a number of models.
    """

    alternatives: tuple[Alternative, ...]
    trained: int = 0
    burdens: tuple[Burden, ...] = ()
    is_timed: bool = False


def find_alternatives(
    spec: Spec,
    counted: Counted,
    records: Records,
    budget: Budget,
    tell: ProgressCallback | None = None,
) -> Trial:
    """Search the levels on which models do best for a few class sizes, and choose three of them.

    No feasible levels are a `SearchError` that says which guarantee fails.
    """
    table = with_predictions(counted.table, records)
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    progress = TrainingProgress(tell, seconds=budget.seconds, evaluations=budget.evaluations)
    track = Track(records, spec.tests, list(spec.quasi_identifiers), progress)
    of_races = budget.share(1.0 - _SHARE_AFTER_RACES)
    search = QualitySearch(
        *(table, guarantees, limit),
        track=track,
        budget=of_races,
        shortlist_work=_WORK_OF_SHORTLIST,
        shortlist=_SHORTLIST,
    )
    sizes = _sizes(guarantees.min_class_size, table.total)
    check_learned(track, search.of_least_loss(sizes[0]), of_races)
    if not search.run(sizes).points:
        raise SearchError(_infeasible(spec, table))
    choice = Choice(search, sizes)
    budget.pay(of_races)
    of_exchanges = budget.share(SHARE_OF_EXCHANGES)
    chosen = _exchanged(choice.chosen, search, track, of_exchanges)
    budget.pay(of_exchanges)
    reasons = find_reasons(track, search.candidates, [one for _, one in chosen], budget)
    alternatives = tuple(
        Alternative(
            *(names, one.required, one.checked, one.suppressed, search.scored(one), given),
            detail=1.0 - search.loss(one),
            alike=_alike(one, records) if spec.target in spec.sensitive else 0,
        )
        for (names, one), given in zip(chosen, reasons.given, strict=True)
    )
    is_timed = budget.seconds is not None and budget.spent >= budget.seconds
    return Trial(alternatives, budget.trained, reasons.burdens, is_timed)


def _alike(one: Candidate, records: Records) -> int:
    """Count the released records in classes of which all have one class of the target."""
    target = records.problem.targets[0]
    if target.task != "classification" or target.codes is None:
        return 0
    codes, classes = target.codes[~one.suppressed], one.classes[~one.suppressed]
    pairs = np.unique(np.column_stack([classes, codes]), axis=0)[:, 0]
    several = pairs[1:][pairs[1:] == pairs[:-1]]
    return int((~np.isin(classes, several)).sum())


def _exchanged(chosen: Named, search: QualitySearch, track: Track, budget: Budget) -> Named:
    """Return what was chosen after exchanges of columns by which models do better."""
    after = exchanged(track, search.candidates, [one for _, one in chosen], budget)
    named = {name: one for (names, _), one in zip(chosen, after, strict=True) for name in names}
    return _without_doubles(named, lambda one: one.key)


def least_losses(spec: Spec, counted: Counted, rows: np.ndarray, seconds: float | None) -> Trial:
    """Search the levels that lose the least for a few class sizes, and choose three of them.

    No model is trained. Balanced is the largest class size that loses at most halfway from the
    smallest to the largest one. ``rows`` of the counted table are those of the shown records.
    No feasible levels are a `SearchError` that says which guarantee fails.
    """
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit, lattice = Decimal(str(spec.suppression_limit)), Lattice.of(table)
    checker = Checker(*(table, guarantees, Loss(), limit, lattice.lowest), must_release=True)
    sizes = _sizes(guarantees.min_class_size, table.total)
    part = None if seconds is None else seconds / len(sizes)
    able = [
        (k, one)
        for k in sizes
        for one in best_nodes(checker, lattice, k, Clock(part, None), work=_WORK_OF_SHORTLIST)
    ]
    if not able:
        raise SearchError(_infeasible(spec, table))
    halfway = (able[0][1].loss + able[-1][1].loss) / 2
    balanced = [point for point in able if point[1].loss <= halfway][-1]
    chosen = {MORE_USE: able[0], BALANCED: balanced, MORE_PRIVACY: able[-1]}
    alternatives = []
    for names, (k, checked) in _without_doubles(
        chosen, lambda point: ((point[1].node,), point[1].suppressed)
    ):
        classes, suppressed = checker.suppressed_classes(checked.node, k)
        left_out = classes.table_rows(suppressed)[rows]
        alternatives.append(Alternative(names, k, checked, left_out))
    return Trial(tuple(alternatives))


def _infeasible(spec: Spec, table: Table) -> str:
    """Say why there is no alternative: a guarantee, or a column that must stay readable."""
    limit = Decimal(str(spec.suppression_limit))
    kept = [one.name for one in table.attributes if one.highest is not None]
    free = replace(table, attributes=tuple(replace(one, highest=None) for one in table.attributes))
    guarantees = compile_guarantees(spec.guarantees.resolved, free)
    root = tuple(one.height for one in table.attributes)
    checker = Checker(free, guarantees, Loss(), limit, Lattice.of(free).lowest)
    if kept and checker.check(root, guarantees.min_class_size).result.is_feasible:
        return (
            f"no alternative keeps k = {guarantees.min_class_size} while "
            f"{', '.join(kept)} {'stay' if kept[1:] else 'stays'} readable. Leave out --keep, or "
            "keep fewer columns."
        )
    return explain_infeasible(table, spec.guarantees.resolved, limit, is_proven=True)


def recount(spec: Spec, counted: Counted, one: Alternative) -> None:
    """Check an alternative on what was counted anew; a `SearchError` if it keeps less now."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit, Lattice.of(table).lowest)
    again = checker.check(one.checked.node, one.required).result
    if not again.is_feasible or again.k < one.required:
        raise SearchError(
            f"{', '.join(one.names)}: must keep k = {one.required} on the table as it is now; it "
            "does not any more. Try again."
        )


def _sizes(smallest: int, records: int) -> list[int]:
    """Return class sizes from the guaranteed one up that leave the table some classes."""
    larger = [k for k in LADDER if smallest < k <= records // _FEWEST_CLASSES]
    return [smallest, *larger][:_SIZES]


@dataclass(frozen=True)
class Choice:
    """Choose among all candidates that raced.

    Each alternative is, of the candidates of its class size from which models learn nearly as much
    as from the best, the one that loses the least: what nobody predicts today stays for whoever
    asks tomorrow.
    """

    search: QualitySearch
    sizes: Sequence[int]

    @cached_property
    def chosen(self) -> Named:
        """The chosen candidates with their names, from weak to strong."""
        sizes = [k for k in self.sizes if self.search.raced(k)]
        useful = [one for k in sizes for one in [self._least_loss(k, _SHARE_OF_USE)] if one]
        more_use = min(useful or self.search.raced(sizes[0])[:1], key=self.search.loss)
        larger = [k for k in sizes if k > more_use.required]
        private = [self._least_loss(k, _SHARE_OF_PRIVACY) for k in larger]
        more_privacy = next((one for one in reversed(private) if one is not None), more_use)
        halfway = (self.search.loss(more_use) + self.search.loss(more_privacy)) / 2
        between = [
            one
            for k in larger
            for one in [self._least_loss(k, _SHARE_OF_BALANCE)]
            if one is not None and k <= more_privacy.required
        ]
        balanced = [one for one in between if self.search.loss(one) <= halfway] or between[:1]
        chosen = {MORE_USE: more_use, BALANCED: (balanced or [more_use])[-1]}
        return _without_doubles({**chosen, MORE_PRIVACY: more_privacy}, lambda one: one.key)

    def _least_loss(self, k: int, share: float) -> Candidate | None:
        """Return the candidate of a class size that keeps a share of what models learn."""
        kept = [one for one in self.search.raced(k) if self._keeps(one, share)]
        return min(kept, key=self.search.loss, default=None)

    def _keeps(self, candidate: Candidate, share: float) -> bool:
        """Tell whether models keep a share of their gain on the untouched table, or the best."""
        own = self.search.scored(candidate)
        if own.splits < self._fewest_splits(candidate.required):
            return False
        gain, untouched = own.score - own.zero_rule, own.untouched - own.zero_rule
        best, of_size = self._best_gain, self._gain(self.search.raced(candidate.required)[0])
        if untouched > 0:
            best, of_size = min(best, untouched), min(of_size, untouched)
        return gain >= max(share * best, _SHARE_OF_SIZE * of_size)

    def _fewest_splits(self, k: int) -> int:
        """Fewer say little, unless the winner of a class size has no more."""
        return min(FEWEST_SPLITS, self.search.scored(self.search.raced(k)[0]).splits)

    @cached_property
    def _best_gain(self) -> float:
        return max(
            (self._gain(self.search.raced(k)[0]) for k in self.sizes if self.search.raced(k)),
            default=0.0,
        )

    def _gain(self, winner: Candidate) -> float:
        """Return what models gain from a winner over the zero rule, 0 if none was trained."""
        scored = self.search.scored(winner)
        return scored.score - scored.zero_rule if scored.splits else 0.0


def _without_doubles(
    chosen: Mapping[str, Chosen], key: Callable[[Chosen], Key]
) -> list[tuple[tuple[str, ...], Chosen]]:
    """Return what was chosen, each once with its names, for the largest class size of these."""
    names: dict[Key, list[str]] = {}
    for name, one in chosen.items():
        names.setdefault(key(one), []).append(name)
    return [(tuple(same), chosen[same[-1]]) for same in names.values()]
