"""Levels of linked tables: bounds and searches against all levels of small random graphs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.linked.levels import forecast
from dbt_anonymize.extensions.linked.levels.coded import Aim, CodedTables, code_tables
from dbt_anonymize.extensions.linked.levels.forecast import Forecast, Nodes
from dbt_anonymize.extensions.linked.levels.search import LevelSearch, draft
from tests import sampling
from tests.extensions.linked.worlds import declared, world

GRAPHS = sampling.number_of("random graphs whose levels are searched", 60, 6)
AIMS = [Aim(2, 2), Aim(3, 1), Aim(2, "all"), Aim(2, 1, known_count=True)]
AIMS += [Aim(2, 2, False, "arithmetic_mean", 0.3), Aim(2, 2, False, "maximum", 0.8)]
AIMS += [Aim(2, 2, diversity=2), Aim(3, 1, diversity=3), Aim(2, "all", diversity=2)]
AIMS += [Aim(2, 1, known_count=True, diversity=2)]
PEOPLE, WARDS = 40, 8
HALVES = [["ward " + str(ward) for ward in range(WARDS)], ["low"] * 4 + ["high"] * 4, ["*"] * WARDS]


def classes(people: int, k: int, seed: int) -> Any:
    """Return random classes of k or more people; some people are left out."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 3, people)
    drawn[rng.random(people) < 0.1] = -1
    sizes = np.bincount(drawn[drawn >= 0], minlength=3)
    return np.where((drawn >= 0) & (sizes[drawn] >= k), drawn, -1)


def diverse(of_people: Any, tables: CodedTables, diversity: int) -> Any:
    """Leave out people until no own value tells a class, as an effort does."""
    of_people, (held,) = of_people.copy(), tables.sensitive
    for class_ in range(3):
        while len(here := np.flatnonzero(of_people == class_)):
            counts = np.bincount(held[here])
            if counts.max() * diversity <= len(here):
                break
            of_people[here[held[here] == counts.argmax()][-1]] = -1
    return of_people


def world_of(seed: int, aim: Aim) -> CodedTables:
    """Return a random graph, with limits that diversity can keep where it is asked for."""
    return world(seed, limits=(0.8, 0.8) if aim.diversity else (0.4, 0.4))


def classes_of(tables: CodedTables, aim: Aim, seed: int) -> Any:
    """Return random classes in which an effort would keep the aim."""
    of_people = classes(24, aim.k, seed)
    if aim.diversity is None:
        return of_people
    of_people = diverse(of_people, tables, aim.diversity)
    return np.where(np.bincount(of_people + 1)[of_people + 1] >= aim.k, of_people, -1)


def all_nodes(forecast: Forecast) -> list[Nodes]:
    return list(itertools.product(*(table.nodes for table in forecast.tables.listed)))


def total(forecast: Forecast, nodes: Nodes) -> float:
    outcomes = forecast.outcome(nodes)
    return math.inf if outcomes is None else math.fsum(one.loss for one in outcomes)


