"""Hidden cells of a line whose records are of few people, or mostly of one.

The records that a line hides follow from its total. The cells may be hidden well one by one, and
yet all be of the same two people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dbt_anonymize.extensions.tables.programs import Known, Program

if TYPE_CHECKING:
    from dbt_anonymize.arrays import Bools, Floats, Ints
    from dbt_anonymize.extensions.tables.hiding import Measure
    from dbt_anonymize.extensions.tables.primary import Primary, TableRules
    from dbt_anonymize.extensions.tables.reading import Published

# Solvers leave off as much of whole numbers.
ROOM = 0.5


class FewPeople(NamedTuple):
    """The records of each person in cells of fewer people than the minimum frequency, by cell."""

    records: Mapping[int, Mapping[str, float]]
    rules: TableRules


class HiddenOfLine(NamedTuple):
    """Cells that a line hides, those that it shows with somebody in them, and what rules say."""

    cells: Ints
    shown: Ints
    records: float
    primary: Primary


def records_of_few(
    cells: Iterable[int], texts: Iterable[str | None]
) -> dict[int, dict[str, float]]:
    """Return the records of few people from texts, by cell.

    Examples
    --------
    >>> records_of_few([3, 4], ["17:2 90:1", None])
    {3: {'17': 2.0, '90': 1.0}}
    """
    found = {}
    for cell, text in zip(cells, texts, strict=True):
        if isinstance(text, str):  # NULL is NaN here
            pairs = (one.split(":") for one in text.split(" "))
            found[int(cell)] = {person: float(records) for person, records in pairs}
    return found


def told_of_few(
    table: Published, records: Floats, least: Floats, is_hidden: Bools, few_people: FewPeople
) -> Iterator[HiddenOfLine]:
    """Yield what lines hide of few people, where all that is shown tells it too closely.

    ``least`` is how much is known of each cell if it is hidden.
    """
    known = Known.of_hidden(records, is_hidden, least)
    program: Program | None = None
    for one in _of_few(table, records, is_hidden, few_people):
        program = program or Program.of(table.cube, known)
        weights = np.asarray(program.members[one.cells].sum(axis=0)).ravel()
        lowest, highest = (_end(program, weights, sign) for sign in (-1.0, 1.0))
        low = max(one.records - one.primary.lower[0], least[one.cells].sum())
        if lowest > low + ROOM or highest < one.records + one.primary.upper[0] - ROOM:
            yield one


def _end(program: Program, weights: Floats, sign: float) -> float:
    found = program.solution(sign * weights)
    return sign * np.inf if found is None else float(weights[weights > 0] @ found[weights > 0])


def _of_few(
    table: Published, records: Floats, is_hidden: Bools, few_people: FewPeople
) -> Iterator[HiddenOfLine]:
    """Yield what lines hide, if it is of few people and they show something beside.

    Without that it is all of the total, which has a verdict of its own.
    """
    if not few_people.records:
        return
    for _, parts in table.cube.lines():
        some = parts[records[parts] > 0]
        hidden, shown = some[is_hidden[some]], some[~is_hidden[some]]
        if len(hidden) < 2 or not len(shown) or not few_people.records.keys() >= {*hidden.tolist()}:
            continue
        of_person = Counter[str]()
        for cell in hidden:
            of_person.update(few_people.records[int(cell)])
        largest = sorted(of_person.values(), reverse=True)
        first, second = np.array([*largest, 0.0][:2])[:, None]
        total, people = np.array([float(sum(largest))]), np.array([float(len(largest))])
        primary = few_people.rules.of_records(total, people, first, second)
        if primary.is_primary.any():
            yield HiddenOfLine(hidden, shown, float(total[0]), primary)


def with_others(measure: Measure, told: Iterable[HiddenOfLine]) -> Measure:
    """Return a measure that also demands of one more cell of each line to be as uncertain."""
    is_primary = measure.primary.is_primary.copy()
    lower, upper = measure.primary.lower.copy(), measure.primary.upper.copy()
    largest = np.zeros_like(lower) if measure.largest is None else measure.largest
    for one in told:
        others = measure.figures[one.shown] - largest[one.shown]
        has_room = others >= min(one.primary.upper[0], others.max())
        cell = min(one.shown[has_room], key=measure.figures.__getitem__)
        is_primary[cell] = True
        # It falls by as much as the others rise.
        lower[cell] = max(lower[cell], min(one.primary.upper[0], measure.figures[cell] - 1))
        upper[cell] = max(upper[cell], one.primary.lower[0], 1)
    primary = measure.primary._replace(is_primary=is_primary, lower=lower, upper=upper)
    return measure._replace(primary=primary)
