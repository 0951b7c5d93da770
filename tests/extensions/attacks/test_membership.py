"""Membership inference finds what a model remembers, and nothing where it remembers nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.extensions.attacks.membership import advantage, attack_membership
from dbt_anonymize.extensions.attacks.result import AttackResult, findings
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.spec import Spec
from tests.extensions.attacks.linkable import World, spec_of

WORLD = World((), (1, 1), has_subject=False)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=20))
def test_advantage_is_that_of_all_thresholds(asked: list[tuple[int, bool]]) -> None:
    members = [score for score, is_member in asked if is_member]
    others = [score for score, is_member in asked if not is_member]
    if not members or not others:
        return
    scores = np.array([score for score, _ in asked], dtype=np.float64)
    found = advantage(scores, np.array([is_member for _, is_member in asked]))
    wins = [1.0 if m > o else 0.5 if m == o else 0.0 for m in members for o in others]
    assert found.auc == pytest.approx(sum(wins) / len(wins))
    gaps = [
        sum(m >= limit for m in members) / len(members)
        - sum(o >= limit for o in others) / len(others)
        for limit in range(7)
    ]
    assert found.hit_rate - found.false_alarm_rate == pytest.approx(max(0.0, *gaps))


class _Warehouse:
    def relation_of_ref(self, name: str) -> str:
        return f'"{name}"'


@contextlib.contextmanager
def noise(level: str, target: str = "value") -> Iterator[Session]:
    """Give 400 people whose value has nothing to do with their age, which is theirs alone."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        "create table people_microdata as select range as id, range // 2 as subject, "
        "range * 7919 % 400 / 10.0 as age, "
        f"{target} as value from range(400)"
    )
    generalized = {
        "raw": "age, age as age_lower, age as age_upper",
        "root": "'*' as age, 0.0 as age_lower, 40.0 as age_upper",
    }
    width, label = {"raw": ("0.1", "lower_bound"), "root": ("40.0", "'*'")}[level]
    connection.execute(
        f"create table ages as select range * {width} as lower_bound, "
        f"(range + 1) * {width} as upper_bound, {label} as level_1 "
        f"from range(cast(40 / {width} as integer))"
    )
    for effort, columns in ((0, generalized["raw"]), (1, generalized[level])):
        connection.execute(
            f"create table people_effort_{effort} as select id, {columns}, value, "
            "'x' as equivalence_class, id % 10 = 0 as is_suppressed from people_microdata"
        )
    try:
        yield Session(_Warehouse(), connection)  # type: ignore[arg-type]
    finally:
        connection.close()


def attack(session: Session, **quality: Any) -> list[AttackResult]:
    return attack_membership(session, spec(**quality), 1, repetitions=3, largest=1000)


def spec(**quality: Any) -> Spec:
    declared = {
        "model": "decision_tree",
        "measure": "accuracy",
        "repetitions": 2,
        "test_share": 0.3,
        "random_state": 1,
    }
    return spec_of(WORLD, quality=declared | quality)


RANDOM = "case when hash(range) % 2 = 0 then 'a' else 'b' end"


def by_model(results: list[AttackResult]) -> dict[tuple[bool, str], AttackResult]:
    return {("original" in str(r.against), r.measure): r for r in results}


def test_a_tree_remembers_original_records_and_no_generalized_ones() -> None:
    with noise("root", RANDOM) as session:
        found = by_model(attack(session))
    # It is sure and right about every member, and about half of the others.
    assert found[True, "auc"].main == pytest.approx(0.75, abs=0.06)
    taken = found[True, "taken_for_members"]
    assert taken.main is not None
    assert taken.control is not None
    assert taken.main - taken.control == pytest.approx(0.5, abs=0.12)
    assert taken.risk == pytest.approx((taken.main - taken.control) / (1 - taken.control), abs=0.1)
    assert found[False, "auc"].main == pytest.approx(0.5, abs=0.02)
    for result in found.values():
        assert result.standard_error is not None
        assert result.standard_error < 0.1
        assert result.subjects == 360  # the suppressed are left out
        assert result.holds is None
    shuffled = float(taken.explanation.split("members ")[-1].rstrip("%."))
    assert 0 <= shuffled < 20


def test_released_as_it_is_a_table_is_remembered_like_the_original() -> None:
    with noise("raw", RANDOM) as session:
        found = by_model(attack(session, numbers="midpoint"))
    assert found[False, "auc"].main == found[True, "auc"].main


def test_models_without_probabilities_and_regressions_are_attacked_by_their_errors() -> None:
    with noise("root", RANDOM) as session:
        found = by_model(attack(session, model="linear_svm"))
        assert found[True, "auc"].main == pytest.approx(0.5, abs=0.1)
    with noise("root", "hash(range) % 1000 / 10.0") as session:
        found = by_model(attack(session, measure="rmse"))
    # It knows the number of each member: no other is nearer.
    assert found[True, "auc"].main == pytest.approx(1.0, abs=0.01)
    assert found[False, "auc"].main == pytest.approx(0.5, abs=0.1)


def test_people_are_members_with_all_their_records() -> None:
    """Both records of a person have her age and value: members in halves would be known."""
    world = World((), (1, 1), has_subject=True)
    with noise("raw", "case when hash(range // 2) % 2 = 0 then 'a' else 'b' end") as session:
        session.rows("update people_effort_0 set age = id // 2")
        declared = spec_of(world, quality=spec().quality.model_dump(exclude_none=True))
        found = by_model(attack_membership(session, declared, 1, repetitions=3, largest=1000))
    assert found[True, "auc"].main == pytest.approx(0.75, abs=0.08)


def test_what_cannot_be_attacked_says_why() -> None:
    with noise("root", "'a'") as session:
        (result,) = attack(session)
    assert result.main is None
    assert "at least 2 classes" in result.explanation
    assert findings([result])[0].holds is None
