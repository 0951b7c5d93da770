"""Reasons for the levels that won: what each column adds that they give up, and what would help.

Said is only what was trained, on the same splits as the winner.
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

# Share of what may be trained that is kept for what comes after races: exchanges and reasons.
SHARE = 0.2
# Columns of an effort that are trained together: of some, all that is needed is known then.
_TOGETHER = 5
# Columns that are named with what they would add; more is for a spec.
_MOST_NAMED = 3


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

    @property
    def is_small(self) -> bool:
        """Tell whether that is as good as nothing."""
        return self.adds is not None and self.adds < EQUAL

    @property
    def amount(self) -> str:
        """Gain of models, in two digits."""
        return f"{float(f'{self.adds or 0.0:.2g}'):g}"


def given_up(
    names: Sequence[str],
    given: Mapping[str, Given],
    measure: str,
    *,
    feasible: str = ": search longer",
) -> str:
    """Say which columns an effort gives up, and what each adds, as far as that was trained.

    ``feasible`` is said of one that the effort could keep without breaking anything.

    Examples
    --------
    >>> given = {
    ...     "age": Given(0.001, k=5, is_feasible=True),
    ...     "sex": Given(-0.1, k=5, is_feasible=True),
    ...     "zip": Given(0.0131, k=4, is_feasible=False),
    ...     "job": Given(0.1, k=3, is_feasible=False),
    ... }
    >>> given_up(["age"], given, "roc_auc")
    'gives up age, which adds less than 0.002'
    >>> given_up([*given][1:], given, "roc_auc")
    'gives up sex, which adds less than 0.002; job (would add 0.1, but then k is 3), zip (0.013, 4)'
    >>> given_up([*given][:2], given, "roc_auc")
    'gives up age, sex, which add less than 0.002 each'
    >>> given_up(["zip", "city"], given, "rmse")
    'gives up city; zip (would take 0.013 off rmse, but then k is 4)'
    """
    end = f" off {measure}" if measure in LOWER_IS_BETTER else ""
    one, several = ("takes", "take") if end else ("adds", "add")
    known = {name: given[name] for name in names if name in given and given[name].adds is not None}
    unknown = [name for name in names if name not in known]
    small = [name for name, column in known.items() if column.is_small]
    large = sorted(known.keys() - {*small}, key=lambda name: (-(known[name].adds or 0.0), name))
    texts = [", ".join(unknown)]
    if small:
        verb, each = (several, " each") if small[1:] else (one, "")
        texts.append(f"{', '.join(small)}, which {verb} less than {EQUAL:g}{end}{each}")
    said: list[str] = []
    for name in large:
        column = known[name]
        if column.is_feasible:
            said.append(f"{name} (would {several} {column.amount}{end}{feasible})")
        elif said:
            said.append(f"{name} ({column.amount}, {column.k})")
        else:
            said.append(f"{name} (would {several} {column.amount}{end}, but then k is {column.k})")
    texts.append(", ".join(said))
    return f"gives up {'; '.join(filter(None, texts))}"


def missed(given: Mapping[str, Given], measure: str) -> str:
    """Say briefly what columns that an effort gives up would add, the most first.

    Examples
    --------
    >>> small, large = (Given(adds, k=3, is_feasible=False) for adds in (0.001, 0.0131))
    >>> missed({"sex": small, "job": small, "zip": large}, "roc_auc")
    'would add: zip 0.013 (then k is 3); the others less than 0.002 each'
    >>> missed({"sex": small, "zip": Given(0.1, k=20, is_feasible=True)}, "rmse")
    'would take off rmse: zip 0.1 (k stays 20); sex less than 0.002'
    >>> missed({"sex": small, "job": small}, "roc_auc")
    'what it gives up adds less than 0.002 each'
    >>> missed({"sex": small, "job": Given(None, k=3, is_feasible=False)}, "roc_auc")
    ''
    """
    known = {name: one for name, one in given.items() if one.adds is not None}
    small = [name for name, one in known.items() if one.is_small]
    large = sorted(known.keys() - {*small}, key=lambda name: (-(known[name].adds or 0.0), name))
    end = f" off {measure}" if measure in LOWER_IS_BETTER else ""
    each = " each" if small[1:] else ""
    if len(known) < len(given):
        small = []  # of others nothing is known
    if not large:
        verb = "takes" if end else "adds"
        return f"what it gives up {verb} less than {EQUAL:g}{end}{each}" if small else ""
    said = [
        f"{name} {known[name].amount} ({'k stays' if known[name].is_feasible else 'then k is'} "
        f"{known[name].k})"
        for name in large[:_MOST_NAMED]
    ]
    more = f", and {pluralized(len(large) - _MOST_NAMED, 'more column')}"
    text = ", ".join(said) + (more if len(large) > _MOST_NAMED else "")
    others = "the others" if each else "".join(small)
    rest = f"; {others} less than {EQUAL:g}{each}" if small else ""
    return f"{'would take' + end if end else 'would add'}: {text}{rest}"


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

    @property
    def option(self) -> str:
        """Say what would help an alternative that is not written yet."""
        return (
            f"Models do as well without {self.column}, and k would be {self.k_without:,} instead "
            f"of {self.k:,}: --drop {shlex.quote(self.column)}"
        )

    def advice(self, effort: int) -> str:
        """Say what would help an effort.

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
    """By winner, the columns that it gives up; and columns that had better go, the worst first."""

    given: tuple[Mapping[str, Given], ...] = ()
    burdens: tuple[Burden, ...] = ()


def find_reasons(
    track: Track,
    candidates: Candidates,
    winners: Sequence[Candidate],
    budget: Budget,
    *,
    local: LocalCandidates | None = None,
) -> Reasons:
    """Train what reasons need and is not trained yet, as far as the budget goes.

    ``local`` knows the winners that are local recodings: a column is finer or gone in all rounds.
    """
    names = [attribute.name for attribute in candidates.checker.table.attributes]
    given: list[Mapping[str, Given]] = []
    burdens: dict[str, Burden] = {}
    for place, winner in enumerate(winners):
        source = local if winner.rounds and local is not None else candidates
        finer, without = source.finer(winner), source.without(winner)
        part = budget.share(1.0 / (len(winners) - place))
        others = [*finer.values(), *without.values()]
        while others and not part.is_spent:
            size = min(max(part.affordable() // FEWEST_SPLITS, 1), _TOGETHER)
            track.advance([winner, *others[:size]], range(FEWEST_SPLITS), part)
            del others[:size]
        budget.pay(part)
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
                sizes = winner.checked.k, one.checked.k
                values = _values(candidates, axis)
                found = Burden(names[axis], values, winner.required, *sizes)
                burdens.setdefault(found.column, found)
    ordered = sorted(burdens.values(), key=lambda one: -one.k_without / one.k)
    return Reasons(tuple(given), tuple(ordered))


def _values(candidates: Candidates, axis: int) -> int:
    table = candidates.checker.table
    return len(np.unique(table.leaves[table.records > 0, axis]))
