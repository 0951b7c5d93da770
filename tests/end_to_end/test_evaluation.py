"""Several models, targets and splits in a stranger's project: the whole way from spec to choice."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from typing import Any

import pytest
from scipy.stats import t as student_t  # type: ignore[import-untyped]

from dbt_anonymize.spec import load_specs
from dbt_anonymize.spec.training import describe_training, training_factors
from tests.end_to_end.test_guarantees import declare, fetch
from tests.extensions import has
from tests.oracle.outer import is_outer
from tests.projects import Project

WITHOUT_TESTS = ("build", "--exclude-resource-type", "test", "unit_test")
FOLDS, OUTER_SHARE = 4, 0.2
INSPECTED = {
    "importance": True,
    "decision_grid": ["birth_date", "spending"],
    "groups": {"gender": 0, "zip": 2, "birth_date": 3},
}


@pytest.fixture(scope="module")
def evaluated(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with k-fold, two models, a second target and both ways of fitting."""
    project = built_consumer.copy(tmp_path_factory.mktemp("evaluated") / "project")

    def change(spec: dict[str, Any]) -> None:
        spec["features"] = ["birth_date", "zip", "gender", "spending"]
        spec["columns"]["order"]["role"] = "insensitive"
        spec["quality"] = {
            "models": {
                "tree": {"model": "decision_tree", "parameters": {"max_depth": 3}},
                "naive_bayes": {},
            },
            "measure": "roc_auc",
            "positive": "yes",
            "repetitions": 2,
            "folds": FOLDS,
            "random_state": 3,
            "numbers": "bounds",
            "fit": "per_split",
            "outer_share": OUTER_SHARE,
            "margin": 0.5,
            "confidence": 0.9,
            **(INSPECTED if has("inspection") else {}),
        }
        spec["alpha"] = "auto"
        spec["choose"] = "strongest_non_inferior"

    declare(project, change)
    outcome = project.dbt(*WITHOUT_TESTS)
    assert outcome.succeeded, outcome.messages
    return project


def outer_keys(project: Project) -> set[int]:
    keys = [key for (key,) in project.query("select customer_id from customers_microdata")]
    return {key for key in keys if is_outer(str(key), OUTER_SHARE, 3)}


def splits_of(project: Project, effort: int, model: str, fit: str) -> dict[tuple[int, int], float]:
    found = fetch(
        project,
        "select repetition, fold, value from customers_scores where class is null "
        f"and effort = {effort} and model = '{model}' and fit = '{fit}' "
        "and test_on = 'original' and measure = 'roc_auc'",
    )
    return {(row["repetition"], row["fold"]): row["value"] for row in found}


def test_every_model_has_every_split_on_every_effort(evaluated: Project) -> None:
    for effort in range(4):
        for model in ("tree", "naive_bayes", "zero_rule"):
            for fit in ("once", "per_split"):
                found = splits_of(evaluated, effort, model, fit)
                assert set(found) == {(r, f) for r in (1, 2) for f in range(1, FOLDS + 1)}
                assert model != "zero_rule" or set(found.values()) == {0.5}


def test_generate_says_how_many_models_are_trained(evaluated: Project) -> None:
    (spec,) = load_specs(evaluated.folder)
    keys = "effort, target, model, fit, repetition, fold"
    ((trained,),) = evaluated.query(
        f"select count(*) from (select distinct {keys} from customers_evaluation"
        " where kind in ('measure', 'failure'))"
    )
    assert trained == math.prod(training_factors(spec).values())
    assert f"= {trained} models to train; sources of more than 100,000 records are refused" in (
        describe_training(spec)
    )


