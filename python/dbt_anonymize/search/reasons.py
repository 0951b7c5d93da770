"""Reasons for the levels that won: what each column adds that they give up, and what would help.

Said is only what was trained, on the same splits as the winner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER
from dbt_anonymize.search.candidates import Candidates
from dbt_anonymize.search.race import EQUAL, FEWEST_SPLITS, Budget, Candidate, Track

# Share of what may be trained that is kept for reasons.
SHARE = 0.1


@dataclass(frozen=True)
class Given:
    """A column that an effort gives up, if it were one level finer.

    Attributes
    ----------
    adds : float or None
        By how much models do better then; None if too few were trained.
    k : int
        Class size that would be left.
    is_feasible : bool
        Whether the effort would keep all that it must.
    """

    adds: float | None
    k: int
    is_feasible: bool

    def phrase(self, measure: str) -> tuple[str, str]:
        """Say what it adds, of one column and of several.

        Examples
        --------
        >>> Given(0.0013, k=7, is_feasible=True).phrase("roc_auc")
        ('which adds less than 0.002', 'which add less than 0.002 each')
        >>> Given(0.0131, k=4, is_feasible=False).phrase("roc_auc")[0]
        'which would add about 0.013, but then k is 4'
        >>> Given(0.31, k=4, is_feasible=False).phrase("rmse")[0]
        'which would take about 0.31 off rmse, but then k is 4'
        """
        if self.adds is None:
            return "untested", "untested"
        end = f" off {measure}" if measure in LOWER_IS_BETTER else ""
        if self.adds < EQUAL:
            verbs = ("takes", "take") if end else ("adds", "add")
            one, several = (f"which {verb} less than {EQUAL:g}{end}" for verb in verbs)
            return one, f"{several} each"
        verb = "take" if end else "add"
        text = f"which would {verb} about {float(f'{self.adds:.2g}'):g}{end}"
        text = f"{text}, {self._but}"
        return text, text

    @property
    def _but(self) -> str:
        if self.is_feasible:
            return "so search longer"
        return f"but then k is {self.k}"


@dataclass(frozen=True)
class Burden:
    """A column that adds nothing, and without which an effort had much larger classes.

    ``values`` is how many it has, ``k`` and ``k_without`` are class sizes.
    """

    column: str
    values: int
    required: int
    k: int
    k_without: int

    def phrase(self, measure: str) -> str:
        """Say what it adds."""
        return Given(0.0, self.k, is_feasible=True).phrase(measure)[0].removeprefix("which ")


@dataclass(frozen=True)
class Reasons:
    """By winner, the columns that it gives up; and columns that had better go, the worst first."""

    given: tuple[Mapping[str, Given], ...] = ()
    burdens: tuple[Burden, ...] = ()


def find_reasons(
    track: Track, candidates: Candidates, winners: Sequence[Candidate], budget: Budget
) -> Reasons:
    """Train what reasons need and is not trained yet, as far as the budget goes."""
    names = [attribute.name for attribute in candidates.checker.table.attributes]
    given: list[Mapping[str, Given]] = []
    burdens: dict[str, Burden] = {}
    for winner in winners:
        finer, without = candidates.finer(winner), candidates.without(winner)
        others = [*without.values(), *finer.values()]
        track.advance([winner, *others], range(FEWEST_SPLITS), budget)
        given.append(
            {
                names[axis]: Given(
                    track.difference(one, winner),
                    one.checked.k,
                    one.checked.is_feasible,
                )
                for axis, one in finer.items()
            }
        )
        for axis, one in without.items():
            worse = track.difference(winner, one)
            if worse is not None and worse < EQUAL:
                size = winner.checked.k, one.checked.k
                values = _values(candidates, axis)
                found = Burden(names[axis], values, winner.required, *size)
                burdens.setdefault(found.column, found)
    ordered = sorted(burdens.values(), key=lambda one: -one.k_without / one.k)
    return Reasons(tuple(given), tuple(ordered))


def _values(candidates: Candidates, axis: int) -> int:
    table = candidates.checker.table
    return len(np.unique(table.leaves[table.records > 0, axis]))
