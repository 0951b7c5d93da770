"""A spec without target, features, quality and alpha: what it is, and what it must not ask for."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.project.about import declared_facts
from dbt_anonymize.project.generate import render
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import choice_sentences, legend
from dbt_anonymize.project.stages import stages_of
from dbt_anonymize.project.steps import steps_of
from dbt_anonymize.spec import Spec, load_spec
from dbt_anonymize.spec.rules import violations
from dbt_anonymize.spec.tested import KEYS, NO_MODEL
from dbt_anonymize.spec.training import describe_training
from tests.spec.declarations import SPEC, spec, write_project


def untested(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in spec(**changes).items() if key not in KEYS}


def test_all_four_may_be_left_out_together() -> None:
    assert not violations(untested())
    found, tested = Spec.model_validate(untested()), Spec.model_validate(SPEC)
    assert (found.is_tested, found.measure, found.weight_of_privacy) == (False, "loss", 0.0)
    assert (found.targets, found.counted_columns) == ({}, ["ill"])
    assert found.fingerprint != tested.fingerprint
    with pytest.raises(SpecError, match="visits: must have target, features, quality, alpha for"):
        _ = found.tests


@pytest.mark.parametrize("given", [keys for size in (1, 2, 3) for keys in combinations(KEYS, size)])
def test_some_of_the_four_are_one_error(given: tuple[str, ...], tmp_path: Path) -> None:
    content = untested() | {key: SPEC[key] for key in given}
    folder = write_project(tmp_path, content)
    with pytest.raises(SpecError) as caught:
        load_spec(folder / "anonymizations" / "visits.yml")
    missing = ", ".join(key for key in KEYS if key not in given)
    (line,) = str(caught.value).splitlines()
    assert "must have all of target, features, quality, alpha, or none of them" in line
    assert f"got {', '.join(given)} without {missing}. Add {missing}, or remove" in line


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"choose": "strongest_non_inferior"}, "choose"),
        ({"information_loss": {"targets": {"ill": 1.0}}}, "information_loss.targets"),
    ],
)
def test_what_needs_a_target_is_refused(changes: dict[str, Any], place: str) -> None:
    (problem,) = violations(untested(**changes))
    assert str(problem).startswith(f"{place}: must ")
    assert "declare target, features, quality, alpha" in str(problem)
    assert not [one for one in violations(spec(**changes)) if str(one).startswith(f"{place}: ")]


@pytest.mark.needs("details")
def test_no_model_of_models_is_generated() -> None:
    found = Spec.model_validate(untested())
    files, tested = render(found), render(Spec.model_validate(SPEC))
    parts = ("evaluation.py", "scores.sql", "quality.sql", "curves.sql", "calibration.sql")
    assert set(tested) - set(files) == {f"visits_{part}" for part in (*parts, "confusion.sql")}
    assert not set(files) - set(tested)
    assert steps_of(found) == []
    without_python = render(found, has_python=False)
    assert not [name for name in without_python if name.endswith(".py")]
    properties = files["_visits.yml"]
    # dbt warns of a described model that is not there.
    described = set(re.findall(r"- name: (visits_\w+)\n    description", properties))
    assert described == {name[:-4] for name in files if name.endswith(".sql")}
    assert "has_majority" not in properties
    assert "(Iyengar 2002); lower is better. NULL here: there is no target." in properties
    assert properties.count(NO_MODEL) == 2  # of the results and of the release


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (SPEC, [False, True]),
        (spec(quality={**SPEC["quality"], "fit": "per_split", "outer_share": 0.2}), [0, 1, 0]),
        (untested(), [True]),
        pytest.param(
            untested(efforts=[{"recoding": "microaggregation", "method": "mdav", "k": 9}]),
            [False, True],
            marks=pytest.mark.needs("recoding"),
        ),
    ],
)
def test_the_history_waits_for_the_results(
    content: dict[str, Any], expected: list[bool], tmp_path: Path
) -> None:
    folder = write_project(tmp_path, content)
    (folder / "dbt_project.yml").write_text(
        "name: visits_project\nprofile: dbt_anonymize\nvars: {dbt_anonymize_python: false}\n"
    )
    stages = stages_of(find_project(folder), Spec.model_validate(content))
    assert [stage.has_results for stage in stages] == expected


def test_every_text_says_that_no_model_tested_it() -> None:
    found = Spec.model_validate(untested())
    assert declared_facts(found)["tested"] == f"{NO_MODEL}; QF is 1 - loss"
    assert "predicts" not in declared_facts(found)
    assert legend(found, [], "")[:2] == [
        f"QF: 1 - loss; {NO_MODEL}",
        "QNF: privacy, 1 - 1/k; Q = QF",
    ]
    assert describe_training(found).startswith("visits: no model to train")
    tested = Spec.model_validate(SPEC)
    assert "tested" not in declared_facts(tested)
    assert choice_sentences([], "loss") == []


def unsupervised(measure: str, model: str, **changes: Any) -> dict[str, Any]:
    """Return a spec whose models predict no column."""
    content = spec(**changes)
    if "target" not in changes:
        del content["target"]
    kept = ("repetitions", "test_share", "random_state")
    quality = {key: SPEC["quality"][key] for key in kept}
    content["quality"] = {**quality, "measure": measure, "model": model} | changes.get(
        "quality", {}
    )
    return content


@pytest.mark.parametrize(
    ("measure", "model", "task"),
    [
        ("adjusted_rand_index", "k_means", "clustering"),
        ("silhouette", "agglomerative", "clustering"),
        ("rank_correlation", "isolation_forest", "anomaly"),
        ("top_overlap", "sklearn.ensemble.IsolationForest", "anomaly"),
    ],
)
def test_clusters_and_anomalies_need_no_target(measure: str, model: str, task: str) -> None:
    content = unsupervised(measure, model)
    assert not violations(content)
    found = Spec.model_validate(content)
    assert (found.is_tested, found.task, found.predicted) == (True, task, task)
    assert (found.targets, found.evaluated, found.loss_targets) == ({}, {task: None}, {})
    assert "models to train" in describe_training(found)


@pytest.mark.parametrize(
    ("changes", "place", "problem"),
    [
        ({"target": "ill"}, "target", "must be absent: adjusted_rand_index is of clustering"),
        ({"alpha": None}, "", "must have features and alpha beside quality, for clustering"),
        (
            {"information_loss": {"targets": {"ill": 1.0}}},
            "information_loss.targets",
            "must be absent without a target",
        ),
        ({"quality": {"positive": "yes"}}, "quality.positive", "is not about classes"),
        ({"quality": {"time": "income"}}, "quality.time", "must be absent"),
        (
            {"quality": {"further_targets": {"ill": {}}}},
            "quality.further_targets",
            "must be absent: models of clustering predict no column",
        ),
        (
            {"quality": {"measure": "silhouette", "outer_share": 0.2, "fit": "per_split"}},
            "quality.outer_share",
            "must be absent beside silhouette",
        ),
        pytest.param(
            {"quality": {"measure": "silhouette", "groups": ["age"]}},
            *("quality.groups", "must be absent beside silhouette"),
            marks=pytest.mark.needs("inspection"),
        ),
        ({"quality": {"model": "isolation_forest"}}, "quality.model", "a model of clustering"),
        pytest.param(
            *({"details": ["confusion"]}, "details", "must be about models that predict a class"),
            marks=pytest.mark.needs("details"),
        ),
        pytest.param(
            *({"search": {"measure": "guided"}}, "search.measure", "must need no target"),
            marks=pytest.mark.needs("search"),
        ),
    ],
)
def test_what_clusters_cannot_have_is_refused(
    changes: dict[str, Any], place: str, problem: str
) -> None:
    found, *_ = violations(unsupervised("adjusted_rand_index", "k_means", **changes))
    assert ".".join(map(str, found.path)).startswith(place)
    assert problem in found.rule


def test_the_share_of_the_top_is_of_anomalies_alone() -> None:
    content = spec(quality={**SPEC["quality"], "top_share": 0.1})
    (found,) = violations(content)
    assert found.path == ("quality", "top_share")


def test_what_is_generated_says_that_nothing_is_predicted() -> None:
    found = Spec.model_validate(unsupervised("adjusted_rand_index", "k_means"))
    properties = render(found)["_visits.yml"]
    # The table of classes has no such columns.
    assert "has_majority" not in properties
    assert "NULL here: there is no target." in properties
    assert "(k_means) of clustering, which predict no column, one row per fact" in properties
    assert "Column that is predicted" not in properties
    assert properties.count("Task of the models, which predict no column") == 4
    assert "sensitive columns and target" not in properties
    facts = declared_facts(found)
    assert facts["models"] == "clustering (adjusted_rand_index)"
    assert "predicts" not in facts


def test_clusters_have_no_share_of_the_top() -> None:
    content = unsupervised("adjusted_rand_index", "k_means", quality={"top_share": 0.1})
    (found,) = violations(content)
    assert found.path == ("quality", "top_share")
