"""`information_loss.targets` says what the classification metric is about."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations
from tests.spec.declarations import rich


def declared(targets: dict[str, Any] | None, **quality: Any) -> dict[str, Any]:
    found = rich()
    found["quality"] = {**found["quality"], **quality}
    del found["columns"]["income"]["mask"]
    found["features"] = [name for name in found["features"] if name != "income"]
    return found if targets is None else {**found, "information_loss": {"targets": targets}}


def test_by_default_it_is_about_all_that_is_predicted() -> None:
    plain = Spec.model_validate(declared(None))
    assert plain.loss_targets == {plain.target: 1.0}
    both = Spec.model_validate(declared(None, further_targets={"income": {}}))
    assert both.loss_targets == {plain.target: 1.0, "income": 1.0}
    models = render(both)
    for relation in ("classes", "frequencies"):
        assert "'further_targets': ['income']," in models[f"{both.name}_{relation}.sql"]
        assert "further_targets" not in render(plain)[f"{plain.name}_{relation}.sql"]


def test_declared_targets_replace_what_is_predicted() -> None:
    weights = {"income": 3, "ill": 1.5}
    spec = Spec.model_validate(declared(weights))
    assert spec.loss_targets == weights
    assert spec.counted_columns[-1] == "income"
    model = render(spec)[f"{spec.name}_information_loss.sql"]
    assert "'target': 'ill'," in model
    assert "'target_weights': {'income': 3.0, 'ill': 1.5}," in model
    of_one = Spec.model_validate(declared({"ill": 2}, further_targets={"income": {}}))
    assert (
        render(of_one)[f"{spec.name}_classes.sql"]
        == (render(Spec.model_validate(declared(None)))[f"{spec.name}_classes.sql"])
    )


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"phone": 1}, "information_loss.targets.phone: must be the target, or another column"),
        ({"nothing": 1}, "nothing, which is no column"),
        ({"day": 1}, "day, which is insensitive with a mask"),
        ({"age": 1}, "age, which is quasi_identifier"),
    ],
)
def test_targets_are_columns_that_are_released(targets: dict[str, Any], message: str) -> None:
    assert any(message in str(problem) for problem in violations(declared(targets)))


def test_columns_that_classes_add_for_a_target_are_not_free() -> None:
    found = declared({"income": 1})
    found["columns"]["income_has_majority"] = {"role": "insensitive"}
    assert any("that we add for income" in str(problem) for problem in violations(found))
