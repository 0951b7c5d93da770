"""Records of people who have several, hidden by the people, beside all tables of a reader."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.extensions.tables.efforts import table_efforts
from tests.extensions.tables.counting import Frame, Labels, counted
from tests.extensions.tables.test_efforts import (
    AGES,
    HIDE,
    LEAST,
    MOST,
    WARDS,
    ends_of,
    is_part,
    sums_of,
    table,
)

P_PERCENT = 20
Cell = tuple[str | None, ...]
People = dict[str, list[Labels]]


def some_people(seed: int) -> People:
    """Draw up to six people with up to four records each."""
    chance = random.Random(seed)
    cells = [*itertools.product(WARDS, AGES)]
    return {
        str(person): [chance.choice(cells) for _ in range(chance.choice((1, 1, 2, 4)))]
        for person in range(chance.randint(1, 6))
    }


def own_records(people: People) -> dict[Cell, list[int]]:
    """Return how many records each person has in each cell, totals too, the largest first."""
    found = defaultdict[Cell, Counter[str]](Counter)
    for person, records in people.items():
        for cell in records:
            for labels in itertools.product(*((label, None) for label in cell)):
                found[labels][person] += 1
    return {cell: sorted(own.values(), reverse=True) for cell, own in found.items()}


def protected(
    people: People, **declared: Any
) -> tuple[dict[Cell, tuple[Any, str]], dict[Cell, tuple[Any, Any]], dict[str, Any]]:
    """Return shown cells, what is told of small ones, and what is said of the effort."""
    own = Table.model_validate(table(HIDE, counts="records", p_percent=P_PERCENT, **declared))
    records = [(cell, 0) for cells in people.values() for cell in cells]
    cells, labels = counted(records, own)
    of_cells = own_records(people)
    known = cells.frame[["ward", "age"]].astype(object).where(cells.frame.notna(), None)
    largest = [of_cells[cell] for cell in known.itertuples(index=False, name=None)]
    figures = cells.frame.assign(
        people=[*map(len, largest)],
        records=[*map(sum, largest)],
        records_first=[one[0] for one in largest],
        records_second=[[*one, 0][1] for one in largest],
    )
    text = own.model_dump_json(exclude_unset=True)
    rows = table_efforts(Frame(figures), labels, text)  # type: ignore[arg-type]
    found = rows.astype(object).where(rows.notna(), None).to_dict("records")
    shown = {
        (r["ward"], r["age"]): (r["records"], r["status"]) for r in found if r["kind"] == "cell"
    }
    small = {
        (r["ward"], r["age"]): (r["lowest"], r["highest"]) for r in found if r["kind"] == "small"
    }
    assert {r["measure"] for r in found if r["kind"] == "small"} <= {"records"}
    (said,) = [r for r in found if r["kind"] == "effort"]
    return shown, small, said


def demanded(own: list[int]) -> tuple[int, int] | None:
    """Return how far below and above the true number a reader must think it possible."""
    records, others = sum(own), sum(own[2:])
    of_sums = math.ceil(max(0.0, P_PERCENT / 100 * own[0] - others) - 1e-9)
    if len(own) >= LEAST and not of_sums:
        return None
    lower, upper = 0, 0
    if len(own) < LEAST:  # somebody knows all records of one of them
        lower, upper = min(records - 1, LEAST), max(LEAST + 1 - (records - own[0]), 1)
    return min(max(lower, of_sums), records - 1), max(upper, of_sums)


@pytest.mark.parametrize("seed", range(30))
def test_no_table_of_a_reader_tells_records_of_few(seed: int) -> None:
    people = some_people(seed)
    own = own_records(people)
    truth = sums_of({cell: sum(own.get(cell, [])) for cell in itertools.product(WARDS, AGES)})
    shown, told, said = protected(people)
    assert said["refusal"] is None
    assert {*shown} == {*own}
    small = {cell: found for cell, one in own.items() if (found := demanded(one))}
    assert {*told} == {*small}
    ends = ends_of(shown, truth)
    parts = {cell: sum(truth[one] > 0 for one in truth if is_part(one, cell)) for cell in small}
    for cell, (records, status) in shown.items():
        assert (records, status) in {(truth[cell], "published"), (None, "hidden")}
        assert cell not in small or status == "hidden"
    for cell, (lower, upper) in small.items():
        low, high = ends[cell]
        assert low <= max(truth[cell] - lower, parts[cell]), cell
        assert high >= truth[cell] + upper, cell
        assert told[cell] == (low, high if high < MOST else None), cell
    assert said["qnf"] >= 0.5
    # What is hidden of a line follows from its total: it is of enough people, each once per cell.
    for parts_of_line in hidden_of_lines(shown):
        inner = [one for one in own if any(is_part(one, cell) for cell in parts_of_line)]
        assert sum(len(own[one]) for one in inner) > LEAST, parts_of_line


def hidden_of_lines(shown: dict[Cell, tuple[Any, str]]) -> list[list[Cell]]:
    """Return the hidden cells of each line whose total is shown."""
    lines = []
    for total, axis in itertools.product([c for c in shown if shown[c][0] is not None], (0, 1)):
        if total[axis] is None:
            line = [c for c in shown if c[axis] is not None and c[1 - axis] == total[1 - axis]]
            lines.append([c for c in line if shown[c][0] is None])
    return [line for line in lines if line]


def test_many_records_of_two_people_are_not_what_a_line_hides() -> None:
    people: People = {"0": [("n", "x")] * 50, "1": [("s", "x")] * 50}
    people |= {str(place): [("n", "y")] * 3 for place in range(2, 2 + 4 * LEAST)}
    shown, _, said = protected(people)
    assert said["refusal"] is None
    assert shown[(None, "x")][1] == "hidden"


def test_enough_people_with_a_record_each_are_shown() -> None:
    people: People = {str(place): [("n", "x"), ("s", "y")] for place in range(LEAST + 2)}
    shown, told, said = protected(people, intervals=True)
    assert shown[(None, None)] == (2 * LEAST + 4, "published")
    assert {found for cell, found in shown.items() if cell[0]} == {(LEAST + 2, "published")}
    assert not told
    assert said["qnf"] == 1


def test_who_has_nearly_all_records_of_a_cell_is_hidden() -> None:
    people: People = {str(place): [("n", "x"), ("s", "x")] for place in range(LEAST + 2)}
    people["0"] += [("n", "x")] * 40
    shown, told, _ = protected(people)
    assert shown[("n", "x")][1] == "hidden"
    assert ("n", "x") in told
