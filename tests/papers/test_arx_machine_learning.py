"""The page about the ARX machine-learning article shows what is computed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dbt_anonymize.evaluation.splits import seeds
from tests.case_studies.preparation import is_available
from tests.oracle.privacy import Class, payout
from tests.papers import arx_acute, arx_builds, arx_contraceptives, arx_figure_2, arx_tumours
from tests.papers.arx_page import PAGE, STUDIES_OF_PAGE, epsilon_and_delta, tables
from tests.papers.arx_scores import Spread
from tests.papers.pages import table_of, with_tables

TEXT = PAGE.read_text("utf-8")
needs_data = pytest.mark.skipif(
    not all(map(is_available, STUDIES_OF_PAGE)), reason="needs DBT_ANONYMIZE_DATA"
)


def cells(name: str) -> list[list[str]]:
    """Return the cells of a computed table."""
    return [[c.strip() for c in line.strip("|").split("|")] for line in table_of(TEXT, name)]


def test_every_table_is_on_the_page() -> None:
    assert all(len(table_of(TEXT, name)) > 1 for name in tables())


def test_epsilon_and_delta_of_figure_2_are_the_published_ones() -> None:
    from dbt_anonymize.extensions.differential_privacy.model import k_of

    epsilon, delta = epsilon_and_delta(arx_figure_2.BETA, arx_figure_2.K)
    assert (round(epsilon, 3), round(delta, 3)) == (0.916, 0.216)
    assert (round(epsilon, 2), round(delta, 2)) == (0.92, 0.22)
    declared = (arx_figure_2.EPSILON, arx_figure_2.DELTA)
    assert declared == pytest.approx((epsilon, delta), abs=1.1e-4)
    limits = "epsilon: {:g}, delta: {:g}, beta: {:g}".format(*declared, arx_figure_2.BETA)
    assert limits in TEXT
    assert k_of(*declared, arx_figure_2.BETA) == arx_figure_2.K
    assert k_of(arx_figure_2.EPSILON, 0.2159, arx_figure_2.BETA) > arx_figure_2.K


@pytest.mark.slow
def test_figure_2_is_one_release_with_every_transformation(tmp_path: Path) -> None:
    project = arx_figure_2.build(tmp_path)
    rows = arx_figure_2.rows(project)
    assert with_tables(TEXT, {"figure 2": rows}) == TEXT
    assert {"not drawn", "too rare"} < {row["released"] for row in rows}
    released = [row[:-1] for row in project.release(arx_figure_2.NAME)]
    assert min(Counter(released).values()) == 3
    # age is an aggregate, job a hidden cell, weight a category, zip masked, disease generalized.
    shown = {value for row in released for value in row}
    assert {"24.5 years", "*", "light", "816**", "E10-E14"} < shown
    assert {row[-1] for row in released} == {"*"}


@needs_data
def test_levels_of_case_1_are_the_best() -> None:
    shown = {row[0]: row[1:4] for row in cells("case 1")}
    for k in (5, 25):
        best = arx_acute.best_nodes(k, arx_acute.BASE)
        assert shown[str(k)][0] == str(len(best))
        left_out = {int((~arx_acute.released(node, k)).sum()) for node in best}
        assert {int(n) for n in shown[str(k)][2].split(" to ")} == {min(left_out), max(left_out)}


def test_published_figures_of_case_1_are_within_those_of_all_levels() -> None:
    for k, _, lowest, _, highest, published, _ in cells("levels of case 1"):
        assert float(published) == arx_acute.PUBLISHED[int(k)][0]
        assert float(lowest) <= float(published) <= float(highest)


@needs_data
def test_untouched_tables_are_those_of_the_page() -> None:
    auc = f"{arx_tumours.untouched().auc:.3f}".removeprefix("0")
    assert f"untouched, all nine grades have an AUC of {auc}" in TEXT
    (by_seed_of_build, _) = seeds(1, 1)
    of_build = 100 * arx_contraceptives.untouched(by_seed_of_build).auc
    assert of_build == pytest.approx(71.2, abs=0.05)


@needs_data
def test_the_fitted_regression_is_that_of_scikit_learn() -> None:
    values, tumour = arx_tumours.grades()
    ours = arx_tumours.fitted(values, tumour.astype(float), np.ones(len(tumour)))
    theirs = LogisticRegression(solver="newton-cholesky", tol=1e-9).fit(values, tumour)
    assert ours == pytest.approx([*theirs.intercept_, *theirs.coef_[0]], abs=1e-5)


def test_published_relative_aucs_do_not_follow_from_published_aucs() -> None:
    published = arx_tumours.PUBLISHED
    beyond = arx_tumours.PUBLISHED_UNTOUCHED - 0.5
    implied = [round(100 * (auc - 0.5) / beyond, 1) for auc in published["AUC"]]
    assert implied == [72.8, 77.8, 85.9]
    assert all(abs(a - b) > 1 for a, b in zip(implied, published["relative AUC"], strict=True))


@needs_data
def test_payouts_are_those_of_the_definition() -> None:
    node = (4, 1, 0, 2, 0, 1, 0, 2, 0)
    sizes, losses = arx_contraceptives.sizes_and_losses(node)
    setting = arx_contraceptives.SETTINGS["as above"]
    ours = arx_contraceptives.payouts(sizes, losses, 1000, setting)
    game = {
        "publisher_benefit": 1200,
        "publisher_loss": 1000,
        "adversary_gain": 1000,
        "adversary_cost": 4,
        "attacker": "prosecutor",
    }
    trees = arx_contraceptives.study().hierarchies
    for record in (0, 100, 1000):
        covered = []
        for column, tree, level in zip(
            arx_contraceptives.columns(), trees.values(), node, strict=True
        ):
            leaves = len(tree.table().rows)
            covered.append((round(np.exp(column.logs[level][record])), leaves))
        defined = payout(game, Class(int(sizes[record]), covered=tuple(covered)))
        assert max(0.0, defined) == pytest.approx(ours[record])


@needs_data
@pytest.mark.slow
def test_rows_of_each_case_are_computed() -> None:
    (line,) = [row for row in cells("case 1") if row[0] == "20"]
    assert line == [str(value) for value in arx_acute.row(20).values()]
    (line,) = [row for row in cells("levels of case 1") if row[0] == "25"]
    assert line == [str(value) for value in arx_acute.row_of_levels(25).values()]
    name = "five folds"
    (line,) = [row for row in cells("settings of case 1") if row[0] == name]
    assert line == [*arx_acute.row_of_setting(name).values()]
    spread = Spread.of([100 * arx_tumours.untouched(seed).auc for seed in arx_tumours.SEEDS])
    assert f"{spread.middle:.1f} % ({spread.low:.1f} to {spread.high:.1f}) over 100" in TEXT
    spread = Spread.of(
        [100 * arx_contraceptives.untouched(seed).auc for seed in arx_contraceptives.SEEDS]
    )
    assert f"{spread.middle:.2f} % ({spread.low:.2f} to {spread.high:.2f}) over 100" in TEXT
    epsilon, design = 0.5, "chromatin in pairs"
    (line,) = [row for row in cells("case 2") if (row[0], row[2]) == (f"{epsilon:g}", design)]
    assert line == [str(value) for value in arx_tumours.row(design, epsilon).values()]
    found = {
        "case 3": arx_contraceptives.rows(),
        "gains": arx_contraceptives.rows_of_gains(),
        "five processes": arx_tumours.rows_of_processes(),
    }
    assert with_tables(TEXT, found) == TEXT


def test_the_best_models_of_the_evaluation_are_tested() -> None:
    for table, (article, _) in arx_builds.BENCHMARK.items():
        rows = {row[1]: row[2:] for row in cells("benchmark") if row[0] == table}
        assert [*rows] == [*arx_builds.MODELS]
        best = max(rows, key=lambda model: rows[model][1])
        assert {model for model, row in rows.items() if row[3]} == {article, best}
        for row in rows.values():
            if row[3]:
                low, high = (
                    float(bound) for bound in row[3].rstrip(")").split("(")[1].split(" to ")
                )
                assert low <= float(row[1]) <= high


@needs_data
@pytest.mark.slow
def test_rows_of_builds_are_computed() -> None:
    shown = table_of(TEXT, "preprocessing")
    names = ("categories_label", "categories_frequencies")
    computed = arx_builds.preprocessing(names)
    assert [f"| {' | '.join(map(str, row.values()))} |" for row in computed] == [shown[0], shown[2]]
    assert with_tables(TEXT, {"payouts": arx_builds.payouts()}) == TEXT
    table = "acute_inflammations"
    computed = arx_builds.benchmark([table])
    assert [[*row.values()] for row in computed] == cells("benchmark")[: len(computed)]
