"""Samples in a spec."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations
from tests.spec.declarations import spec


def sampled(**changes: Any) -> dict[str, Any]:
    return spec(**{"sample": {"share": 0.5}, **changes})


def test_an_effort_has_its_own_share_or_that_of_the_spec() -> None:
    own = {"levels": {"age": 2, "city": 1}, "sample": {"share": 0.8}}
    found = Spec.model_validate(sampled(efforts=[{"age": 1, "city": 0}, own]))
    assert found.sample_shares == {1: 0.5, 2: 0.8}
    assert found.declared_shares == [0.5, 0.8]
    alone = Spec.model_validate(spec(efforts=[{"age": 1, "city": 0}, own]))
    assert alone.sample_shares == {2: 0.8}


def test_the_source_is_the_population_of_records_unless_there_is_another() -> None:
    assert Spec.model_validate(spec()).population_relation is None
    found = Spec.model_validate(sampled()).population_relation
    assert found is not None
    assert found.ref == "visits_source"
    assert Spec.model_validate(sampled(subject="phone")).population_relation is None
    declared = Spec.model_validate(sampled(population={"size": 1000}))
    assert declared.population_relation is None


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        Spec.model_validate(sampled(sample={"share": share}))


LOCAL = {"recoding": "local", "rounds": [{"age": 1, "city": 1}, {"age": 2, "city": 2}]}
ESTIMATED = {"k": 3, "estimator": "poisson", "significance": 0.1}
OWN = {"levels": {"age": 1, "city": 1}, "sample": {"share": 0.5}}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"sample": {"share": 0.5, "strata": ["phone"]}}, "must not be an identifier"),
        ({"sample": {"share": 0.5, "strata": ["nothing"]}}, "must be a declared column"),
        pytest.param(
            {"efforts": [LOCAL]},
            "must be full_domain where a sample is released",
            marks=pytest.mark.needs("recoding"),
        ),
        ({"quality": {"suppressed": "missing"}}, "must not be missing where a sample is released"),
        ({"quality": {"fit": "per_split"}}, "must not be per_split where a sample is released"),
        (
            {
                "efforts": [OWN],
                "guarantees": {"k_anonymity": {"k": 3}, "k_map": ESTIMATED},
                "population": {"size": 100},
            },
            "must not be declared beside an estimated k_map",
        ),
        (
            {
                "subject": "phone",
                "guarantees": {"k_anonymity": {"k": 3}, "k_map": {"k": 3}},
            },
            "must have a table of the population to count in",
        ),
    ],
)
def test_what_cannot_be_sampled_is_refused(changes: dict[str, Any], rule: str) -> None:
    assert any(problem.rule.startswith(rule) for problem in violations(sampled(**changes)))


def test_k_map_is_counted_in_the_source_of_a_sample() -> None:
    guarantees = {"k_anonymity": {"k": 3}, "k_map": {"k": 5}}
    assert not violations(sampled(guarantees=guarantees))
    assert violations(spec(guarantees=guarantees))
