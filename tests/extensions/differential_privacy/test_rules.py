"""The spec refuses everything that would void differential privacy."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate
from dbt_anonymize.spec.rules import violations
from tests.worlds.private import changed

PRIVATE = {"epsilon": 1, "delta": 0.05}
LOCAL = {
    "recoding": "local",
    "rounds": [{"birth_date": 2, "gender": 1, "churned": 0}],
}


def columns(**roles: str) -> dict[str, Any]:
    found: dict[str, Any] = changed()["columns"]
    return found | {name: {"role": role} for name, role in roles.items()}


def effort(**more: Any) -> list[dict[str, Any]]:
    return [{"levels": {"birth_date": 3, "gender": 1, "churned": 0}, **more}]


def test_the_release_is_the_sample_of_the_guarantee() -> None:
    spec = Spec.model_validate(changed())
    assert not violations(changed())
    assert spec.differential_privacy is not None
    share = spec.differential_privacy.share
    assert spec.sample_shares == {1: share, 2: share}
    assert spec.declared_shares == [share]
    assert spec.largest_k == spec.differential_privacy.k
    assert spec.population_relation is None


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"columns": columns(zip="insensitive")}, "must not be insensitive under"),
        ({"columns": columns(zip="sensitive")}, "must not be sensitive under"),
        ({"subject": "e-mail"}, "must not be declared under differential_privacy, which holds"),
        ({"release": {}}, "must be a number under"),
        ({"release": {"effort": "auto"}}, "must be a number under"),
        ({"release": {"effort": 1, "composition": "strict"}}, "must not be strict under"),
        ({"mapping": "token"}, "must be class or none under"),
        (
            {"sample": {"share": 0.5}},
            "must not be declared under differential_privacy, which draws",
        ),
        ({"suppression_limit": 0.2}, "must be 1 under"),
        ({"efforts": effort(sample={"share": 0.2})}, "must not be declared for one effort"),
        pytest.param(
            {"efforts": [LOCAL]},
            "must be full_domain where a sample is released",
            marks=pytest.mark.needs("recoding"),
        ),
        (
            {"efforts": [{"birth_date": 3, "gender": 1, "churned": 1}]},
            "must be a sensitive or insensitive column, released as it is, or a quasi-identifier",
        ),
        (
            {
                "guarantees": {
                    "k_anonymity": {"k": 2},
                    "differential_privacy": PRIVATE,
                    "reidentification_risk": {"average": 0.1},
                }
            },
            "must not be declared under differential_privacy: its suppression",
        ),
        (
            {
                "guarantees": {
                    "k_anonymity": {"k": 2},
                    "differential_privacy": [PRIVATE, {"epsilon": 2, "delta": 0.05}],
                }
            },
            "must be declared once",
        ),
        ({"guarantees": {"k_anonymity": {"k": 2}}}, "must be < 1: only under"),
    ],
)
def test_what_would_void_it_is_refused(changes: dict[str, Any], rule: str) -> None:
    found = [problem.rule for problem in violations(changed(**changes))]
    assert any(text.startswith(rule) for text in found), found


def test_it_is_no_guarantee_of_one_effort() -> None:
    own = effort(guarantees={"differential_privacy": PRIVATE})
    found, problems = validate(changed(guarantees={"k_anonymity": {"k": 2}}, efforts=own))
    assert found is None
    assert ("efforts", 1, "guarantees", "differential_privacy") in {one.path for one in problems}
