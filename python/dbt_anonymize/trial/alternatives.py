"""Three alternatives of a release: more use, balanced, more privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from dbt_anonymize.drafting.counted import Counted
from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.search.by_quality import LADDER, QualitySearch, Raced
from dbt_anonymize.search.checking import Checker
from dbt_anonymize.search.diagnosis import explain_infeasible
from dbt_anonymize.search.evidence import check_learned
from dbt_anonymize.search.lattice import Lattice
from dbt_anonymize.search.predictions import with_predictions
from dbt_anonymize.search.race import Budget, Track
from dbt_anonymize.search.records import Records
from dbt_anonymize.search.results import CheckedNode
from dbt_anonymize.spec import Effort, Spec

MORE_USE, BALANCED, MORE_PRIVACY = "more-use", "balanced", "more-privacy"
# Class sizes that are tried, and the smallest number of classes that a table must have for one.
_SIZES, _FEWEST_CLASSES = 5, 20
# Of the search for candidates, of which there are two for each class size.
_SECONDS_OF_SHORTLIST = 1.5
# More privacy is the largest class size that keeps this share of what models learn; balanced
# keeps so much more.
_SHARE_OF_PRIVACY, _SHARE_OF_BALANCE = 0.75, 0.9


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
    raced : Raced
        How models do on it.
    """

    names: tuple[str, ...]
    required: int
    checked: CheckedNode
    raced: Raced

    def effort(self, spec: Spec) -> Effort:
        """Return it as a spec writes it."""
        levels = dict(zip(spec.quasi_identifiers, self.checked.node, strict=True))
        return Effort(levels=levels, k=self.required if self.required > spec.least_people else None)


@dataclass(frozen=True)
class Trial:
    """Alternatives from weak to strong, without doubles, and the search that found them."""

    alternatives: tuple[Alternative, ...]
    search: QualitySearch
    trained: int


def find_alternatives(
    spec: Spec,
    counted: Counted,
    records: Records,
    budget: Budget,
) -> Trial:
    """Search the levels on which models do best for a few class sizes, and choose three of them.

    No feasible levels are a `SearchError` that says which guarantee fails.
    """
    table = with_predictions(counted.table, records)
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    track = Track(records, spec.quality, list(spec.quasi_identifiers))
    search = QualitySearch(
        *(table, guarantees, limit),
        track=track,
        budget=budget,
        shortlist_seconds=_SECONDS_OF_SHORTLIST,
    )
    sizes = _sizes(guarantees.min_class_size, table.total)
    check_learned(track, search.of_least_loss(sizes[0]), budget)
    races = search.run(sizes)
    if not races.points:
        raise SearchError(
            explain_infeasible(table, spec.guarantees.resolved, limit, is_proven=True)
        )
    found = [
        Alternative((), required, checked, raced)
        for (required, checked), raced in zip(races.points, races.raced, strict=True)
    ]
    kept = search.most_kept(sizes[0])
    more_use = Alternative((), sizes[0], *kept) if kept else found[0]
    return Trial(tuple(_named(found, more_use)), search, races.trained)


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


def _named(found: Sequence[Alternative], more_use: Alternative) -> list[Alternative]:
    """Return the alternatives that are proposed, with their names, from weak to strong."""
    chosen = {
        MORE_USE: more_use,
        BALANCED: _largest(found, _SHARE_OF_BALANCE),
        MORE_PRIVACY: _largest(found, _SHARE_OF_PRIVACY),
    }
    by_levels: dict[tuple[tuple[int, ...], int], list[str]] = {}
    for name, one in chosen.items():
        by_levels.setdefault((one.checked.node, one.checked.suppressed), []).append(name)
    return [replace(chosen[names[0]], names=tuple(names)) for names in by_levels.values()]


def _largest(found: Sequence[Alternative], share: float) -> Alternative:
    """Return the largest class size that keeps a share of what models learn from the best."""
    # A winner that was not trained before the budget ended has no score.
    gains = [
        -np.inf if np.isnan(one.raced.score) else one.raced.score - one.raced.zero_rule
        for one in found
    ]
    best = max(gains)
    kept = [one for one, gain in zip(found, gains, strict=True) if gain >= share * best]
    return max(kept or [found[0]], key=lambda one: one.required)