@pytest.mark.parametrize("aim", AIMS, ids=str)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_the_search_finds_what_all_levels_show(seed: int, aim: Aim) -> None:
    tables = world_of(seed, aim)
    of_people = classes_of(tables, aim, seed)
    forecast = Forecast(tables, of_people, aim)
    least = min(total(forecast, nodes) for nodes in all_nodes(forecast))

    search = LevelSearch(tables, of_people, aim)
    search.begin()
    bounds = [search.bound]
    while not search.is_over:
        if search.best is None or search.best.loss > least + 1e-9:
            assert search.bound <= least + 1e-9
        search.step()
        bounds.append(search.bound)

    assert (search.best.loss if search.best else math.inf) == pytest.approx(least)
    assert search.bound == math.inf
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("aim", AIMS, ids=str)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_bounds_hold_for_all_levels(seed: int, aim: Aim) -> None:
    tables = world_of(seed, aim)
    forecast = Forecast(tables, classes_of(tables, aim, seed), aim)
    free = [
        dict(zip(table.nodes, forecast.free_bounds(place), strict=True))
        for place, table in enumerate(tables.listed)
    ]
    for nodes in all_nodes(forecast):
        outcomes = forecast.outcome(nodes)
        for place, node in enumerate(nodes):
            bound = forecast.bound(place, node)
            assert free[place][node] <= bound + 1e-9
            if outcomes is None:
                continue
            assert bound <= outcomes[place].loss + 1e-9


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_coarser_levels_lose_more_by_themselves_and_fewer_by_suppression(seed: int) -> None:
    """Losses without suppression rise; records that are rare by themselves get fewer."""
    tables, aim = world(seed, limits=(1.0, 1.0)), Aim(2, 2)
    forecast = Forecast(tables, classes(24, 2, seed), aim)
    for place, table in enumerate(tables.listed):
        free = dict(zip(table.nodes, forecast.free_bounds(place), strict=True))
        for finer, coarser in itertools.product(table.nodes, repeat=2):
            if all(map(int.__le__, finer, coarser)):
                assert free[finer] <= free[coarser] + 1e-12
                rare, fewer = (forecast._is_rare(place, node) for node in (finer, coarser))
                assert not (fewer & ~rare).any()


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_where_nothing_is_lost_nothing_is_at_coarser_levels(seed: int) -> None:
    """Own classes may be joined, too."""
    tables, aim = world(seed, limits=(1.0, 1.0)), Aim(2, 2)
    of_people = np.where((drawn := classes(24, 2, seed)) < 0, 0, drawn)
    fine = Forecast(tables, np.where(np.bincount(of_people)[of_people] > 1, of_people, 0), aim)
    joined = Forecast(tables, np.zeros(24, dtype=np.int64), aim)

    def loses_nothing(forecast: Forecast, nodes: Nodes) -> bool:
        outcomes = forecast.outcome(nodes)
        return outcomes is not None and not any(
            one.raised + one.hidden + one.left_out for one in outcomes
        )

    harmless = [nodes for nodes in all_nodes(fine) if loses_nothing(fine, nodes)]
    for nodes in harmless:
        for coarser in all_nodes(fine):
            pairs = zip(itertools.chain(*nodes), itertools.chain(*coarser), strict=True)
            if all(low <= high for low, high in pairs):
                assert loses_nothing(fine, coarser)
                assert loses_nothing(joined, coarser)


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_a_descent_finds_levels_within_the_limits_if_any_are(seed: int) -> None:
    tables, aim = world(seed), Aim(2, 2)
    search = LevelSearch(tables, classes(24, 2, seed), aim)
    search.descend(lambda: False)
    roots = tuple(table.heights for table in tables.listed)
    assert (search.best is not None) >= (search.forecast.outcome(roots) is not None)
    if search.best:
        assert search.best.loss <= total(search.forecast, roots)


