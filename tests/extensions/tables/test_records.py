"""Records of people who have several, hidden by the people, beside all tables of a reader."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.extensions.tables.efforts import table_efforts
from dbt_anonymize.extensions.tables.recount import Counted
from dbt_anonymize.extensions.tables.released_audit import Released, audited
from dbt_anonymize.verify.finding import Finding
from tests.extensions.tables.counting import Frame, Labels, counted
from tests.extensions.tables.test_efforts import (
    AGES,
    HIDE,
    LEAST,
    MOST,
    WARDS,
    ends_of,
    is_part,
    possible,
    sums_of,
    table,
)

pytestmark = pytest.mark.costly

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


def records_of_people(people: People) -> dict[Cell, Counter[str]]:
    """Return how many records each person has in each cell, totals too."""
    found = defaultdict[Cell, Counter[str]](Counter)
    for person, records in people.items():
        for cell in records:
            for labels in itertools.product(*((label, None) for label in cell)):
                found[labels][person] += 1
    return dict(found)


def own_records(people: People) -> dict[Cell, list[int]]:
    """Return the same numbers without the people, the largest first."""
    found = records_of_people(people)
    return {cell: sorted(own.values(), reverse=True) for cell, own in found.items()}


def few_of(own: Counter[str]) -> str | None:
    """Return the people of a cell with their records, if they are few."""
    if len(own) >= LEAST:
        return None
    return " ".join(f"{person}:{records}" for person, records in own.items())


def protected(
    people: People, **declared: Any
) -> tuple[dict[Cell, tuple[Any, str]], dict[Cell, tuple[Any, Any]], dict[str, Any]]:
    """Return shown cells, what is told of small ones, and what is said of the effort."""
    own = Table.model_validate(table(HIDE, counts="records", p_percent=P_PERCENT, **declared))
    records = [(cell, 0) for cells in people.values() for cell in cells]
    cells, labels = counted(records, own)
    of_cells = own_records(people)
    known = cells.frame[["ward", "age"]].astype(object).where(cells.frame.notna(), None)
    named = [*known.itertuples(index=False, name=None)]
    largest = [of_cells[cell] for cell in named]
    of_people = records_of_people(people)
    figures = cells.frame.assign(
        people=[*map(len, largest)],
        records=[*map(sum, largest)],
        records_first=[one[0] for one in largest],
        records_second=[[*one, 0][1] for one in largest],
        few_people=[few_of(of_people[cell]) for cell in named],
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


@pytest.mark.sampled(4)
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
    of_people = records_of_people(people)
    # What is hidden of a line follows from its total: it is of enough people.
    for parts_of_line in hidden_of_lines(shown):
        together = sum((of_people[cell] for cell in parts_of_line), Counter[str]())
        assert len(together) >= LEAST, parts_of_line
        assert any(len(own[cell]) >= LEAST for cell in parts_of_line) or not too_much(together)
    # Whoever has records in the table knows them.
    tables = possible(shown, truth)
    for person in people:
        fits = np.all([tables[c] >= of_people[c][person] for c in truth if truth[c]], axis=0)
        for cell, (lower, upper) in small.items():
            known = sum(max(own[one]) for one in own if is_part(one, cell))
            assert tables[cell][fits].min() <= max(truth[cell] - lower, known), (person, cell)
            assert tables[cell][fits].max() >= truth[cell] + upper, (person, cell)


def too_much(together: Counter[str]) -> bool:
    """Tell whether the second of some people can tell the records of the first too closely."""
    found = demanded(sorted(together.values(), reverse=True))
    return len(together) >= LEAST and found is not None


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


# Both have two records in each of two wards, and the others of that age are ten.
TOGETHER: People = {
    **{person: [("n", "x"), ("n", "x"), ("s", "x"), ("s", "x")] for person in ("a", "b")},
    **{f"w{place}": [("w", "x")] for place in range(10)},
    **{f"{ward}{place}": [(ward, "y")] for place in range(5) for ward in ("n", "s", "v")},
}


def verified(shown: dict[Cell, tuple[Any, str]], people: People) -> Finding:
    """Return what `verify` says of the hidden cells of a table."""
    of_people, own = records_of_people(people), own_records(people)
    truth = {
        cell: Counted(len(of_person), (sum(of_person.values()),), [tuple([*own[cell], 0][:2])])
        for cell, of_person in of_people.items()
    }
    truth = {
        cell: one._replace(few=of_people[cell] if one.people < LEAST else None)
        for cell, one in truth.items()
    }
    declared = Table.model_validate(table(HIDE, counts="records", p_percent=P_PERCENT))
    return audited(Released(1, shown, {}, is_earlier=False), truth, declared, {}, list)


def test_what_a_line_hides_of_the_same_few_people_is_hidden_among_others() -> None:
    shown, _, said = protected(TOGETHER)
    assert said["refusal"] is None
    assert "hidden" in {shown[("w", "x")][1], shown[(None, "x")][1]}
    assert verified(shown, TOGETHER).holds
    told = shown | dict.fromkeys(((None, "x"), ("w", "x")), (10, "published"))
    told[(None, "x")] = (18, "published")
    (line,) = [one for one in hidden_of_lines(told) if one[0][1] == one[-1][1] == "x"]
    assert {*line} == {("n", "x"), ("s", "x")}
    assert not verified(told, TOGETHER).holds


def test_verify_reckons_with_what_a_contributor_knows() -> None:
    # Of five records of a ward hers are three, so that the others can give up two.
    people: People = {"a": [("w", "x")] * 3, "b": [("w", "x")], "c": [("w", "x")]}
    people |= {name: [("n", "x")] for name in ("d", "e")}
    people |= {f"{ward}{place}": [(ward, "y")] for place in range(9) for ward in "nsw"}
    people |= {f"s{place}": [("s", "x")] for place in range(9)}
    own = own_records(people)
    block = [*itertools.product("nw", "xy")]
    told: dict[Cell, tuple[Any, str]] = {
        cell: (None, "hidden") if cell in block else (sum(records), "published")
        for cell, records in own.items()
    }
    assert not verified(told, people).holds
    of_others = people | {"a": [("w", "x")], "f": [("w", "x")], "g": [("w", "x")]}
    assert verified(told, of_others).holds
    shown, _, said = protected(people)
    assert said["refusal"] is None
    assert verified(shown, people).holds