@pytest.mark.parametrize("fit", ["once", "per_split"])
def test_intervals_are_those_of_nadeau_and_bengio(evaluated: Project, fit: str) -> None:
    splits = 2 * FOLDS
    factor = math.sqrt(1 / splits + 1 / (FOLDS - 1))
    two_sided, one_sided = student_t.ppf(0.95, splits - 1), student_t.ppf(0.9, splits - 1)
    baseline = splits_of(evaluated, 0, "tree", fit)
    for effort in (1, 2, 3):
        scores = splits_of(evaluated, effort, "tree", fit)
        differences = [scores[split] - baseline[split] for split in scores]
        mean, error = statistics.fmean(differences), statistics.stdev(differences) * factor
        (row,) = fetch(
            evaluated,
            f"from customers_quality where effort = {effort} and model = 'tree' and fit = '{fit}' "
            "and test_on = 'original' and measure = 'roc_auc'",
        )
        assert row["mean"] == pytest.approx(statistics.fmean(scores.values()), abs=1e-9)
        assert row["difference"] == pytest.approx(mean, abs=1e-9)
        assert row["difference_low"] == pytest.approx(mean - two_sided * error, abs=1e-5)
        assert row["difference_high"] == pytest.approx(mean + two_sided * error, abs=1e-5)
        assert row["difference_limit"] == pytest.approx(mean - one_sided * error, abs=1e-5)
        assert row["paired_splits"] == row["all_splits"] == splits
        assert row["is_non_inferior"] == (mean - one_sided * error >= -0.5)


def test_the_strongest_non_inferior_effort_is_chosen_and_says_why(evaluated: Project) -> None:
    rows = fetch(evaluated, "from customers_results order by effort")
    for row in rows:
        scores = splits_of(evaluated, row["effort"], "tree", "per_split").values()
        assert row["qf_mean"] == pytest.approx(statistics.fmean(scores), abs=1e-9)
        assert row["reason"].startswith(
            ("chosen: ",) if row["is_chosen"] else ("not chosen", "does not")
        )
    in_order = sorted((row["k"], row["effort"]) for row in rows if row["qualifies"])
    eligible = [
        rows[effort]
        for _, effort in itertools.takewhile(lambda e: rows[e[1]]["is_non_inferior"], in_order)
    ]
    (chosen,) = [row for row in rows if row["is_chosen"]]
    assert chosen["k"] == max(row["k"] for row in eligible)
    # The zero rule has an AUC of 0.5 in each split.
    assert {row["zero_rule"] for row in rows} == {0.5}
    assert all(row["beats_zero_rule"] for row in rows if row["qualifies"])
    assert any(row["is_on_frontier"] for row in rows)
    frontier = sorted((row["qnf"], row["qf_mean"]) for row in rows if row["is_on_frontier"])
    if len(frontier) > 1:
        (qnf_0, qf_0), (qnf_1, qf_1) = frontier[0], frontier[-1]
        slope = (qf_0 - qf_1) / (qnf_1 - qnf_0)
        assert all(row["alpha"] == pytest.approx(slope, rel=1e-6) for row in rows)


@pytest.mark.needs("details")
def test_confusion_curves_and_calibration_count_every_test_record(evaluated: Project) -> None:
    by_class: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in fetch(evaluated, "from customers_confusion where test_on = 'original'"):
        by_class[row["effort"], row["model"], row["fit"]] += row["records"]
    assert len(by_class) == 4 * 3 * 2
    assert set(by_class.values()) == {2 * (400 - len(outer_keys(evaluated)))}
    found = fetch(
        evaluated,
        "select effort, model, fit, class, sum(records) as records from customers_calibration "
        "where test_on = 'original' group by all",
    )
    assert {row["records"] for row in found} == {2 * (400 - len(outer_keys(evaluated)))}
    ends = fetch(
        evaluated,
        "select min(x) as x0, max(x) as x1, min(y) as y0, max(y) as y1 from customers_curves "
        "where curve = 'roc' group by effort, model, fit, test_on, class",
    )
    assert {(row["x0"], row["x1"], row["y0"], row["y1"]) for row in ends} == {(0, 1, 0, 1)}


@pytest.mark.needs("inspection")
def test_groups_are_those_of_the_levels(evaluated: Project) -> None:
    """Effort 3 has the levels of the groups; effort 1 has raw genders."""
    expected = {
        (column, row["label"]): row["records"]
        for column, effort in (("gender", 1), ("zip", 3), ("birth_date", 3))
        for row in fetch(
            evaluated,
            f'select "{column}" as label, count(*) as records from customers_effort_{effort} '
            "where customer_id in (select customer_id from customers_microdata where not is_outer) "
            "group by all having count(*) >= 4",
        )
    }
    rows = fetch(evaluated, "from customers_quality_by_group where measure = 'accuracy'")
    sizes = {(row["grouped_by"], row["group_value"]): row["group_size"] for row in rows}
    assert sizes == expected
    # Efforts, models, fits, forms of test records.
    assert len(rows) == len(expected) * 4 * 3 * 2 * 2
    assert all(row["difference"] == 0 for row in rows if row["effort"] == 0)


