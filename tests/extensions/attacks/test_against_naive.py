"""Every attack gives what an attacker finds who looks at one row after the other."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.composition import OtherRelease, attack_composition
from dbt_anonymize.extensions.attacks.inference import attack_confidence
from dbt_anonymize.extensions.attacks.linkage import attack_linkage
from dbt_anonymize.extensions.attacks.mapping import attack_mapping
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.session import Session
from tests.extensions.attacks import naive
from tests.extensions.attacks.linkable import (
    Record,
    World,
    read,
    read_with,
    session_of,
    spec_of,
    worlds,
)
from tests.sampling import examples

pytestmark = pytest.mark.costly

K = 2
# Failing examples are small already, and shrinking them would take minutes.
few = examples(
    settings(
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    ),
    full=30,
    sampled=10,
)


def values(results: list[AttackResult]) -> dict[str, float]:
    return {r.measure: r.main for r in results if r.main is not None}


def near(value: object) -> object:
    return pytest.approx(float(value), abs=1e-12)  # type: ignore[arg-type]


@few
@given(worlds())
def test_all_attacks(world: World) -> None:
    """One test for all, because building a world takes as long as attacking it."""
    assume(world.rows(0))
    assume(world.rows(1))
    with session_of(world) as session:
        release = read(session, spec_of(world), 0)
        other = read_with(release.knowledge, 1)
        linked = attack_linkage(release, average_risk=0.5)
        mapped = attack_mapping(release.knowledge, "release_0")
        (inferred,) = attack_confidence(release)
        composed = attack_composition(release, other, OtherRelease("other", "the other"))
    _check_linkage(world, linked)
    smallest = naive.smallest_group(world)
    assert mapped[0].main == near(1 / smallest)
    assert mapped[0].holds is (smallest >= K)
    assert inferred.main == near(naive.confidence(world))
    _check_joint_classes(composed, naive.joint(world, K))
    together, alone = naive.determined(world)
    assert values(composed)["subjects_with_determined_value"] == together
    assert composed[-1].naive == alone
    assert {r.holds for r in composed} == {None}


def _check_linkage(world: World, results: list[AttackResult]) -> None:
    highest, average, of_all = naive.linkage(world)
    found = values(results)
    assert found["highest_success"] == near(highest)
    assert found["average_success"] == near(average)
    assert found["average_success_of_all"] == near(of_all)
    assert found["unexplained_rows"] == 0
    holds = {r.measure: r.holds for r in results}
    assert holds["highest_success"] is bool(highest <= 1 / K)
    assert holds["average_success"] is bool(float(average) <= 0.5 + 1e-9)


def _check_joint_classes(results: list[AttackResult], expected: tuple[int, int, int, int]) -> None:
    found = values(results)
    names = ("joint_classes", "joint_classes_below_k", "subjects_below_k", "smallest_joint_class")
    assert tuple(found[name] for name in names) == expected


@few
@given(worlds())
def test_a_release_of_which_nothing_is_known(world: World) -> None:
    """It may also show its intervals as text alone."""
    assume(world.rows(0))
    assume(world.rows(1))
    with session_of(world) as session:
        release = read(session, spec_of(world), 0)
        other = read_with(release.knowledge, 1, has_origin=False)
        composed = attack_composition(release, other, OtherRelease("other", "the other"))
        session.rows("alter table release_1 drop column age_lower")
        session.rows("alter table release_1 drop column age_upper")
        texts = read_with(release.knowledge, 1, has_origin=False)
        pairs = session.row(
            f"select count(*) from {texts.sets} as s inner join {texts.of_sets} as o "
            "on s.candidates = o.candidates"
        )
    _check_joint_classes(composed, naive.joint(world, K, knows_origin=False))
    assert {label.kind for label in texts.labels} == {"interval_text", "category"}
    labels = {row.label(1) for row in world.rows(1)}
    raw = {(r.age, r.zip): r for r in world.records}.values()
    assert pairs == (sum(naive.can_hold(label, r) for label in labels for r in raw),)


@pytest.mark.parametrize("has_origin", [True, False])
def test_a_label_that_nobody_understands_stops_the_attack(has_origin: bool) -> None:
    records = [Record(n, 7, "01", "a", n, levels=((1, 1), (1, 1))) for n in range(1, 4)]
    with session_of(World(records, (1, 1), has_subject=False)) as session:
        session.rows("update release_1 set zip = 'Saxony'")
        knowledge = read(session, spec_of(World(records, (1, 1), has_subject=False)), 0).knowledge
        with pytest.raises(VerificationError, match="1 labels are none of these") as error:
            read_with(knowledge, 1, has_origin=has_origin)
    assert "Saxony" not in str(error.value)


def test_a_release_and_its_origin_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has a row for each record is costly to read: labels are looked up in its groups."""
    records = [Record(n, n % 9, "01", "a", n, levels=((1, 1), (2, 1))) for n in range(1, 10)]
    asked: list[str] = []
    original = Session.rows

    def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
        asked.append(sql)
        return original(session, sql)

    monkeypatch.setattr(Session, "rows", rows)
    world = World(records, (1, 1), has_subject=False)
    with session_of(world) as session:
        read(session, spec_of(world), 0)
    statements = [sql for sql in asked if not sql.startswith("describe")]
    # Of the microdata each quasi-identifier for its values, then the records.
    for relation, passes in {"release_0": 1, "effort_0": 1, "people_microdata": 3}.items():
        assert sum(sql.count(relation) for sql in statements) == passes, relation


def test_labels_of_the_other_release_are_not_compared_with_values() -> None:
    """A number here may be an interval there, of the same column."""
    records = [Record(n, 7, "01", "ab"[n % 2], n, levels=((1, 1), (1, 1))) for n in range(1, 5)]
    world = World(records, (1, 1), has_subject=False)
    with session_of(world) as session:
        for table in ("people_microdata", "release_0"):
            session.rows(f"alter table {table} alter value type integer using ascii(value)")
        release = read(session, spec_of(world), 0)
        other = read_with(release.knowledge, 1, has_origin=False)
        composed = attack_composition(release, other, OtherRelease("other", "the other"))
    assert other.generalized == ["value"]
    assert values(composed)["joint_classes"] == 1
    assert (composed[-1].attribute, composed[-1].main) == ("value", None)
    assert "not compared: the other has no values of value" in composed[-1].explanation
