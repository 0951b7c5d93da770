"""Intervals of long tails: round bounds that grow, finer where many records are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from itertools import accumulate, pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import stack_levels
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.model import IntervalHierarchy

# Intervals of fewer records, or of a smaller share of them, join a neighbour.
_FEW, _SMALL = 5, 0.002
# Share of zeros from which zero is a leaf of its own.
_MANY_ZEROS = 0.02
_MOST_LEVELS = 5
# Largest share of the cuts of the level below that a level may keep.
_FEWER = 0.85
# Share of records in one interval from which a level is nearly constant.
_NEARLY_ALL = 0.9
_MANY, _SHORT = 10_000, Context(prec=4, rounding=ROUND_DOWN)
# Powers of ten that are cut below the median.
_POWERS = 2
# Ranks of cuts: those that always stay, powers of ten, 5 and 2 times them, steps between them.
_ALWAYS, _DECADE, _FIVE, _TWO, _STEP = range(-1, 4)
# Parts of a power of ten into which intervals of many records are cut, coarse to fine.
_PARTS = [Decimal(part) for part in ("1", ".5", ".1", ".05", ".01")]


def growing_intervals(
    records: Mapping[Decimal, int], *, leaves: int = 32, whole: bool = False
) -> IntervalHierarchy:
    """Build at most about ``leaves`` intervals whose bounds grow with the values.

    ``records`` of each value; ``whole`` if all are whole numbers. Negative values mirror positive
    ones, and many zeros stand by themselves. Steps are fine where many records are; each level
    drops the finest bounds, down to powers of ten. Labels sort as text. No values, or a range
    without a bound in it, are a `HierarchyError`.

    Examples
    --------
    >>> incomes = {Decimal(value): 10 for value in (0, 1200, 3000, 9000, 45_000, 800_000)}
    >>> growing_intervals(incomes, leaves=6).labels[0][:4]
    ('[000000, 001000)', '[001000, 002000)', '[002000, 005000)', '[005000, 010000)')
    """
    if not records:
        raise HierarchyError("growing intervals need at least one value; got none. Give some.")
    records = truncate_values(records)
    share = 1.0 / leaves
    while True:
        ranks = _ranks(records, share, whole=whole)
        if len(ranks) <= leaves * 9 // 8 + 1 or share > 1:
            break
        share *= 1.25
    boundaries = _levels(ranks, _Side.of(records))
    if len(boundaries[0]) < 3:
        raise HierarchyError(
            "growing intervals must have a round bound between the values; they have none. "
            "Use equal widths."
        )
    hierarchy = padded_labels(stack_levels(boundaries), whole=whole)
    return check(hierarchy, name="of growing intervals")


def truncate_values(records: Mapping[Decimal, int]) -> Mapping[Decimal, int]:
    """Truncate many values to four digits each: no bound has as many.

    Examples
    --------
    >>> sorted(truncate_values({Decimal(n) / 7: 1 for n in range(-9000, 9000)}))[:2]
    [Decimal('-1285'), Decimal('-1284')]
    """
    if len(records) <= _MANY:
        return records
    short_records: dict[Decimal, int] = {}
    for number, count in records.items():
        short = _SHORT.plus(number)
        short_records[short] = short_records.get(short, 0) + count
    return short_records


def is_nearly_constant(fullest: float, below: float) -> bool:
    """Tell whether nearly all records are in one interval of a level, and not of that below."""
    return fullest > _NEARLY_ALL and fullest > below


@dataclass(frozen=True)
class _Side:
    """Sorted sizes of the values on one side of zero, and the records up to each."""

    sizes: tuple[Decimal, ...]
    records: tuple[int, ...]

    @classmethod
    def of(cls, records: Mapping[Decimal, int]) -> _Side:
        sizes = tuple(sorted(records))
        return cls(sizes, (0, *accumulate(records[size] for size in sizes)))

    def between(self, lower: Decimal, upper: Decimal) -> int:
        """Return the records from ``lower`` to below ``upper``."""
        start, end = bisect_left(self.sizes, lower), bisect_left(self.sizes, upper)
        return self.records[end] - self.records[start]

    def fullest(self, cuts: Sequence[Decimal]) -> float:
        """Return the share of the records in the fullest interval."""
        return max(self.between(*pair) for pair in pairwise(cuts)) / self.records[-1]

    def is_one_value(self, lower: Decimal, upper: Decimal) -> bool:
        """Tell whether an interval has at most one value."""
        return bisect_left(self.sizes, upper) - bisect_left(self.sizes, lower) <= 1

    def quantile(self, share: float) -> Decimal:
        """Return the quantile of a share of the records."""
        place = bisect_left(self.records, share * self.records[-1])
        return self.sizes[min(max(place - 1, 0), len(self.sizes) - 1)]


def _ranks(records: Mapping[Decimal, int], share: float, *, whole: bool) -> dict[Decimal, int]:
    """Return every cut with its rank, the ends included."""
    total = sum(records.values())
    few = max(_FEW, _SMALL * total)
    zeros = records.get(Decimal(0), 0)
    has_zeros = zeros >= max(_FEW, _MANY_ZEROS * total)
    above = {size: count for size, count in records.items() if size > 0}
    below = {-size: count for size, count in records.items() if size < 0}
    ranks: dict[Decimal, int] = {}
    if above or zeros:
        is_apart = has_zeros and bool(above)
        positive = _Side.of(above or {Decimal(1): 0})
        starts_at_zero = bool(zeros or below)
        ranks |= _one_side(positive, share * total, whole, is_apart, starts_at_zero)
    if below:
        negative = _one_side(_Side.of(below), share * total, whole, False, True)
        ranks |= {-cut: rank for cut, rank in negative.items()}
        is_small = min(sum(below.values()), sum(above.values()) + zeros) < few
        ranks[Decimal(0)] = _TWO if is_small and above else _ALWAYS
    return _without_sparse(dict(sorted(ranks.items())), records)


def _one_side(
    side: _Side, most: float, whole: bool, is_apart: bool, starts_at_zero: bool
) -> dict[Decimal, int]:
    """Return the cuts of one side: zero leaves of its own, round cuts, and steps between them."""
    first, last = side.sizes[0], side.sizes[-1]
    # A few values may be very small: they are in the first interval.
    smallest = side.quantile(0.5).adjusted() - _POWERS
    low = Decimal(1).scaleb(max(first.adjusted(), smallest))
    if whole and is_apart:
        low = Decimal(1)
    ranks = {}
    if is_apart or not starts_at_zero:
        ranks[low] = _ALWAYS
    if starts_at_zero or first.adjusted() <= smallest:
        ranks = {Decimal(0): _ALWAYS, **({low: _ALWAYS} if is_apart else {})}
    exponent = low.adjusted()
    while True:
        power = Decimal(1).scaleb(exponent)
        for factor, following, rank in ((1, 2, _DECADE), (2, 5, _TWO), (5, 10, _FIVE)):
            lower, upper = power * factor, power * following
            if upper <= first and upper <= low:
                continue
            ranks.setdefault(lower, rank)
            units = [power * part for part in _PARTS if not whole or power * part >= 1]
            ranks |= dict(_steps(side, (lower, upper), units, most))
            if upper > last:
                ranks[upper] = _ALWAYS
                return _from_first(ranks, first)
        exponent += 1


def _from_first(ranks: dict[Decimal, int], first: Decimal) -> dict[Decimal, int]:
    """Drop cuts below the last one before the first value, but for zero and its end."""
    if Decimal(0) in ranks:
        return ranks
    start = max(cut for cut in ranks if cut <= first)
    return {cut: rank if cut > start else _ALWAYS for cut, rank in ranks.items() if cut >= start}


def _steps(
    side: _Side,
    ends: tuple[Decimal, Decimal],
    units: Sequence[Decimal],
    most: float,
    depth: int = 0,
) -> Iterator[tuple[Decimal, int]]:
    """Yield the steps into which an interval of too many records is cut."""
    lower, upper = ends
    is_fine = side.between(lower, upper) <= most or side.is_one_value(lower, upper)
    if is_fine or depth == len(units):
        return
    size = int((upper - lower) / units[depth])
    cuts = [*(lower + units[depth] * place for place in range(size)), upper]
    yield from ((cut, _STEP + depth) for cut in cuts[1:-1])
    for pair in pairwise(cuts):
        yield from _steps(side, pair, units, most, depth + 1)


def _without_sparse(
    ranks: dict[Decimal, int], records: Mapping[Decimal, int]
) -> dict[Decimal, int]:
    """Join intervals of few records to a neighbour, over the finer of their two bounds."""
    side = _Side.of(records)
    few = max(_FEW, _SMALL * side.records[-1])
    cuts = list(ranks)
    place = len(cuts) - 2
    while place >= 0:
        if side.between(cuts[place], cuts[place + 1]) >= few:
            place -= 1
            continue
        ends = [cut for cut in cuts[place : place + 2] if ranks[cut] != _ALWAYS]
        if not ends:
            place -= 1
            continue
        cuts.remove(max(ends, key=lambda cut: (ranks[cut], abs(cut))))
        place = min(place, len(cuts) - 2)
    return {cut: ranks[cut] for cut in cuts}


def _levels(ranks: Mapping[Decimal, int], side: _Side) -> list[list[Decimal]]:
    """Return the cuts of each level: fewer ranks at each, without nearly constant levels."""
    ends = {min(ranks), max(ranks)}
    levels: list[list[Decimal]] = []
    for highest in sorted(set(ranks.values()), reverse=True):
        cuts = [cut for cut, rank in ranks.items() if rank <= highest or cut in ends]
        if not levels or (len(cuts) > 2 and _is_coarser(len(cuts), len(levels[-1]))):
            levels.append(cuts)
    while len(levels) > 1 and is_nearly_constant(
        side.fullest(levels[-1]), side.fullest(levels[-2])
    ):
        levels.pop()
    while len(levels) > _MOST_LEVELS:
        ratios = [len(a) / len(b) for a, b in pairwise(levels)]
        levels.pop(max(1, ratios.index(min(ratios))))
    return levels


def _is_coarser(cuts: int, below: int) -> bool:
    """Tell whether a level has enough fewer cuts than the one below to be worth it."""
    return cuts < below and (cuts <= _FEWER * below or cuts <= _FEW)
