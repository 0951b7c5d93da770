"""Cells that give somebody away on their own, and how uncertain each of them must become.

A cell is the sum of one contribution per subject; x1 and x2 are its two largest ones, T its total.
Each rule gives a `Primary`, in the units of its cells: the minimum frequency in subjects, the other
two in units of the sum. Cells of zero break no rule: nobody is in them, or all contributions are
zero, which no bound on a contribution can hide. A total of a single part has the contributions of
the part, and so the same verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import NamedTuple

from dbt_anonymize.arrays import Bools, Floats, Ints, np
from dbt_anonymize.extensions.tables.errors import TableError

# Sums of floats differ by their rounding; relative to the total.
_ROUNDING = 1e-9


class Primary(NamedTuple):
    """The verdict of a rule on each cell.

    An attacker's interval of a cell must reach from its value minus ``lower`` to its value plus
    ``upper``; both are at least 0, and 0 where a cell is not primary.
    """

    is_primary: Bools
    lower: Floats
    upper: Floats


def by_minimum_frequency(subjects: Ints, minimum_frequency: int) -> Primary:
    """Judge counts of subjects: each but 0 must reach the minimum frequency f.

    The interval that is demanded is [1, f]: it reaches f and is f - 1 wide.

    Examples
    --------
    >>> by_minimum_frequency(np.array([0, 1, 4, 5]), 5)  # doctest: +NORMALIZE_WHITESPACE
    Primary(is_primary=array([False,  True,  True, False]),
            lower=array([0., 0., 3., 0.]), upper=array([0., 4., 1., 0.]))
    """
    is_whole = isinstance(minimum_frequency, Integral) and not isinstance(minimum_frequency, bool)
    if not is_whole or minimum_frequency < 2:
        raise TableError(
            f"minimum_frequency must be a whole number >= 2; got {minimum_frequency}. Nobody is "
            "hidden by it; 5 is usual."
        )
    _refuse_negatives("count of subjects", subjects)
    is_primary = (subjects > 0) & (subjects < minimum_frequency)
    lower = np.where(is_primary, subjects - 1, 0).astype(float)
    upper = np.where(is_primary, minimum_frequency - subjects, 0).astype(float)
    return Primary(is_primary, lower, upper)


def by_p_percent(total: Floats, first: Floats, second: Floats, p_percent: float) -> Primary:
    """Judge sums: the second largest contributor may not know x1 to less than p percent of it.

    She knows it to T - x1 - x2, and the rule is broken below p/100 x1; the difference is demanded.

    Examples
    --------
    One contributor, two, and three of 10 each:

    >>> ones, twos = np.array([10., 90., 10.]), np.array([0., 10., 10.])
    >>> by_p_percent(np.array([10., 100., 30.]), ones, twos, 10).upper.tolist()
    [1.0, 9.0, 0.0]

    References
    ----------
    .. [1] Hundepool et al. 2012, Statistical Disclosure Control, section 4.2.
    """
    if not 0 < p_percent <= 100:
        raise _refusal("p_percent", "be above 0 and at most 100", p_percent)
    _refuse_contributions(total, first, second)
    demanded = p_percent / 100 * first - np.maximum(total - first - second, 0)
    return _within(demanded, total)


def by_dominance(total: Floats, first: Floats, second: Floats, *, n: int, share: float) -> Primary:
    """Judge sums: the n largest contributions (1 or 2) may not exceed a share of the total.

    What the total would have to be larger for them not to is demanded: their sum / share - T.

    Examples
    --------
    >>> one = np.array([90.]), np.array([80.]), np.array([1.])
    >>> by_dominance(*one, n=1, share=.8).upper.tolist()
    [10.0]

    References
    ----------
    .. [1] Hundepool et al. 2012, Statistical Disclosure Control, section 4.2.
    """
    if n not in (1, 2):
        raise _refusal("dominance", "have n of 1 or 2", n)
    if not 0 < share < 1:
        raise _refusal("dominance", "have a share above 0 and below 1", share)
    _refuse_contributions(total, first, second)
    largest = first if n == 1 else first + second
    return _within(largest / share - total, total)


def joined(*verdicts: Primary) -> Primary:
    """Return the verdict of several rules on cells in the same units: the strictest one by cell.

    Examples
    --------
    >>> one = np.array([90.]), np.array([80.]), np.array([1.])
    >>> joined(by_dominance(*one, n=1, share=.8), by_p_percent(*one, 20)).upper.tolist()
    [10.0]
    """
    return Primary(
        np.logical_or.reduce([one.is_primary for one in verdicts]),
        np.maximum.reduce([one.lower for one in verdicts]),
        np.maximum.reduce([one.upper for one in verdicts]),
    )


def _within(demanded: Floats, total: Floats) -> Primary:
    """Return a verdict of what is demanded: no sum can be below zero."""
    is_primary = (demanded > _ROUNDING * total) & (total > 0)
    upper = np.where(is_primary, demanded, 0.0)
    return Primary(is_primary, np.minimum(upper, total), upper)


def _refuse_contributions(total: Floats, first: Floats, second: Floats) -> None:
    for name, values in (("total", total), ("contribution", first), ("contribution", second)):
        _refuse_negatives(name, values)
    if (first < second).any():
        raise TableError(
            "first must be the largest contribution, second the second largest; "
            f"{_cells(first < second)} the other way round. Swap the columns."
        )
    # What the others contribute: below zero only if one of them is.
    is_negative = total - first - second < -_ROUNDING * np.maximum(first, total)
    if is_negative.any():
        raise TableError(
            "a sum must have contributions of at least 0, since the rules say nothing of others; "
            f"{_cells(is_negative)} some below. Sum another column, or set them to NULL."
        )


def _refuse_negatives(name: str, values: Floats | Ints) -> None:
    is_refused = ~(np.asarray(values, dtype=float) >= 0) | np.isinf(values)
    if is_refused.any():
        raise TableError(
            f"a {name} must be a number of at least 0, since the rules say nothing of others; "
            f"{_cells(is_refused)} another. Sum another column, or set them to NULL."
        )


def _cells(is_one: Bools) -> str:
    found = int(is_one.sum())
    return "1 cell has" if found == 1 else f"{found} cells have"


def _refusal(name: str, rule: str, found: object) -> TableError:
    return TableError(f"{name} must {rule}; got {found}.")


@dataclass(frozen=True)
class TableRules:
    """Rules about cells of a table.

    ``minimum_frequency``: people that a shown cell must have, if it has any; >= 2. For sums,
    ``p_percent``: the second largest contributor may not compute the largest contribution to less
    than so many percent of it, above 0 to 100; ``dominance``: number of largest contributions, 1 or
    2, and the share of the sum that they may have, above 0 and below 1.
    """

    minimum_frequency: int = 5
    p_percent: float | None = 10.0
    dominance: tuple[int, float] | None = None

    def of_counts(self, counts: Floats) -> Primary:
        """Judge counts; the interval is one wider, as somebody may know one who is in a cell."""
        return self.of_parts(counts, counts)

    def of_records(self, records: Floats, people: Floats, first: Floats, second: Floats) -> Primary:
        """Judge records by those whose they are, in units of records.

        An interval is demanded as wide as of people, which may have one record each, beside all of
        the largest contributor, since somebody may know hers; or what contributors of sums demand
        if that is more.

        Examples
        --------
        Two people with ten records, five with as many, and one with a single record:

        >>> records, people = np.array([10.0, 10, 1]), np.array([2.0, 5, 1])
        >>> first, second = np.array([6.0, 2, 1]), np.array([4.0, 2, 0])
        >>> verdict = TableRules().of_records(records, people, first, second)
        >>> verdict.lower.tolist(), verdict.upper.tolist()
        ([5.0, 0.0, 0.0], [2.0, 0.0, 6.0])
        """
        of_small = self.of_parts(records, people)
        # Beside the records of whoever has the most.
        beside = np.maximum(self.minimum_frequency + 1 - (records - first), 1)
        of_small = of_small._replace(upper=np.where(of_small.is_primary, beside, 0.0))
        both = joined(of_small, self.of_sums(records, first, second))
        # Of whole records; a hidden cell is known to have one.
        lower = np.minimum(np.ceil(both.lower), np.maximum(records - 1, 0))
        return both._replace(lower=lower, upper=np.ceil(both.upper))

    def of_parts(self, parts: Floats, people: Floats) -> Primary:
        """Judge people who are counted in each part of a cell, and so maybe several times."""
        least = self.minimum_frequency
        is_small = by_minimum_frequency(np.round(people).astype(np.int64), least).is_primary
        lower = np.where(is_small, np.minimum(parts - 1, least), 0.0)
        upper = np.where(is_small, np.maximum(least + 1 - parts, 1), 0.0)
        return Primary(is_small, lower, upper)

    def of_sums(self, total: Floats, first: Floats, second: Floats) -> Primary:
        """Judge sums by their largest contributions."""
        verdicts = []
        if self.p_percent is not None:
            verdicts.append(by_p_percent(total, first, second, self.p_percent))
        if self.dominance is not None:
            n, share = self.dominance
            verdicts.append(by_dominance(total, first, second, n=n, share=share))
        if not verdicts:
            raise TableError("sums must have p_percent or dominance; got neither.")
        return joined(*verdicts)
