"""The measured attacks once more, record by record; it shares nothing with the product."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.extensions.external_efforts.world import CITIES

# A record, or a row: age or bounds, city or region, income, illness.
Row = tuple[Any, ...]
NAMES = ("age", "city", "income", "ill")


def is_held(name: str, shown: Any, known: Any) -> bool:
    """Tell whether a shown value can be that of somebody."""
    if name == "age":
        low, high = shown
        return bool(known == low if low == high else low <= known < high)
    if name == "city":
        return bool(shown in (known, CITIES[known], "*"))
    return bool(shown == known)


def singled_out(rows: Sequence[Row], groups: Sequence[Sequence[Row]], width: int) -> list[float]:
    """Return the share of predicates of so many columns that one person of a group satisfies."""
    predicates = [
        (columns, values)
        for columns in itertools.combinations(range(len(NAMES)), width)
        for values in {tuple(row[at] for at in columns) for row in rows}
    ]
    return [
        sum(
            sum(
                all(
                    is_held(NAMES[at], shown, person[at])
                    for at, shown in zip(columns, values, strict=True)
                )
                for person in group
            )
            == 1
            for columns, values in predicates
        )
        / len(predicates)
        for group in groups
    ]


def inferred(rows: Sequence[Row], group: Sequence[Row], known: Sequence[str]) -> float:
    """Return the share of a group whose illness is guessed from the first columns that fit."""
    overall = _most([row[3] for row in rows])
    right = 0
    for person in group:
        guess = overall
        for columns in (known, ("age", "city")):
            found = [row[3] for row in rows if _fits(row, person, columns)]
            if found:
                guess = _most(found)
                break
        right += guess == person[3]
    return right / len(group)


def _fits(row: Row, person: Row, columns: Sequence[str]) -> bool:
    return all(is_held(name, row[NAMES.index(name)], person[NAMES.index(name)]) for name in columns)


def _most(values: Sequence[str]) -> str:
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def chances(rows: Sequence[Row], group: Sequence[Row]) -> Iterator[float]:
    """Yield the chance that two halves of what is known lead to the same row: age, income; city."""
    for person in group:
        first = sum(_fits(row, person, ("age", "income")) for row in rows)
        second = sum(_fits(row, person, ("city",)) for row in rows)
        both = sum(_fits(row, person, ("age", "city", "income")) for row in rows)
        yield both / (first * second) if both else 0.0


def taken_for_members(rows: Sequence[Row], groups: Sequence[Sequence[Row]]) -> list[float]:
    """Return the expected share of each group in the half that is closest to a row."""
    everybody = [person for group in groups for person in group]
    widths = {at: max(p[at] for p in everybody) - min(p[at] for p in everybody) for at in (0, 2)}

    def distance(row: Row, person: Row) -> float:
        low, high = row[0]
        age = max(low - person[0], person[0] - high, 0) / widths[0]
        income = abs(row[2] - person[2]) / widths[2]
        others = sum(not is_held(NAMES[at], row[at], person[at]) for at in (1, 3))
        return float(age + income + others) / 4

    closest = [[min(distance(row, person) for row in rows) for person in group] for group in groups]
    ordered = sorted(itertools.chain(*closest))
    half = len(ordered) // 2
    edge = ordered[half - 1]
    nearer = sum(one < edge - 1e-12 for one in ordered)
    chance = (half - nearer) / sum(abs(one - edge) <= 1e-12 for one in ordered)
    return [
        sum(1.0 if one < edge - 1e-12 else chance * (abs(one - edge) <= 1e-12) for one in some)
        / len(some)
        for some in closest
    ]


def close_alone(
    outer: Sequence[Row], rows: Sequence[Row], inner: Sequence[Row], numbers: Sequence[int]
) -> list[tuple[int, int]]:
    """Count records that are close to a row alone, and to an inner record alone.

    ``numbers`` are the places of columns that are no category.
    """
    width = len(outer[0])
    ranges = {}
    for at in numbers:
        known = [record[at] for record in [*outer, *inner] if not math.isnan(record[at])]
        ranges[at] = (max(known) - min(known)) or 1.0

    def apart(one: Row, other: Row, at: int) -> float:
        if at not in numbers:
            return float(one[at] != other[at])
        unknown = [math.isnan(value) for value in (one[at], other[at])]
        if any(unknown):
            return float(not all(unknown))
        return float(min(abs(one[at] - other[at]) / ranges[at], 1))

    def ends(record: Row, others: Sequence[Row], used: Sequence[int]) -> tuple[float, float]:
        found = sorted(round(sum(apart(record, one, at) for at in used), 9) for one in others)
        return found[0], found[:10][-1]

    def share(distance: float, around: float) -> float:
        return distance / around if around else math.inf

    counts = []
    for left_out in [None, *range(width)] if width > 1 else [None]:
        used = [at for at in range(width) if at != left_out]
        to_rows = [ends(record, rows, used) for record in outer]
        to_inner = [ends(record, inner, used) for record in outer]
        control = [share(*one) for one in to_inner]
        unequal = sorted(one for one in control if 0 < one < math.inf)
        limit = (unequal[math.ceil(0.05 * len(unequal)) - 1] if unequal else 0.0) + 1e-7
        is_row = [
            share(near, min(far, inner_far)) <= limit
            for (near, far), (_, inner_far) in zip(to_rows, to_inner, strict=True)
        ]
        is_record = [one <= limit for one in control]
        # Equal records count once.
        once = {tuple(str(record[at]) for at in used): at for at, record in enumerate(outer)}
        pairs = [(is_row[at], is_record[at]) for at in once.values()]
        counts.append((pairs.count((True, False)), pairs.count((False, True))))
    return counts


def sign_test(more: int, less: int) -> float:
    """Return the chance of so many heads, or more, of a coin with 0.55."""
    throws = more + less
    return sum(
        math.comb(throws, heads) * 0.55**heads * 0.45 ** (throws - heads)
        for heads in range(more, throws + 1)
    )