def levels(wards: Any, most_lost: float = 0.0, k: int = 4) -> int:
    """Return the drafted place of one stay per person."""
    numbers = np.arange(PEOPLE)
    rows = {"number": numbers, "parent": numbers}
    ages = declared({"age": [["young", "old"], ["*", "*"]]}, rows={**rows, "age": numbers // 20})
    stays = declared({"ward": HALVES}, rows={**rows, "ward": np.array(wards)}, over="")
    (found,) = draft(
        ages,
        {"stays": {**stays, "most_lost": most_lost}},
        efforts=[{"age": 0}],
        k=k,
        known_records=2,
    )
    return int(found["stays"]["ward"])


@pytest.mark.parametrize(
    ("wards", "most_lost", "expected"),
    [
        ([number % 2 for number in range(PEOPLE)], 0.0, 0),
        ([number % 8 for number in range(PEOPLE)], 0.0, 1),  # two or three of each ward and age
        ([0] * 39 + [7], 0.0, 2),
        ([0] * 39 + [7], 0.1, 0),  # the only one is hidden
    ],
)
def test_drafted_levels_lose_the_least_within_the_limit(
    wards: list[int], most_lost: float, expected: int
) -> None:
    assert levels(wards, most_lost) == expected


def test_drafted_levels_are_roots_where_none_lose_few_enough() -> None:
    assert levels([0] * PEOPLE, k=PEOPLE) == 2


def test_records_of_people_who_are_left_out_do_not_make_the_others_coarser() -> None:
    """One of a class by herself has 6 of 46 records: more than is to be lost, at any level."""
    parent = np.r_[np.arange(PEOPLE + 1), np.full(5, PEOPLE)]
    numbers, ages = np.arange(PEOPLE + 1), np.r_[np.zeros(PEOPLE), 1].astype(np.int64)
    subjects = {"number": numbers, "parent": numbers, "age": ages}
    stays = {"number": np.arange(len(parent)), "parent": parent, "ward": parent % 2}

    (found,) = draft(
        declared({"age": [["young", "old"]]}, rows=subjects),
        {"stays": declared({"ward": HALVES}, rows=stays, over="", most_lost=0.1, spared=0.5)},
        efforts=[{"age": 0}],
        k=4,
        known_records=2,
    )

    assert found == {"stays": {"ward": 0}}


@pytest.mark.parametrize("number", [2, 40, 9_000])
def test_of_many_people_some_classes_are_counted(number: int) -> None:
    """Large ones in part, small ones as a whole: three people of a class are of two wards."""
    numbers = np.arange(27_000)
    rows = {"number": numbers, "parent": numbers, "ward": numbers // number % 2}
    stays = declared({"ward": [["a", "b"], ["*", "*"]]}, rows=rows, over="", most_lost=0.4)
    tables = code_tables(numbers, {"stays": stays})
    forecast = Forecast(tables, numbers % number, Aim(3, 2))
    assert forecast.is_estimate
    (raw,) = forecast.outcome(((0,),)) or [None]
    assert (raw is None) == (number == 9_000)  # one of three would be hidden, then the others
    if raw is not None:
        assert (raw.hidden, raw.left_out, raw.loss) == (0.0, 0.0, pytest.approx(0.0))


def test_a_part_of_a_class_does_not_tell_what_the_class_does_not() -> None:
    """Half of the people have one illness and half one sex: so may those who are counted."""
    numbers = np.arange(27_002)
    rows = {"number": numbers, "parent": numbers, "ward": numbers % 2}
    stays = declared({"ward": [["a", "b"], ["*", "*"]]}, rows=rows, over="", most_lost=1.0)
    own = [np.where(is_one, 0, numbers) for is_one in (numbers < 13_500, numbers % 2 == 1)]
    tables = code_tables(numbers, {"stays": stays}, own)

    forecast = Forecast(tables, np.zeros_like(numbers), Aim(2, 1, diversity=2))

    assert forecast.is_estimate
    assert len(forecast._own) > 9_900
    (root,) = forecast.outcome(((1,),)) or [None]
    assert root is not None
    assert (root.raised, root.hidden, root.left_out) == (0.0, 0.0, 0.0)


def test_records_that_tell_a_value_are_left_out_at_all_levels() -> None:
    """All stays have the same cost, which no more than half of the people may have."""
    numbers = np.arange(8)
    rows = {"number": numbers, "parent": numbers, "ward": numbers // 4}
    labels: dict[str, list[list[str]]] = {"ward": [["a", "b"], ["*", "*"]]}
    stays = declared(labels, rows=rows, over="", most_lost=1.0, sensitive=[np.zeros_like(numbers)])
    tables = code_tables(numbers, {"stays": stays})

    def lost(aim: Aim) -> list[float]:
        forecast = Forecast(tables, np.zeros_like(numbers), aim)
        outcomes = [outcome for at in (0, 1) for outcome in forecast.outcome(((at,),)) or []]
        return [outcome.left_out for outcome in outcomes]

    assert lost(Aim(2, 2)) == [0.0, 0.0]
    assert lost(Aim(2, 2, diversity=2)) == [1.0, 1.0]


def test_an_estimate_is_close_to_what_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, rng = world(1, people=4_000, limits=(1.0, 1.0)), np.random.default_rng(1)
    of_people = rng.choice(400, 4_000, p=rng.dirichlet(np.ones(400)))
    of_people = np.where(np.bincount(of_people)[of_people] >= 3, of_people, -1)
    nodes: Nodes = ((1, 1), (0,))
    counted = Forecast(tables, of_people, Aim(3, 2)).outcome(nodes)
    monkeypatch.setattr(forecast, "MOST_SUBJECTS", 1_000)
    estimate = Forecast(tables, of_people, Aim(3, 2))
    assert estimate.is_estimate
    for one, other in zip(estimate.outcome(nodes) or [], counted or [], strict=True):
        assert one.loss == pytest.approx(other.loss, abs=0.05)
        assert one.left_out == pytest.approx(other.left_out, abs=0.05)
