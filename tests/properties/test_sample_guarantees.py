"""Guarantees about all released classes together, and the estimates of population uniqueness."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import optimize

from tests.oracle.uniqueness import population_uniques
from tests.properties.batch import Batch
from tests.properties.sampled import AVERAGES, ESTIMATORS, LIMIT, POPULATIONS, average_model
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import PROPERTY, in_batches

pytestmark = pytest.mark.sampled_tests(3)

Histogram = dict[int, int]
HISTOGRAMS = st.dictionaries(
    st.integers(1, 6) | st.integers(1, 400), st.integers(1, 60), min_size=1, max_size=8
)


def arrays(histogram: Histogram) -> tuple[Any, Any]:
    sizes = sorted(histogram)
    return np.array(sizes), np.array([histogram[size] for size in sizes])


def people_in(histogram: Histogram) -> int:
    return sum(size * number for size, number in histogram.items())


def pitman(histogram: Histogram, population: int) -> float:
    """Solve the likelihood equations, written as the sums that they are."""
    classes, people = sum(histogram.values()), people_in(histogram)
    before, drawn = np.arange(classes - 1.0), np.arange(1.0, people)

    def shifted(alpha: float) -> float:
        """Return theta + alpha."""

        def excess(logarithm: float) -> float:
            point = math.exp(logarithm)
            return float((1 / (point + alpha * before)).sum() - (1 / (point - alpha + drawn)).sum())

        highest = 2 * math.log(people) + 3
        return math.exp(optimize.brentq(excess, math.log(alpha) - 30, highest, xtol=1e-13))

    def excess(alpha: float) -> float:
        of_classes = ((before + 1) / (shifted(alpha) + alpha * before)).sum()
        of_sizes = sum(
            number * (1 / (np.arange(1.0, size) - alpha)).sum()
            for size, number in histogram.items()
        )
        return float(of_classes - of_sizes)

    low, high = 1e-6, 1 - 1e-9
    alpha = low if excess(low) <= 0 else float(optimize.brentq(excess, low, high, xtol=1e-13))
    gammas = math.lgamma(shifted(alpha) - alpha + 1) - math.lgamma(shifted(alpha))
    return min(math.exp(gammas + alpha * math.log(population)), population)


def estimates(
    warehouse: Warehouse, estimator: str, population: int, histograms: list[Histogram]
) -> list[float]:
    rows = [
        (number, size, classes)
        for number, histogram in enumerate(histograms)
        for size, classes in histogram.items()
    ]
    columns = {"case_id": "bigint", "class_size": "bigint", "classes": "bigint"}
    warehouse.load("sampled_histogram", columns, rows)
    warehouse.load("sampled_population", {"population": "bigint"}, [(population,)])
    found = warehouse.rows(f"sampled_{estimator}")
    return [row["uniques"] for row in sorted(found, key=lambda row: int(row["case_id"]))]


def zayatz(histogram: Histogram, population: int) -> float:
    """Return the sample uniques times the chance that one of them is unique in the population."""
    people, classes = people_in(histogram), sum(histogram.values())

    def drawn_once(size: int) -> float:
        """Return the hypergeometric chance that one of a class is among those drawn."""
        others = ((population - people - j) / (population - 1 - j) for j in range(size - 1))
        return size * people / population * math.prod(max(other, 0.0) for other in others)

    chances = {size: number / classes * drawn_once(size) for size, number in histogram.items()}
    return histogram[1] * chances[1] / math.fsum(chances.values()) * population / people


def expected_uniques(estimator: str, histogram: Histogram, population: int) -> float:
    """Return Zayatz's estimate from its definition, that of the kernel where SQL has to search."""
    if estimator == "zayatz" and 1 in histogram and people_in(histogram) < population:
        return zayatz(histogram, population)
    return population_uniques(*arrays(histogram), population, estimator=estimator)


# Each estimate is that of 280 histograms for each population.
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("estimator", ["zayatz", "snb"])
@examples(PROPERTY, 14)
@given(histograms=in_batches(HISTOGRAMS, 20))
# Its equations have no solution, and what is small there is easily lost.
@example(histograms=[{1: 1, 2: 7}])
def test_estimates_equal_the_definition_and_those_of_the_kernel(
    warehouse: Warehouse, estimator: str, population: int, histograms: list[Histogram]
) -> None:
    found = estimates(warehouse, estimator, population, histograms)
    for uniques, histogram in zip(found, histograms, strict=True):
        expected = expected_uniques(estimator, histogram, population)
        assert uniques == pytest.approx(expected, rel=1e-6, abs=1e-6)


# The likelihood is flat where alpha is small: it is largest at 0.009.
FLAT: Histogram = {1: 45, 4: 25}


