"""The keys of a search: they move no result, and name levels and measures that there are."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.extensions.search.declared import search_of
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.rules import violations
from tests.spec.declarations import SPEC, spec
from tests.spec.test_left_out import LEFT_OUT
from tests.spec.test_outer_share import QUALITY
from tests.spec.test_without_target import untested


def test_what_a_search_looks_for_does_not_outdate_results() -> None:
    plain, declared = (Spec.model_validate(one) for one in (SPEC, spec(search={"efforts": 3})))
    assert declared.fingerprint == plain.fingerprint
    assert declared.digest == plain.digest


def test_models_search_by_default_where_there_is_a_target() -> None:
    for content, measure in ((untested(), "loss"), (SPEC, "quality")):
        found = Spec.model_validate(content)
        assert search_of(found).measure_of(found) == measure


def test_bounds_may_name_a_column_that_is_left_out() -> None:
    bounds = {"city": {"highest": 1}, "age": {"lowest": 1}}
    declared = spec(**LEFT_OUT, efforts=[{"age": 1}], search={"levels": bounds})
    assert not violations(declared)
    assert search_of(Spec.model_validate(declared)).levels["age"].lowest == 1


def refused(content: dict[str, Any]) -> str:
    (problem,) = violations(content)
    return str(problem)


@pytest.mark.parametrize("measure", ["quality", "guided", "classification_metric"])
def test_what_needs_a_target_is_refused(measure: str) -> None:
    said = refused(untested(search={"measure": measure}))
    assert said.startswith(
        f"search.measure: must need no target where none is declared; got {measure!r}"
    )
    assert not violations(spec(search={"measure": measure}))


def test_outer_targets_are_not_read() -> None:
    declared = spec(quality=QUALITY, search={"measure": "classification_metric"})
    assert refused(declared).startswith("search.measure: must not read targets")


def test_a_search_by_payouts_has_their_amounts() -> None:
    said = refused(spec(search={"measure": "publisher_payout"}))
    assert "must be another measure without the guarantee profitable" in said


@pytest.mark.needs("payouts")
def test_a_search_by_payouts_with_their_amounts_is_declared() -> None:
    profitable = {
        "publisher_benefit": 1200,
        "publisher_loss": 300,
        "adversary_gain": 300,
        "adversary_cost": 4,
    }
    guarantees = {**SPEC["guarantees"], "profitable": profitable}
    assert not violations(spec(search={"measure": "publisher_payout"}, guarantees=guarantees))
