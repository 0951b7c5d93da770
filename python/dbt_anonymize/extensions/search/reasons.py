"""Reasons for the winning levels: the value of each column that they give up, and advice.

All reasons come from training on the same splits as the winner.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.evaluation.measures import LOWER_IS_BETTER
from dbt_anonymize.extensions.search.by_rounds import LocalCandidates
from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.race import EQUAL, FEWEST_SPLITS, Budget, Candidate, Track
from dbt_anonymize.pluralize import pluralized

# Share of the training budget that is kept for exchanges, detail and reasons after the races.
SHARE = 0.3
# Columns of an effort that are trained together, so that a short budget completes some of them.
_COLUMNS_AT_ONCE = 5
# Most columns that are named with their gain.
_MOST_NAMED = 3


@dataclass(frozen=True)
class GivenUp:
    """A column that an effort gives up, and the effect of one finer level.

    Attributes
    ----------
    adds : float or None
        Gain of models; None if too few were trained.
    k : int
        Remaining class size.
    is_feasible : bool
        True if the effort would still keep its guarantees.
    suppressed : int
        Suppressed records.
    breaks_other : bool
        True if classes would be large enough, but another guarantee would break.
    """

    adds: float | None
    k: int
    is_feasible: bool
    suppressed: int = 0
    breaks_other: bool = False

    @property
    def is_small(self) -> bool:
        """Tell whether the gain is negligible."""
        return self.adds is not None and self.adds < EQUAL

    @property
    def cost(self) -> str:
        """Reason why the effort may not have the finer level."""
        return "a guarantee beside k breaks" if self.breaks_other else f"k is {self.k}"

    @property
    def amount(self) -> str:
        """Gain of models, in two digits."""
        return f"{float(f'{self.adds or 0.0:.2g}'):g}"


def given_up(
    names: Sequence[str],
    columns: Mapping[str, GivenUp],
    measure: str,
    *,
    feasible: str = ": search longer",
) -> str:
    """Describe the columns that an effort gives up, and the gain of each, as far as trained.

    ``feasible`` is added to a column that the effort could keep.

    Examples
    --------
    >>> given = {
    ...     "age": GivenUp(0.001, k=5, is_feasible=True),
    ...     "sex": GivenUp(-0.1, k=5, is_feasible=True),
    ...     "zip": GivenUp(0.0131, k=4, is_feasible=False),
    ...     "job": GivenUp(0.1, k=3, is_feasible=False),
    ... }
    >>> given_up(["age"], given, "roc_auc")
    'gives up age, which adds less than 0.002'
    >>> given_up([*given][1:], given, "roc_auc")
    'gives up sex, which adds less than 0.002; job (would add 0.1, but then k is 3), zip (0.013, 4)'
    >>> other = {"age": GivenUp(0.01, k=24, is_feasible=False, breaks_other=True)}
    >>> given_up(["age"], other, "roc_auc")
    'gives up age (would add 0.01, but then a guarantee beside k breaks)'
    >>> given_up([*given][:2], given, "roc_auc")
    'gives up age, sex, which add less than 0.002 each'
    >>> given_up(["zip", "city"], given, "rmse")
    'gives up city; zip (would take 0.013 off rmse, but then k is 4)'
    """
    end = f" off {measure}" if measure in LOWER_IS_BETTER else ""
    one, several = ("takes", "take") if end else ("adds", "add")
    trained = {
        name: columns[name] for name in names if name in columns and columns[name].adds is not None
    }
    untrained = [name for name in names if name not in trained]
    small, large = _by_gain(trained)
    texts = [", ".join(untrained)]
    if small:
        verb, each = (several, " each") if small[1:] else (one, "")
        texts.append(f"{', '.join(small)}, which {verb} less than {EQUAL:g}{end}{each}")
    large_texts: list[str] = []
    sized = False
    for name in large:
        column = trained[name]
        if column.is_feasible:
            large_texts.append(f"{name} (would {several} {column.amount}{end}{feasible})")
        elif sized and not column.breaks_other:
            large_texts.append(f"{name} ({column.amount}, {column.k})")
        else:
            sized |= not column.breaks_other
            large_texts.append(
                f"{name} (would {several} {column.amount}{end}, but then {column.cost})"
            )
    texts.append(", ".join(large_texts))
    return f"gives up {'; '.join(filter(None, texts))}"


def missed(columns: Mapping[str, GivenUp], measure: str) -> str:
    """Describe briefly the gains of the columns that an effort gives up, the largest first.

    Examples
    --------
    >>> small, large = (GivenUp(adds, k=3, is_feasible=False) for adds in (0.001, 0.0131))
    >>> missed({"sex": small, "job": small, "zip": large}, "roc_auc")
    'would add: zip 0.013 (then k is 3); the others less than 0.002 each'
    >>> feasible = GivenUp(0.1, k=20, is_feasible=True, suppressed=1200)
    >>> missed({"sex": small, "zip": feasible}, "rmse")
    'would take off rmse: zip 0.1 (allowed: k 20, 1,200 left out); sex less than 0.002'
    >>> missed({"sex": small, "job": small}, "roc_auc")
    'what it gives up adds less than 0.002 each'
    >>> missed({"sex": small, "job": GivenUp(None, k=3, is_feasible=False)}, "roc_auc")
    ''
    """
    trained = {name: column for name, column in columns.items() if column.adds is not None}
    small, large = _by_gain(trained)
    end = f" off {measure}" if measure in LOWER_IS_BETTER else ""
    each = " each" if small[1:] else ""
    if len(trained) < len(columns):
        small = []  # "the others" would claim too much
    if not large:
        verb = "takes" if end else "adds"
        return f"what it gives up {verb} less than {EQUAL:g}{end}{each}" if small else ""
    texts = [
        f"{name} {column.amount} (allowed: k {column.k}, {column.suppressed:,} left out)"
        if column.is_feasible
        else f"{name} {column.amount} (then {column.cost})"
        for name in large[:_MOST_NAMED]
        for column in [trained[name]]
    ]
    more_columns = f", and {pluralized(len(large) - _MOST_NAMED, 'more column')}"
    text = ", ".join(texts) + (more_columns if len(large) > _MOST_NAMED else "")
    others = "the others" if each else "".join(small)
    rest = f"; {others} less than {EQUAL:g}{each}" if small else ""
    return f"{'would take' + end if end else 'would add'}: {text}{rest}"


def _by_gain(trained: Mapping[str, GivenUp]) -> tuple[list[str], list[str]]:
    """Return the columns of a negligible gain, and the others, the largest gain first."""
    small = [name for name, column in trained.items() if column.is_small]
    large = sorted(trained.keys() - {*small}, key=lambda name: (-(trained[name].adds or 0.0), name))
    return small, large


@dataclass(frozen=True)
class Burden:
    """A useless column without which an effort would have much larger classes.

    ``values`` is the number of its values; ``k`` and ``k_without`` are class sizes.
    """

    column: str
    values: int
    required: int
    k: int
    k_without: int

    @property
    def option(self) -> str:
        """Return advice for an alternative that is not written yet."""
        return (
            f"Models do as well without {self.column}, and k would be {self.k_without:,} instead "
            f"of {self.k:,}: --drop {shlex.quote(self.column)}"
        )

    def advice(self, effort: int) -> str:
        """Return advice for an effort.

        Examples
        --------
        >>> text = Burden("zip", 1900, required=5, k=11, k_without=22).advice(2)
        >>> text.partition(": ")[0]
        'zip has 1,900 values and models do as well without it'
        >>> text.partition("` ")[-1]
        'k is 22 instead of 11 in effort 2.'
        """
        return (
            f"{self.column} has {pluralized(self.values, 'value')} and models do as well without "
            f"it: with `release: {{leave_out: [{self.column}]}}` k is {self.k_without:,} instead "
            f"of {self.k:,} in effort {effort}."
        )


@dataclass(frozen=True)
class Reasons:
    """The columns that each winner gives up, and useless columns, the worst first."""

    given: tuple[Mapping[str, GivenUp], ...] = ()
    burdens: tuple[Burden, ...] = ()


def find_reasons(
    track: Track,
    candidates: Candidates,
    winners: Sequence[Candidate],
    budget: Budget,
    *,
    local: LocalCandidates | None = None,
) -> Reasons:
    """Find reasons, and train the missing candidates as far as the budget goes.

    ``local`` makes the candidates for winners that are local recodings.
    """
    names = [attribute.name for attribute in candidates.checker.table.attributes]
    given_up_columns: list[Mapping[str, GivenUp]] = []
    burdens: dict[str, Burden] = {}
    for place, winner in enumerate(winners):
        source = local if winner.rounds and local is not None else candidates
        finer, without = source.finer(winner), source.without(winner)
        part = budget.share(1.0 / (len(winners) - place))
        others = [*finer.values(), *without.values()]
        while others and not part.is_spent:
            size = min(max(part.affordable() // FEWEST_SPLITS, 1), _COLUMNS_AT_ONCE)
            track.advance([winner, *others[:size]], range(FEWEST_SPLITS), part)
            del others[:size]
        budget.pay(part)
        given_up_columns.append(
            {
                names[axis]: GivenUp(
                    track.difference(candidate, winner),
                    candidate.checked.k,
                    candidate.checked.is_feasible,
                    candidate.checked.suppressed,
                    not candidate.checked.is_feasible and candidate.checked.k >= winner.required,
                )
                for axis, candidate in finer.items()
            }
        )
        for axis, candidate in without.items():
            loss_of_score = track.difference(winner, candidate)
            if loss_of_score is not None and loss_of_score < EQUAL:
                sizes = winner.checked.k, candidate.checked.k
                values = _values(candidates, axis)
                burden = Burden(names[axis], values, winner.required, *sizes)
                burdens.setdefault(burden.column, burden)
    ordered = sorted(burdens.values(), key=lambda candidate: -candidate.k_without / candidate.k)
    return Reasons(tuple(given_up_columns), tuple(ordered))


def _values(candidates: Candidates, axis: int) -> int:
    table = candidates.checker.table
    return len(np.unique(table.leaves[table.records > 0, axis]))