def test_pitmans_alpha_may_be_small(warehouse: Warehouse) -> None:
    population = POPULATIONS[0]
    (found,) = estimates(warehouse, "pitman", population, [FLAT])
    assert found == pytest.approx(pitman(FLAT, population), rel=1e-3)


@pytest.mark.parametrize("population", POPULATIONS)
def test_pitmans_estimate_solves_the_likelihood_equations(
    warehouse: Warehouse, population: int
) -> None:
    draw = random.Random(20260101)
    sizes = [2, 3, 4, 7, 20, 150]
    histograms = [
        {1: draw.randint(1, 90)}
        | {size: draw.randint(1, 30) for size in draw.sample(sizes, draw.randint(1, 4))}
        for _ in range(250)
    ]
    # One pair among many; all classes equal but one.
    histograms += [{1: 300, 2: 1}, {1: 1, 150: 9}, {1: 2, 2: 1}]
    found = estimates(warehouse, "pitman", population, histograms)
    for uniques, histogram in zip(found, histograms, strict=True):
        if people_in(histogram) < population:
            # Where alpha is 0, SQL finds less than 1e-4, which changes the estimate by alpha ln M.
            assert uniques == pytest.approx(pitman(histogram, population), rel=1e-3), histogram


@pytest.mark.parametrize("population", POPULATIONS)
def test_dankars_rule_takes_pitman_for_small_samples_and_else_the_smaller_of_the_others(
    warehouse: Warehouse, population: int
) -> None:
    draw = random.Random(20260102)
    histograms = [
        {draw.choice([1, 1, 2, 3, 40]): draw.randint(1, 300) for _ in range(draw.randint(1, 4))}
        for _ in range(250)
    ]
    found = {name: estimates(warehouse, name, population, histograms) for name in ESTIMATORS}
    for number, histogram in enumerate(histograms):
        zayatz_, pitman_, snb_ = (found[name][number] for name in ("zayatz", "pitman", "snb"))
        is_small = people_in(histogram) <= 0.1 * population
        assert found["dankar"][number] == (pitman_ if is_small else min(zayatz_, snb_))


def test_nobody_alone_and_whole_populations(warehouse: Warehouse) -> None:
    population = POPULATIONS[0]
    histograms: list[Histogram] = [{2: 5}, {1: 500, 2: 750}, {1: 3}]
    for estimator in ESTIMATORS:
        found = estimates(warehouse, estimator, population, histograms)
        assert found[:2] == [0, 500], estimator
    # Everybody in the sample is unique.
    assert estimates(warehouse, "pitman", population, histograms)[2] == population


def load_cities(warehouse: Warehouse, sizes: list[int]) -> None:
    columns = {"city": "varchar", "city_leaf": "varchar", "outcome": "varchar", "records": "int"}
    names = [f"{number:02}" for number in range(len(sizes))]
    rows = [(name, name, "x", size) for name, size in zip(names, sizes, strict=True)]
    warehouse.load("sampled_frequencies", columns, rows)
    tree = {"value": "varchar", "level_1": "varchar"}
    warehouse.load("sampled_city", tree, [(name, "*") for name in [*names, "-"]])


@pytest.mark.parametrize("average", AVERAGES)
@examples(PROPERTY, 14)
@given(tables=in_batches(st.lists(st.integers(1, 3) | st.integers(1, 9), max_size=20), 20))
def test_the_smallest_classes_go_for_the_average_risk_and_no_more_than_needed(
    warehouse: Warehouse, average: float, tables: list[list[int]]
) -> None:
    batch = Batch(warehouse)
    for sizes in tables:
        batch.begin()
        load_cities(batch, sizes)
    for rows, sizes in zip(batch.rows_of_each(average_model(average)), tables, strict=True):
        check_suppression(rows, sizes, Fraction(str(average)))


def check_suppression(rows: list[Row], sizes: list[int], average: Fraction) -> None:
    classes = {f"{number:02}": size for number, size in enumerate(sizes)}
    small = {name for name, size in classes.items() if size < 2}
    kept = sorted((size, name) for name, size in classes.items() if name not in small)
    gone = next(
        number
        for number in range(len(kept) + 1)
        if len(kept) - number <= average * sum(size for size, _ in kept[number:])
    )
    must_go = small | {name for _, name in kept[:gone]}
    found = {row["city"]: row for row in rows}
    assert {name for name, row in found.items() if row["is_violating"]} == must_go
    records = sum(classes[name] for name in must_go)
    is_within = records <= Fraction(str(LIMIT)) * sum(sizes)
    suppressed = {name for name, row in found.items() if row["is_suppressed"]}
    assert suppressed == (must_go if is_within else set())
