"""A spec with foreign rows refuses what cannot be said of them, in one line with what to do."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.suppression import check_recountable
from dbt_anonymize.extensions.external_efforts.evaluation import ExternalRequest
from dbt_anonymize.project.generate import render
from dbt_anonymize.project.steps import steps_of
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations
from dbt_anonymize.spec.training import training_factors
from tests.extensions.external_efforts.world import EXTERNAL, QUALITY, declared
from tests.spec.declarations import SPEC, spec

LIMITS = {"singling_out": 0.1, "linkability": 0.1, "inference": 0.1, "closest_record": 0.1}


def test_a_sound_spec_numbers_foreign_efforts_with_our_own() -> None:
    one = Spec.model_validate(declared(efforts=[EXTERNAL, {"age": 1, "city": 1}]))
    assert not violations(declared())
    assert list(one.numbered_efforts) == [0, 2]
    assert list(one.external_efforts) == [1]
    assert list(one.built_efforts) == [0, 1, 2]
    assert one.external_efforts[1].shown_levels == "tool"
    assert training_factors(one)["effort"] == 3


def test_its_models_compare_all_efforts_and_none_scores_the_chosen_one_again() -> None:
    one = Spec.model_validate(declared(measured_limits=LIMITS))
    files = render(one)
    assert {"visits_measured_privacy.py", "visits_compared_privacy.sql"} < {*files}
    assert "visits_outer_quality.py" not in files
    assert "external_effort(" in files["visits_effort_2.sql"]
    assert "'relation': ref('synthetic')" in files["visits_effort_2.sql"]
    assert '"tested": microdata' in files["visits_evaluation.py"]
    assert '"outer"' not in files["visits_evaluation.py"]
    assert "ref('visits_compared_privacy')" in files["visits_results.sql"]
    assert "'attribute_inference': 0.1" in files["visits_compared_privacy.sql"]
    assert "no formal guarantee" in files["_visits.yml"]
    assert [step.name for step in steps_of(one)] == ["measured_privacy", "evaluation"]


def test_a_spec_without_foreign_efforts_has_none_of_it() -> None:
    files = render(Spec.model_validate(spec(quality={**QUALITY})))
    assert not {"visits_measured_privacy.py", "visits_compared_privacy.sql"} & {*files}
    assert "visits_outer_quality.py" in files


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"quality": {**SPEC["quality"]}},
            "quality.outer_share: must be there where an effort is a relation of another tool",
        ),
        ({"quality": {**QUALITY, "test_on": "generalized"}}, "quality.test_on: must be original"),
        ({"quality": {**QUALITY, "numbers": "class_mean"}}, "quality.numbers: must be by_model"),
        (
            {"quality": {**QUALITY, "categories": "frequencies"}},
            "quality.categories: must be label",
        ),
        ({"mapping": "class"}, "mapping: must be none"),
        ({"mapping": "token"}, "mapping: must be none"),
        ({"subject": "person"}, "subject: must be absent"),
        ({"sample": {"share": 0.5}}, "sample: must be absent"),
        ({"freeze": True, "release": {"effort": 1}}, "freeze: must be absent"),
        ({"choose": "strongest_non_inferior"}, "choose: must be max_q or pareto_knee"),
        ({"release": {"recompute": True}}, "release.recompute: must be absent"),
        ({"qnf": "1 - highest_risk"}, "qnf: must name k, equivalence_classes or attack_rate"),
        (
            {
                "columns": {
                    **SPEC["columns"],
                    "income": {"role": "insensitive", "mask": {"round": 5}},
                }
            },
            "columns: must have no mask",
        ),
        (
            {"efforts": [EXTERNAL, {**EXTERNAL, "relation": {"ref": "other"}}]},
            "efforts.2.name: must",
        ),
        (
            {
                "guarantees": {
                    "differential_privacy": {"epsilon": 1, "delta": 1e-5, "k": 3, "draw": 1}
                }
            },
            "guarantees.differential_privacy: must be absent",
        ),
    ],
)
def test_what_cannot_be_said_of_foreign_rows_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    found = list(map(str, violations(declared(**changes))))
    assert any(problem.startswith(message) for problem in found), found
    assert all("\n" not in problem for problem in found)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"relinking": {"k": 3}}, marks=pytest.mark.needs("custody")),
        {"mapping": "token", "release": {"access": "public"}},
        pytest.param({"release": {"joiners": "wait"}}, marks=pytest.mark.needs("second_month")),
        pytest.param(
            {"efforts": [{"recoding": "mondrian"}, EXTERNAL]}, marks=pytest.mark.needs("recoding")
        ),
        pytest.param(
            {"efforts": [{"age": {"level": 1, "show": "mean"}, "city": 1}, EXTERNAL]},
            marks=pytest.mark.needs("recoding"),
        ),
        {
            "mapping": "token",
            "guarantees": {
                "differential_privacy": {"epsilon": 1, "delta": 1e-5, "k": 3, "draw": 1}
            },
        },
    ],
)
def test_nothing_is_advised_that_is_refused_beside_foreign_rows(changes: dict[str, Any]) -> None:
    found = "\n".join(map(str, violations(declared(**changes))))
    assert found
    assert "mapping: class" not in found, found
    assert "fit: once" not in found, found


@pytest.mark.parametrize("other", [{"population_size": 9}, {"distance": "hierarchical"}])
def test_an_evaluation_advises_no_other_fit(other: dict[str, Any]) -> None:
    model = "t_closeness" if "distance" in other else "k_map"
    with pytest.raises(EvaluationError, match="Declare another guarantee") as error:
        check_recountable([{"model": model, **other}], may_fit_once=ExternalRequest.may_fit_once)
    assert "fit: once" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measured_limits": LIMITS}, "measured_limits: must be absent without an effort"),
        ({"qnf": "1 - attack_rate"}, "qnf: must not name attack_rate"),
    ],
)
def test_measures_need_a_foreign_effort(changes: dict[str, Any], message: str) -> None:
    found = list(map(str, violations(spec(quality={**QUALITY}, **changes))))
    assert any(problem.startswith(message) for problem in found), found


@pytest.mark.parametrize(
    ("effort", "message"),
    [
        ({**EXTERNAL, "k": 7}, "must have nothing beside relation and name"),
        (
            {**EXTERNAL, "levels": {"age": 1, "city": 1}},
            "must have nothing beside relation and name",
        ),
        (
            {"levels": {"age": 1, "city": 1}, "name": "ours"},
            "must have a name only beside relation",
        ),
        ({"relation": {}}, "must name exactly one relation"),
    ],
)
def test_the_keys_of_a_foreign_effort_are_two(effort: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Spec.model_validate(declared(efforts=[effort]))


def test_limits_are_of_all_attacks() -> None:
    with pytest.raises(ValidationError, match=r"closest_record\n  Field required"):
        Spec.model_validate(declared(measured_limits={"singling_out": 0.1}))
