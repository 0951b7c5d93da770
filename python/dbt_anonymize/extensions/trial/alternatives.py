"""Three alternatives for a release: more use, balanced, more privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.drafting.equal_levels import DistinctLevels
from dbt_anonymize.extensions.search.by_quality import LADDER, QualitySearch, WinnerScores
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.diagnosis import explain_infeasible
from dbt_anonymize.extensions.search.evidence import check_learned
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.optimum import best_nodes
from dbt_anonymize.extensions.search.predictions import with_predictions
from dbt_anonymize.extensions.search.race import Budget, Candidate
from dbt_anonymize.extensions.search.reasons import Burden, GivenUp, find_reasons
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.search.results import CheckedNode, ProgressCallback
from dbt_anonymize.extensions.search.training import TrainingProgress
from dbt_anonymize.extensions.trial.choice import BALANCED, MORE_PRIVACY, MORE_USE, deduplicated
from dbt_anonymize.extensions.trial.released_levels import ReleasedLevels
from dbt_anonymize.extensions.trial.settling import settle
from dbt_anonymize.extensions.trial.uncertainty import Uncertainty, chance_pairs, uncertainty_of
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.spec import Effort, Spec

# Most class sizes that are tried, and fewest classes of such a size that the table could hold.
_SIZES, _FEWEST_CLASSES = 5, 20
# Work of a search for candidates, of which each class size has two: about a second.
_WORK_OF_SHORTLIST = 150_000_000
# Candidates per class size: few, so that each is trained on several splits within seconds.
_SHORTLIST = 8
# Share of the training budget after the races, and of that for exchanges of columns and detail
# that is given back; the rest is for reasons.
_SHARE_AFTER_RACES, _SHARE_OF_SETTLING = 0.48, 0.75


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
    uncertainty : Uncertainty or None
        That of the scores.
    """

    names: tuple[str, ...]
    required: int
    checked: CheckedNode
    suppressed: np.ndarray
    raced: WinnerScores | None = None
    given: Mapping[str, GivenUp] = field(default_factory=dict)
    detail: float = np.nan
    alike: int = 0
    uncertainty: Uncertainty | None = None

    def effort(self, spec: Spec) -> Effort:
        """Return the effort of a spec."""
        levels = dict(zip(spec.quasi_identifiers, self.checked.node, strict=True))
        return Effort(levels=levels, k=self.required if self.required > spec.largest_k else None)


@dataclass(frozen=True)
class Trial:
    """Distinct alternatives from weak to strong, and the number of trained models.

    ``burdens`` are useless columns, the worst first. ``is_timed``: a time limit ended the training,
    not a number of models. ``chance_pairs`` are alternatives whose scores may differ by chance
    alone; ``best_gain`` is the largest gain over the zero rule of any levels that were found.
    """

    alternatives: tuple[Alternative, ...]
    trained: int = 0
    burdens: tuple[Burden, ...] = ()
    is_timed: bool = False
    chance_pairs: tuple[tuple[int, int], ...] = ()
    best_gain: float = np.nan


def find_alternatives(
    spec: Spec,
    counted: DistinctLevels,
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
    track = ReleasedLevels(
        records, spec.tests, list(spec.quasi_identifiers), progress, finest=counted.finest
    )
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
    budget.pay(races_budget)
    settling_budget = budget.share(_SHARE_OF_SETTLING)
    choice = settle(search, track, sizes, settling_budget)
    chosen = deduplicated(
        {name: candidate for names, candidate in choice.chosen for name in names},
        lambda candidate: track.released(candidate).key,
    )
    budget.pay(settling_budget)
    candidates = [candidate for _, candidate in chosen]
    reasons = find_reasons(track, search.candidates, candidates, budget)
    alternatives = tuple(
        Alternative(
            *(
                names,
                candidate.required,
                track.released(candidate).checked,
                candidate.suppressed,
                search.scored(candidate),
                given_up,
            ),
            detail=1.0 - search.loss(track.released(candidate)),
            alike=_homogeneous_records(candidate, records) if spec.target in spec.sensitive else 0,
            uncertainty=uncertainty_of(track, candidate),
        )
        for (names, candidate), given_up in zip(chosen, reasons.given, strict=True)
    )
    return Trial(
        *(alternatives, budget.trained, reasons.burdens, budget.is_timed),
        *(chance_pairs(track, candidates), choice.best_gain),
    )


def _homogeneous_records(candidate: Candidate, records: Records) -> int:
    """Count the released records in equivalence classes with a single class of the target.

    Of a survival target, all or none had the event.
    """
    target = records.problem.targets[0]
    if target.codes is None:
        return 0
    codes, classes = target.codes[~candidate.suppressed], candidate.classes[~candidate.suppressed]
    pairs = np.unique(np.column_stack([classes, codes]), axis=0)[:, 0]
    mixed = pairs[1:][pairs[1:] == pairs[:-1]]
    return int((~np.isin(classes, mixed)).sum())


def find_least_losses(
    spec: Spec, counted: DistinctLevels, rows: np.ndarray, seconds: float | None
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
    for names, (k, checked) in deduplicated(
        chosen, lambda point: ((counted.finest(point[1].node),), point[1].suppressed)
    ):
        classes, suppressed = checker.suppressed_classes(checked.node, k)
        left_out = classes.table_rows(suppressed)[rows]
        released = checker.check(counted.finest(checked.node), k).result
        alternatives.append(Alternative(names, k, released, left_out))
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


def recount(spec: Spec, counted: DistinctLevels, alternative: Alternative) -> None:
    """Check an alternative on a fresh count; a `SearchError` if it keeps less now."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit)
    result = checker.check(alternative.checked.node, alternative.required).result
    is_counted = counted.are_counted(alternative.checked.node)
    if not is_counted or not result.is_feasible or result.k < alternative.required:
        raise SearchError(
            f"{', '.join(alternative.names)}: must keep k = {alternative.required} on the "
            "table as it is now; it does not any more. Try again."
        )


def _sizes(smallest: int, records: int) -> list[int]:
    """Return class sizes from the guaranteed one up, small enough for several classes."""
    larger = [k for k in LADDER if smallest < k <= records // _FEWEST_CLASSES]
    return [smallest, *larger][:_SIZES]
