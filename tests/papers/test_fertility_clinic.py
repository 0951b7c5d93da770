"""The page of the fertility clinic shows what is computed; what it calls constructed follows."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.papers.alpha import Effort, best
from tests.papers.designed_clinic import (
    AGES,
    EFFORTS,
    ESTRADIOL,
    LOW,
    NAME,
    SURE,
    K,
    hierarchies,
    k_of,
    labels,
    patients,
)
from tests.papers.fertility_clinic import (
    ALPHA,
    CHOSEN,
    COLLAPSED,
    PAGE,
    Model,
    alphas_of,
    build,
    models,
    precision,
    quality,
    rows_of_tables,
    with_build,
)

TEXT = PAGE.read_text("utf-8")


def cells(heading: str) -> list[list[str]]:
    """Return the rows of the table whose header begins with a word, without the header."""
    (table,) = re.findall(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)
    return [line.strip("| ").split(" | ") for line in table.splitlines()]


def shown_efforts() -> list[Effort]:
    """Return the efforts as the page tells them."""
    return [Effort(int(row[0]), int(row[1]), float(row[2])) for row in cells("effort")]


@pytest.mark.parametrize(("name", "times"), [("age", AGES), ("estradiol", ESTRADIOL)])
def test_the_recipe_stands_on_the_page(name: str, times: dict[int, int]) -> None:
    begins = " | ".join(map(str, times))
    assert f"| {name} from | {begins} |" in TEXT
    assert f"| times | {' | '.join(map(str, times.values()))} |" in TEXT
    assert f"{sum(AGES.values()) * sum(ESTRADIOL.values()):,}" == "2,538"


def smallest_sum(column: str, level: int) -> int:
    """Sum what the recipe gives each interval of a level; nobody makes no class."""
    tree, times = hierarchies()[column], {"age": AGES, "estradiol": ESTRADIOL}[column]
    sums: dict[str, int] = {}
    for leaf, label in zip(tree.lower_bounds, tree.labels[level - 1], strict=True):
        sums[label] = sums.get(label, 0) + times.get(int(leaf), 0)
    return min(number for number in sums.values() if number)


def test_k_is_the_product_of_the_smallest_sums() -> None:
    assert [smallest_sum("age", level) for level in range(1, 5)] == [2, 2, 2, 2]
    assert [smallest_sum("estradiol", level) for level in range(1, 5)] == [2, 5, 8, 14]
    sums = [smallest_sum("age", a) * smallest_sum("estradiol", e) for a, e in EFFORTS]
    assert sums == list(K)
    assert [effort.k for effort in shown_efforts()] == [1, *K]


@pytest.mark.parametrize("seed", [1, 7])
def test_every_seed_has_the_k_of_the_paper(seed: int) -> None:
    table = patients(seed)
    assert len(table) == 2538
    assert [k_of(table, levels) for levels in EFFORTS] == list(K)
    assert {4, 10, 16, 28} == set(K)
    assert K[CHOSEN - 1] == 16


def test_classes_of_16_and_28_were_there_before() -> None:
    """A class that grows by less than double has nobody to merge with."""
    table = patients(1)
    for before, after in pairwise(range(2, 6)):
        if K[before] < K[after] < 2 * K[before]:
            sizes = [labels(table, EFFORTS[n]) for n in (before, after)]
            assert K[after] in {sizes[0].count(one) for one in set(sizes[0])}
            assert min(sizes[1].count(one) for one in set(sizes[1])) == K[after]


def test_the_bound_of_the_need_is_kept_up_to_effort_5_and_halves_what_hides_it() -> None:
    tree = hierarchies()["estradiol"]
    for number, (_, level) in enumerate(EFFORTS, start=1):
        sides: dict[bool, set[str]] = {True: set(), False: set()}
        for leaf, label in zip(tree.lower_bounds, tree.labels[level - 1], strict=True):
            if int(leaf) in ESTRADIOL:
                sides[int(leaf) < LOW].add(label)
        assert sides[True].isdisjoint(sides[False]) == (number <= CHOSEN)
    within = {start: times for start, times in ESTRADIOL.items() if start < 160}
    assert sum(times for start, times in within.items() if start < LOW) == 40
    assert sum(within.values()) == 80


def test_the_expected_precision_decides_for_effort_5() -> None:
    """Bagging that finds the bound has .82 to .9; who cannot find it, .5."""
    for knowing in (SURE, SURE**2 + (1 - SURE) ** 2):
        expected = Model("any", (*[knowing] * 6, 0.5, 0.5), (1, *K))
        assert expected.is_alike
    assert round(quality(0, 16) - quality(0, 10), 3) == 0.041
    assert round(quality(0, 28) - quality(0, 16), 3) == 0.029
    assert not Model("keeps", (SURE,) * 8, (1, *K)).is_alike
    assert not Model("fails", (SURE, *[0.5] * 7), (1, *K)).is_alike


def test_bagging_without_dbt_finds_the_bound_and_loses_it() -> None:
    rows = {row[0]: row[1:] for row in cells("certainty")}
    for column, effort in ((1, CHOSEN), (2, COLLAPSED[0])):
        middle, low, high = map(float, re.findall(r"\d\.\d+", rows["0.9"][column]))
        found = precision(1, SURE, effort)
        assert low - 0.005 <= found <= high + 0.005
        assert abs(found - shown_efforts()[effort].qf) < 0.05
        assert low <= middle <= high
    assert all(row[-1] == "20 of 20" for row in rows.values())


def test_comparisons_follow_from_the_rows() -> None:
    efforts = shown_efforts()
    first = [effort.qf for effort in efforts[1 : CHOSEN + 1]]
    untouched, *collapsed = (efforts[n].qf for n in (0, *COLLAPSED))
    printed = [f"{value:.3f}"[1:] for value in (min(first), max(first), untouched, *collapsed)]
    low, high, raw, sixth, seventh = printed
    assert f"| {low} to {high}, untouched {raw} |" in TEXT
    assert f"| {sixth} and {seventh}; " in TEXT
    chosen = cells("effort")[CHOSEN]
    assert chosen[-1] == "yes"
    assert (chosen[3], chosen[4]) == ("-0.017", "0.01")
    assert round(efforts[CHOSEN].qf - untouched, 3) == -0.003
    assert max(efforts[1:], key=lambda one: quality(one.qf, one.k)).number == CHOSEN
    # With k itself alpha is of another scale.
    assert best(efforts, ALPHA).number in COLLAPSED
    assert alphas_of(efforts, CHOSEN) == pytest.approx((0.0004, 0.031), rel=0.1)


def test_all_models_are_alike() -> None:
    rows = cells("model")
    assert len(rows) == 5
    assert all((row[4], row[-1]) == (str(CHOSEN), "yes") for row in rows)


@pytest.mark.slow
@pytest.mark.needs("details")
def test_the_page_shows_what_the_build_gives(tmp_path: Path) -> None:
    project = build(tmp_path)
    query = project.query
    assert with_build(TEXT, query) == TEXT
    assert all(model.is_alike for model in models(query))
    removed = {"name", "surname", "contact", "address"}
    for relation in (f"{NAME}_anonymized", *(f"{NAME}_effort_{n}" for n in range(8))):
        columns = query(f"select column_name from duckdb_columns() where table_name = '{relation}'")
        assert columns
        assert removed.isdisjoint(name for (name,) in columns)
    released = f"release_{NAME}.{NAME}_anonymized"
    assert query(f"select min(n) from (select count(*) as n from {released} group by cqi)") == [
        (16,)
    ]
    assert query(f"select choice_share from main.{NAME}_results where is_chosen") == [(1.0,)]
    zero = f"select round(max(zero_rule), 3) from main.{NAME}_quality"
    assert query(f"{zero} where model = 'bagging' and measure = 'precision'") == [(0.441,)]
    ranges = f"select alpha_from, alpha_to from main.{NAME}_alpha_ranges where effort = {CHOSEN}"
    ((low, high),) = query(ranges)
    assert (round(low, 2), round(high, 1)) == (0.06, 13.9)
    assert TEXT.count("from .06 to 13.9") == 2


@pytest.mark.slow
def test_the_page_shows_what_further_tables_give() -> None:
    # The others by `make papers`: a row takes a minute.
    assert cells("certainty")[0] == [str(cell) for cell in next(rows_of_tables())]