def test_the_chosen_effort_is_scored_on_outer_records_that_are_released_too(
    evaluated: Project,
) -> None:
    drawn = evaluated.query("select customer_id from customers_microdata where is_outer")
    assert {key for (key,) in drawn} == outer_keys(evaluated)
    rows = fetch(evaluated, "from customers_outer_quality order by effort")
    results = fetch(
        evaluated, "from customers_results where effort = 0 or is_chosen order by effort"
    )
    assert [row["effort"] for row in rows] == [row["effort"] for row in results]
    assert [row["qf_mean"] for row in rows] == [row["qf_mean"] for row in results]
    for row in rows:
        assert row["outer_records"] == len(outer_keys(evaluated))
        assert row["training_records"] <= 400 - len(outer_keys(evaluated))
        assert row["qf_low"] <= row["qf"] <= row["qf_high"]
        assert (row["zero_rule"], row["measure"], row["model"]) == (0.5, "roc_auc", "tree")
    assert rows[0]["qf_difference"] == rows[0]["qf_difference_low"] == 0
    assert results[1]["records"] == 400


@pytest.mark.needs("inspection")
def test_a_grid_has_predictions_of_each_effort(evaluated: Project) -> None:
    rows = fetch(evaluated, "from customers_decision_grid where class = 'yes'")
    points = {(row["x"], row["y"]) for row in rows}
    # Efforts, models without the zero rule, fits.
    assert len(rows) == 4 * 2 * 2 * len(points)
    assert 500 < len(points) <= 900
    assert all(0 <= row["prediction"] <= 1 for row in rows)


@pytest.mark.needs("inspection")
def test_importance_is_measured_of_each_feature(evaluated: Project) -> None:
    rows = fetch(evaluated, "from customers_importance where effort in (0, 2)")
    # Efforts, features, models without the zero rule, fits.
    assert len(rows) == 2 * 4 * 2 * 2
    assert {(row["measure"], row["splits"]) for row in rows} == {("roc_auc", 2 * FOLDS)}
    assert any(row["low"] > 0 for row in rows)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("quality", "target", "lower_is_better"),
    [
        ({"model": "ridge", "measure": "rmse"}, ("order", "churned"), True),
        (
            {"model": "cox", "measure": "concordance_index", "time": "spending", "positive": "yes"},
            ("churned", "order"),
            False,
        ),
        ({"model": "k_means", "measure": "adjusted_rand_index"}, (None, "order"), False),
        (
            {"model": "isolation_forest", "measure": "top_overlap", "top_share": 0.1},
            (None, "order"),
            False,
        ),
    ],
    ids=["regression", "time to event", "clustering", "anomaly"],
)
def test_other_tasks_are_evaluated_and_chosen(
    built_consumer: Project,
    tmp_path_factory: pytest.TempPathFactory,
    quality: dict[str, Any],
    target: tuple[str | None, str],
    lower_is_better: bool,
) -> None:
    project = built_consumer.copy(tmp_path_factory.mktemp("task") / "project")

    def change(spec: dict[str, Any]) -> None:
        name, feature = target
        spec.pop("target") if name is None else spec.update(target=name)
        # How much a customer orders says whether she leaves, and the other way round.
        spec["features"] = ["birth_date", "zip", "gender", feature]
        common = {"repetitions": 3, "test_share": 0.3, "random_state": 1}
        spec["quality"] = {**quality, **common}

    declare(project, change)
    outcome = project.dbt(*WITHOUT_TESTS)
    assert outcome.succeeded, outcome.messages
    rows = fetch(project, "from customers_results order by effort")
    assert sum(row["is_chosen"] for row in rows) == 1
    assert all((row["qf_mean"] < 0) == lower_is_better for row in rows)
    assert not (project.folder / "models/customers/customers_curves.sql").exists()
