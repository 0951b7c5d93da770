"""A declared table as its efforts protect it, beside all tables that readers may think of."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.tables.cell_keys import perturbation_table
from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.extensions.tables.efforts import table_efforts
from dbt_anonymize.extensions.tables.noise import perturb_table, round_table
from dbt_anonymize.extensions.tables.reading import cell_text
from tests.extensions.tables.counting import Frame, Labels, by_first_letters, counted, protected

pytestmark = pytest.mark.costly

LEAST = 3
WARDS, AGES = ("n", "s"), ("x", "y")
# Of a cell that nothing bounds; above all counts that are drawn.
MOST = 13
HIDE = {"method": "hide"}
Cells = Mapping[tuple[str | None, ...], tuple[Any, str]]


def text_of(cell: tuple[str | None, ...]) -> str:
    return cell_text(dict(zip(("ward", "age"), cell, strict=True)))


def some_people(seed: int, most: int = 4) -> list[tuple[Labels, int]]:
    """Draw a small table: nobody to ``most`` in each cell, with keys."""
    chance = random.Random(seed)
    return [
        (cell, chance.randrange(2**32))
        for cell in itertools.product(WARDS, AGES)
        for _ in range(chance.choice(range(most + 1)))
    ]


def table(*efforts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dimensions": ["ward", "age"], "minimum_frequency": LEAST, "efforts": efforts, **more}


def sums_of(inner: Mapping[tuple[str, str], Any]) -> dict[tuple[str | None, ...], Any]:
    """Return all cells of a table, zeros too; of many tables where each inner cell has an array."""
    cells = itertools.product((*WARDS, None), (*AGES, None))
    return {
        cell: sum(
            count
            for own, count in inner.items()
            if all(mine in (None, other) for mine, other in zip(cell, own, strict=True))
        )
        for cell in cells
    }


def possible(
    shown: Cells, truth: Mapping[Any, int], within: int = 0
) -> dict[tuple[str | None, ...], np.ndarray]:
    """Return each cell in every table that a reader may think of.

    Zeros are shown, and nothing else is known.
    """
    inner = [cell for cell in itertools.product(WARDS, AGES) if truth[cell]]
    counts = np.indices((MOST,) * len(inner)).reshape(len(inner), -1) + 1
    found = sums_of(dict(zip(inner, counts, strict=True)))
    fits = np.ones(counts.shape[1], dtype=bool)
    for cell, (count, _) in shown.items():
        fits &= count is None or abs(found[cell] - count) <= within
    return {cell: np.broadcast_to(values, fits.shape)[fits] for cell, values in found.items()}


def ends_of(
    shown: Cells, truth: Mapping[Any, int], within: int = 0
) -> dict[tuple[str | None, ...], tuple[int, int]]:
    found = possible(shown, truth, within).items()
    return {cell: (int(values.min()), int(values.max())) for cell, values in found}


def truth_of(people: list[tuple[Labels, int]]) -> dict[tuple[str | None, ...], int]:
    inner = dict.fromkeys(itertools.product(WARDS, AGES), 0)
    for cell, _ in people:
        inner[cell] += 1  # type: ignore[index]
    return sums_of(inner)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_no_table_of_a_reader_tells_a_small_cell(seed: int) -> None:
    people = some_people(seed)
    truth = truth_of(people)
    shown, told = protected(people, table(HIDE))
    if told[1]["refusal"]:
        assert told[1]["refusal"].startswith("suppression")
        return
    assert {cell for cell, count in truth.items() if count} == {*shown[1]}
    for cell, (count, status) in shown[1].items():
        assert (count, status) in {(truth[cell], "published"), (None, "hidden")}
    ends = ends_of(shown[1], truth)
    found = {cell: ends[cell] for cell, count in truth.items() if 0 < count < LEAST}
    known_parts = {
        cell: sum(truth[inner] > 0 for inner in truth if is_part(inner, cell)) for cell in found
    }
    shares = [1.0]
    for cell, (low, high) in found.items():
        # As many people as parts are known without the table.
        least = known_parts[cell]
        assert low <= max(1, least), cell
        assert high >= LEAST + 1, cell
        assert told[1]["small"][("people", cell)] == (low, high if high < MOST else None), cell
        if high < MOST:
            shares.append((high - low) / (high - low + LEAST + 1 - least))
    assert told[1]["qnf"] == pytest.approx(min(shares))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_intervals_are_those_of_all_tables_that_a_reader_may_think_of(seed: int) -> None:
    people = some_people(seed, most=6)
    truth = truth_of(people)
    shown, told = protected(people, table(HIDE, intervals=True))
    if told[1]["refusal"]:
        return
    ends = ends_of(shown[1], truth)
    for cell, (count, _) in shown[1].items():
        low, high = ends[cell]
        assert told[1]["intervals"][cell][0] == low
        if count is not None or high < MOST:
            assert told[1]["intervals"][cell][1] == high
        assert count in {None, low}


def test_the_middle_of_an_interval_answers() -> None:
    """Of 9 people the wards n and s have 1 to 8 each: 4.5 is said of both."""
    people = [(("n", "x"), 1)] * 2 + [(("s", "x"), 1)] * 7
    asked = {"shows": [["ward"], []], "questions": [{"share": "ward"}]}
    _, told = protected(people, table(HIDE, intervals=True, **asked))
    assert told[1]["intervals"][("n", None)] == (1, 8)
    assert told[1]["qf"] == pytest.approx(1 - 0.5 * 2 * (7 / 9 - 1 / 2))
    _, without = protected(people, table(HIDE, **asked))
    assert without[1]["qf"] == 0


@pytest.mark.parametrize(
    ("effort", "ends"),
    [
        ({"method": "round", "base": 5}, lambda count: (max(count - 4, 1), count + 4)),
        (
            {"method": "noise", "variance": 2.0, "largest": 3},
            lambda count: (max(count - 3, 1), count + 3),
        ),
    ],
    ids=["round", "noise"],
)
def test_intervals_of_changed_counts_are_as_wide_as_the_largest_change(
    effort: dict[str, Any], ends: Any
) -> None:
    people = some_people(3, most=6)
    truth = truth_of(people)
    shown, told = protected(people, table(effort, intervals=True))
    for cell, (count, _) in shown[1].items():
        low, high = told[1]["intervals"][cell]
        assert (low, high) == ends(count)
        assert low <= truth[cell] <= high


def is_part(inner: tuple[str | None, ...], cell: tuple[str | None, ...]) -> bool:
    whole = all(mine is not None for mine in inner)
    return whole and all(b in (None, a) for a, b in zip(inner, cell, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(6))
def test_margins_that_are_not_shown_tell_nothing(seed: int) -> None:
    people = some_people(seed, most=9)
    shown, told = protected(people, table(HIDE, shows=[["ward"], []]))
    assert told[1]["refusal"] is None
    assert all(cell[1] is None for cell in shown[1])
    assert told[1]["qnf"] >= 0.5


@pytest.mark.parametrize("seed", range(6))
def test_noise_and_rounding_are_those_of_the_functions_for_models(seed: int) -> None:
    people = some_people(seed, most=6)
    efforts = ({"method": "noise", "variance": 1.5, "largest": 3}, {"method": "round", "base": 3})
    shown, told = protected(people, table(*efforts))
    truth = truth_of(people)
    cells = [cell for cell, count in truth.items() if count]
    keys = [sum(k for own, k in people if is_part(own, cell)) for cell in cells]
    frame = pd.DataFrame({"n": [truth[cell] for cell in cells], "keys": keys})
    noisy = perturb_table(frame, count="n", keys="keys", variance=1.5, largest=3)["n"]
    rounded = round_table(frame, count="n", keys="keys", base=3)["n"]
    for number, counts, status in ((1, noisy, "perturbed"), (2, rounded, "rounded")):
        assert shown[number] == {
            cell: (count, status) for cell, count in zip(cells, counts, strict=True)
        }
        assert told[number]["refusal"] is None
        assert 0 <= told[number]["qnf"] <= 1


def likely_of(shown: int, chances: np.ndarray, largest: int) -> set[int]:
    """Return the counts that become the shown one not too rarely, from a perturbation table."""
    found = {
        count: chances[min(count, len(chances) - 1), shown - count + largest]
        for count in range(1, 30)
        if abs(shown - count) <= largest
    }
    return {count for count, chance in found.items() if chance >= 0.01 * max(found.values())}


@pytest.mark.parametrize("variance", [0.5, 1.0, 1.5])
def test_the_privacy_of_noise_is_what_all_cells_together_leave_open(variance: float) -> None:
    people = [(("n", "x"), 5), (("n", "x"), 9), (("n", "y"), 77), (("s", "x"), 12)]
    effort = {"method": "noise", "variance": variance, "largest": 2}
    shown, told = protected(people, table(effort))
    truth = truth_of(people)
    chances = perturbation_table(variance=variance, largest=2).probabilities
    likely = {
        cell: likely_of(count, chances, 2) | {truth[cell]} for cell, (count, _) in shown[1].items()
    }
    tables = [
        found
        for counts in itertools.product(range(1, 9), repeat=3)
        for found in [sums_of(dict(zip([("n", "x"), ("n", "y"), ("s", "x")], counts, strict=True)))]
        if all(min(some) <= found[cell] <= max(some) for cell, some in likely.items())
    ]
    small = [cell for cell, count in truth.items() if 0 < count < LEAST]
    widths = [max(t[c] for t in tables) - min(t[c] for t in tables) for c in small]
    expected = min(width / (width + LEAST - 1) for width in widths)
    assert told[1]["qnf"] == pytest.approx(expected)


def test_changes_that_hardly_ever_occur_protect_nobody() -> None:
    people = [(("n", "x"), 2**30)] * 2 + [(("s", "y"), 9)] * 9
    effort = {"method": "noise", "variance": 0.01, "largest": 7}
    shown, told = protected(people, table(effort))
    assert shown[1][("n", "x")] == (2, "perturbed")
    assert told[1]["qnf"] < 0.5


def test_what_was_released_keeps_its_status_and_lets_the_table_grow_only() -> None:
    people = [
        ((w, a), 7 * i) for i, (w, a) in enumerate(itertools.product("ns", "xyz")) for _ in range(2)
    ]
    declared = table(HIDE, shows=[["ward", "age"]])
    before, _ = protected(people, declared)
    text = {cell: text_of(cell) for cell in before[1]}
    released = {(1, text[cell]): (status, True) for cell, (_, status) in before[1].items()}
    more = [*people, *((("w", "x"), 99) for _ in range(5))]
    after, told = protected(more, declared, released=released)
    assert told[1]["refusal"] is None
    assert {cell: after[1][cell] for cell in before[1]} == before[1]
    assert after[1][("w", "x")] == (5, "published")
    changed = dict(released)
    changed[(1, text[("n", "x")])] = ("hidden", False)
    _, told = protected(more, declared, released=changed)
    assert "1 of 6 are not" in told[1]["refusal"]


def test_what_is_shown_no_longer_is_known_nevertheless() -> None:
    """Inner cells of before, of which one is hidden, and the totals of today would tell it."""
    people = [
        *((("n", "x"), 1) for _ in range(7)),
        (("n", "y"), 2),
        *((("s", "x"), 3) for _ in range(5)),
        *((("s", "y"), 3) for _ in range(4)),
    ]
    before, _ = protected(people, table(HIDE, shows=[["ward", "age"]]))
    assert before[1][("n", "y")] == (None, "hidden")
    released = {(1, text_of(cell)): (status, True) for cell, (_, status) in before[1].items()}
    _, alone = protected(people, table(HIDE, shows=[["ward"]]))
    assert alone[1]["refusal"] is None
    _, told = protected(people, table(HIDE, shows=[["ward"]]), released=released)
    assert "must stay hidden beside those of an earlier release" in told[1]["refusal"]


def test_an_effort_that_cannot_be_had_is_refused_and_others_compete() -> None:
    impossible = {"method": "noise", "variance": 0.01, "largest": 1, "forbidden": [0, 1, 2, 3, 4]}
    _, told = protected([(("n", "x"), 1)] * 9, table(impossible, {"method": "round", "base": 4}))
    assert told[1]["refusal"]
    assert told[1]["qf"] is None
    assert told[2]["refusal"] is None


def test_coarser_efforts_answer_for_the_finest_labels_in_equal_parts() -> None:
    """Of ages 10 and 11 the coarse table knows that six are in the tens: three each."""
    people = [((age,), 1) for age in ["10"] * 4 + ["11"] * 2 + ["20"] * 6]
    declared = {
        "dimensions": ["age"],
        "minimum_frequency": 2,
        "shows": [["age"]],
        "efforts": [
            {"method": "hide"},
            {"method": "hide", "levels": {"age": 1}},
        ],
        "questions": [{"share": "age"}],
    }
    _, told = protected(people, declared, coarser=by_first_letters)
    assert told[1]["qf"] == pytest.approx(1)
    # Shares are 4, 2, 6 of 12, the answers 3, 3, 6; equal ones 4, 4, 4.
    assert told[2]["qf"] == pytest.approx(1 - 0.5 * 2 / 12)
    assert told[2]["zero_rule"] == pytest.approx(1 - 0.5 * 4 / 12)


class Unread:
    """Stands for cells of which no row may be read."""

    def filter(self, condition: str) -> Frame:
        """Return no rows."""
        assert condition == "effort in (null)"
        columns = ["effort", "cell", "zip", "street", "people", "keys", "released", "is_same"]
        return Frame(pd.DataFrame(columns=columns))


@pytest.mark.parametrize(
    ("finest", "message"),
    [
        (4000, "(zip 4,000, street 4,000, the finest of all efforts) it has 16,008,001. Coarsen a"),
        (1500, "at most 1,000,000 cells, totals included; with its labels (zip 1,500, street 1,"),
    ],
)
def test_a_table_of_too_many_cells_is_refused_before_they_are_read(
    finest: int, message: str
) -> None:
    declared = {"dimensions": ["zip", "street"], "efforts": [{"method": "round", "base": 5}]}
    labels = [
        {"effort": effort, "dimension": name, "level": 0, "label": str(n), "finest_label": str(n)}
        for effort in (0, 1)
        for name in ("zip", "street")
        for n in range(finest)
    ]
    if finest == 4000:
        cells: Any = Unread()
    else:
        cells = Frame(Unread().filter("effort in (null)").frame)
    text = Table.model_validate(declared).model_dump_json(exclude_unset=True)
    (told,) = table_efforts(cells, Frame(pd.DataFrame(labels)), text).to_dict("records")  # type: ignore[arg-type]
    assert told["kind"] == "effort"
    assert message in told["refusal"]


def test_intervals_know_nothing_of_cells_that_are_not_shown() -> None:
    """Nobody of a2 is in b2, which the inner cells say, and these are not shown."""
    people = [
        *[(("a2", "b1"), 1)] * 2,
        *[(("a2", "b3"), 1)] * 2,
        *[(("a3", "b1"), 1)] * 2,
        *[(("a3", "b2"), 1)] * 9,
    ]
    shows = {"shows": [["ward"], ["age"]], "minimum_frequency": 5}
    shown, told = protected(people, {**table(HIDE, intervals=True), **shows})
    assert shown[1][("a3", None)] == (11, "published")
    assert shown[1][(None, "b2")] == (None, "hidden")
    assert told[1]["intervals"][(None, "b2")] == (1, None)


def test_sums_of_margins_are_protected_where_a_cell_below_is_empty() -> None:
    cells = {("a1", "b1"): 6, ("a1", "b2"): 6, ("a2", "b1"): 6}
    people = [(cell, 1) for cell, count in cells.items() for _ in range(count)]
    declared = {**table(HIDE, shows=[["ward"]], sums=["cost"]), "p_percent": 10.0}
    own = Table.model_validate(declared)
    counts, labels = counted(people, own)
    rows = counts.frame.assign(cost=lambda frame: 10.0 * frame["people"], sums="")
    rows = rows.assign(cost_first=10.0, cost_second=10.0)
    text = own.model_dump_json(exclude_unset=True)
    found = table_efforts(Frame(rows), labels, text)  # type: ignore[arg-type]
    (told,) = found[found["kind"] == "effort"].to_dict("records")
    assert told["refusal"] is None


def test_what_is_known_of_parts_that_are_totals_themselves_is_not_asked_to_be_hidden() -> None:
    """Two people of a1 are in b1 and b2, which no inner cell says: those are not shown."""
    people = [(("a1", "b1", "c"), 1), (("a1", "b2", "c"), 1)]
    people += [(("a2", f"b{number}", "c"), 1) for number in (1, 2, 3) for _ in range(9)]
    declared = {
        "dimensions": ["a", "b", "c"],
        "efforts": [HIDE],
        "shows": [["a", "b"], ["a"]],
        "minimum_frequency": 5,
    }
    shown, told = protected(people, declared)
    assert told[1]["refusal"] is None
    assert shown[1][("a1", None, None)] == (None, "hidden")
    assert told[1]["small"][("people", ("a1", None, None))] == (2, None)
