"""The page of the first TDA paper shows what is computed, and its comparisons follow from it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import Demonstration
from tests.papers.alpha import ALPHAS, Effort, best, stable_until
from tests.papers.noisy_masking import RAW_R2, best_families, drawn, noisy
from tests.papers.pages import PAGE, efforts, efforts_of_case_study, with_builds, with_curves

TEXT = PAGE.read_text("utf-8")
PUBLISHED = [Effort(0, 1, 0.979), Effort(1, 5, 0.971), Effort(2, 10, 0.68), Effort(3, 40, 0.11)]


def test_the_page_shows_what_a_build_gives(shipped: Demonstration) -> None:
    assert with_builds(TEXT, shipped.project.query) == TEXT


@pytest.mark.sampled_tests(group="figures")
def test_the_page_shows_the_fitted_curves() -> None:
    assert with_curves(TEXT) == TEXT


def test_the_published_effort_of_wisconsin_is_chosen(shipped: Demonstration) -> None:
    demo = shipped.project
    columns = "effort, k, is_non_inferior, qf_difference_high < 0"
    rows = demo.query(f"select {columns} from wdbc_results where is_chosen")
    assert rows == [(3, 5, False, True)]
    assert best(efforts(demo.query, "wdbc"), 0.016).number == 3
    alike = "effort = 3 and diagnosis_distinct_l = 1"
    assert demo.query(f"select sum(records) from wdbc_classes where {alike}") == [(92,)]
    assert "92 tumours of the chosen effort" in TEXT


def test_the_published_effort_of_medical_cost_is_chosen() -> None:
    chosen = best(efforts_of_case_study("medical_cost"), 0.016)
    assert (chosen.number, chosen.k) == (1, 2)


@pytest.mark.parametrize("name", ["wdbc", "medical_cost"])
def test_alpha_decides_within_the_stable_range(name: str, shipped: Demonstration) -> None:
    table = efforts(shipped.project.query, name)
    until = stable_until(table)
    assert until > 0.016
    assert f"stable up to alpha {f'{until:.3f}'.removeprefix('0')}:" in TEXT
    strongest = max(table, key=lambda effort: effort.k)
    stable = [best(table, alpha) for alpha in ALPHAS if alpha < until]
    assert strongest not in stable
    assert len({effort.number for effort in stable}) > 1
    assert all(best(table, alpha) == strongest for alpha in ALPHAS if alpha > until)


def test_published_figures_give_the_published_choices() -> None:
    at = [0.0021, 0.0245, 0.0247, 1.0]
    assert [best(PUBLISHED, alpha).number for alpha in at] == [1, 1, 3, 3]
    assert best(PUBLISHED, 0.0019).number == 0
    assert stable_until(PUBLISHED) == pytest.approx(0.0246)
    assert all(best(PUBLISHED, alpha / 10_000).number != 2 for alpha in range(1, 10_000))


@pytest.mark.sampled_tests(group="figures")
def test_noise_leaves_the_published_r2() -> None:
    assert RAW_R2 == 0.979
    assert noisy(1).shape == (80,)
    assert drawn()["logistic", "midpoint", 1][:, 1].mean() == pytest.approx(RAW_R2, abs=0.002)


@pytest.mark.sampled_tests(group="figures")
def test_two_groups_do_not_tell_curves_apart() -> None:
    logistic = drawn()["logistic", "lower bound", 40]
    for curve, original in (("logarithm", -0.17), ("line", -0.13)):
        other = drawn()[curve, "lower bound", 40]
        assert abs(other[:, 0] - logistic[:, 0]).max() < 0.01
        assert np.median(other[:, 1]) == pytest.approx(original, abs=0.005)
    assert np.median(logistic[:, 1]) == pytest.approx(0.10, abs=0.005)


def is_within_noise(published: float, values: NDArray[np.float64]) -> bool:
    low, high = np.quantile(values, [0.025, 0.975])
    return bool(low <= published <= high)


@pytest.mark.sampled_tests(group="figures")
def test_published_figures_of_the_masking_example_are_compared() -> None:
    def is_met(published: float, k: int, tested_on: int, curve: str = "logistic") -> list[bool]:
        return [
            is_within_noise(published, drawn()[curve, representative, k][:, tested_on])
            for representative in ("lower bound", "midpoint")
        ]

    on_anonymized, on_original = 0, 1
    assert is_met(0.971, 5, on_original) == [False, False]
    lower, middle = (drawn()["logistic", r, 5][:, 1] for r in ("lower bound", "midpoint"))
    assert np.quantile(lower, 0.975) < 0.971 < np.quantile(middle, 0.025)
    assert is_met(0.68, 10, on_original) == [False, False]
    assert is_met(0.92, 40, on_anonymized) == [False, False]
    assert is_met(0.11, 40, on_original) == [True, False]
    assert best_families(10, "lower bound")["logistic"] == 1
    for curve in ("logarithm", "line"):
        assert is_met(0.68, 10, on_original, curve) == [False, False]
