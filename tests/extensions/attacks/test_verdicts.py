"""A release that breaks its promise is told apart from one that keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.composition import OtherRelease, attack_composition
from dbt_anonymize.extensions.attacks.inference import attack_confidence
from dbt_anonymize.extensions.attacks.linkage import attack_linkage, declared_k, declared_risk
from dbt_anonymize.extensions.attacks.mapping import attack_mapping
from dbt_anonymize.extensions.attacks.result import AttackResult, findings
from tests.extensions.attacks.linkable import Record, World, read, read_with, session_of, spec_of

pytestmark = pytest.mark.costly

LEVELS = ((2, 1), (1, 1))


def people(
    *groups: tuple[int, int, str], levels: tuple[tuple[int, int], tuple[int, int]] = LEVELS
) -> list[Record]:
    """Return so many people of an age, all with one value."""
    records: list[Record] = []
    for count, age, value in groups:
        for _ in range(count):
            number = len(records) + 1
            records.append(Record(number, age, "01", value, number, levels))
    return records


# Two classes of four, by ages below and above 10.
HONEST = World(
    people((2, 1, "a"), (2, 2, "b"), (3, 11, "a"), (1, 12, "b")), (1, 1), has_subject=False
)


def linked(
    world: World,
    statement: str | None = None,
    guarantees: Mapping[str, Any] | None = None,
    average: float = 0.25,
) -> dict[str, AttackResult]:
    """Attack a world by linkage after something was done to it."""
    with session_of(world) as session:
        if statement:
            session.rows(statement)
        spec = spec_of(world, dict(guarantees or {"k_anonymity": {"k": 4}}))
        return {r.measure: r for r in attack_linkage(read(session, spec, 0), average)}


def inferred(world: World, guarantees: Mapping[str, Any]) -> AttackResult:
    """Return the highest confidence."""
    with session_of(world) as session:
        return attack_confidence(read(session, spec_of(world, dict(guarantees)), 0))[0]


def test_an_honest_release_holds() -> None:
    found = linked(HONEST)
    assert (found["highest_success"].main, found["highest_success"].declared_limit) == (0.25, 0.25)
    assert {name: r.holds for name, r in found.items()} == {
        "highest_success": True,
        "average_success": True,
        "average_success_of_all": None,
        "unexplained_rows": True,
    }
    assert found["highest_success"].naive == 1 / 8


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        # One row of a class is gone, so that three are left.
        ("delete from release_0 where rowid = 0", {"highest_success", "unexplained_rows"}),
        # A row stands in a class of its own.
        (
            "update release_0 set age = '[5, 10)', age_lower = 5 where rowid = 0",
            {"highest_success", "unexplained_rows"},
        ),
        # Two classes were merged to one that cannot hold half of its people.
        (
            "update release_0 set age = '[0, 10)', age_lower = 0, age_upper = 10",
            {"unexplained_rows"},
        ),
        # A whole class is gone.
        ("delete from release_0 where age_lower = 0", {"unexplained_rows"}),
        # Rows that nobody in the source became.
        ("insert into release_0 select * from release_0", {"unexplained_rows"}),
    ],
)
def test_a_broken_release_does_not_hold(statement: str, broken: set[str]) -> None:
    found = linked(HONEST, statement, average=1.0)
    assert {name for name, r in found.items() if r.holds is False} == broken
    told = {f.subject: f.message for f in findings(found.values()) if f.holds is False}
    assert all("build" in message for message in told.values())
    assert set(told) == {f"linkage, {name}" for name in broken}


def test_a_k_that_is_not_kept_does_not_hold() -> None:
    assert linked(HONEST, guarantees={"k_anonymity": {"k": 5}})["highest_success"].holds is False


def test_declared_risks_are_limits() -> None:
    guarantees = {"k_anonymity": {"k": 2}, "reidentification_risk": {"highest": 0.2}}
    found = linked(HONEST, guarantees=guarantees)
    assert (found["highest_success"].declared_limit, found["highest_success"].holds) == (0.2, False)
    guarantees = {"k_anonymity": {"k": 2}, "reidentification_risk": {"average": 0.24}}
    found = linked(HONEST, guarantees=guarantees)
    assert (found["average_success"].declared_limit, found["average_success"].holds) == (
        0.24,
        False,
    )
    assert found["highest_success"].declared_limit == 0.5


def test_the_risk_that_the_build_reports_is_a_limit() -> None:
    assert linked(HONEST, average=0.25)["average_success"].holds is True
    assert linked(HONEST, average=0.2)["average_success"].holds is False


def test_the_largest_k_counts() -> None:
    guarantees = {
        "k_anonymity": {"k": 3},
        "alpha_k_anonymity": {"attribute": "value", "alpha": 0.8, "k": 6},
    }
    assert declared_k(spec_of(HONEST, guarantees)) == 6
    assert declared_risk(spec_of(HONEST, guarantees), "highest") is None


def test_nobody_released_is_no_proof() -> None:
    with pytest.raises(VerificationError, match="at least one person"):
        linked(World(HONEST.records, (9, 9), has_subject=False))


def test_records_of_one_person_are_one_candidate() -> None:
    records = [Record(n, 1, "01", "a", (n + 1) // 2, LEVELS) for n in range(1, 5)]
    assert linked(World(records, (1, 1), has_subject=False))["highest_success"].main == 0.25
    assert linked(World(records, (1, 1), has_subject=True))["highest_success"].main == 0.5


@pytest.mark.parametrize(
    ("guarantee", "limit", "holds"),
    [
        ({"l_diversity": {"attribute": "value", "l": 2}}, 0.75, True),
        ({"l_diversity": {"attribute": "value", "l": 3}}, 0.5, False),
        ({"t_closeness": {"attribute": "value", "t": 0.125}}, 0.75, True),
        ({"t_closeness": {"attribute": "value", "t": 0.1}}, 0.725, False),
        ({"alpha_k_anonymity": {"attribute": "value", "alpha": 0.7, "k": 2}}, 0.7, False),
        ({"beta_likeness": {"attribute": "value", "beta": 0.2, "variant": "basic"}}, 0.75, True),
        ({"reidentification_risk": {"highest": 0.5}}, None, None),
    ],
)
def test_what_guarantees_bound(
    guarantee: Mapping[str, Any], limit: float | None, holds: bool | None
) -> None:
    # 5 of 8 people have the value a: 2 of 4 in one class, 3 of 4 in the other.
    result = inferred(HONEST, {"k_anonymity": {"k": 2}, **guarantee})
    assert (result.main, result.naive) == (0.75, 0.625)
    assert result.declared_limit == (None if limit is None else pytest.approx(limit))
    assert result.holds is holds


def mapped(mapping: str, *statements: str) -> Sequence[AttackResult]:
    """Attack a world through the mapping, with its key to the vault made first."""
    with session_of(HONEST) as session:
        for statement in statements:
            session.rows(statement)
        knowledge = read(session, spec_of(HONEST, mapping=mapping), 0).knowledge
        return attack_mapping(knowledge, "release_0")


def test_a_group_of_the_vault_that_is_too_small_does_not_hold() -> None:
    (result,) = mapped("class")
    assert (result.main, result.declared_limit, result.holds) == (0.25, 0.5, True)
    (result,) = mapped(
        "class",
        "update people_identifiers set cqi = 'x' where id = 1",
        "update release_0 set cqi = 'x' where rowid = 0",
    )
    assert (result.main, result.holds) == (1.0, False)


def test_a_group_that_leads_to_nobody_is_no_proof() -> None:
    with pytest.raises(VerificationError, match="1 groups of the release lead to nobody"):
        mapped("class", "update release_0 set cqi = 'x' where rowid = 0")
    with pytest.raises(VerificationError, match="must have the column cqi"):
        mapped("class", "alter table release_0 drop column cqi")


def test_tokens_lead_to_people_but_join_no_rows() -> None:
    tokens = (
        "alter table release_0 drop column cqi",
        "alter table release_0 add column token text",
        "update release_0 set token = 't' || rowid",
    )
    highest, rows = mapped("token", *tokens)
    assert (highest.main, highest.holds) == (1.0, None)
    assert (rows.main, rows.holds) == (1.0, True)
    _, rows = mapped("token", *tokens, "update release_0 set token = 't1' where rowid = 0")
    assert (rows.main, rows.holds) == (2.0, False)


def test_without_a_mapping_there_is_no_way_back() -> None:
    (result,) = mapped("none", "alter table release_0 drop column cqi")
    assert (result.main, result.holds) == (0.0, None)
    (result,) = mapped("none")
    assert (result.main, result.holds) == (None, False)
    (result,) = mapped("class", "alter table release_0 add column token text")
    assert (result.main, result.holds) == (None, False)


def test_two_releases_that_keep_k_break_it_together() -> None:
    """Ages 1 and 6 share a class of width 10, and 6 and 11 one of 15 of another hierarchy."""
    with session_of(HONEST) as session:
        session.rows(
            "update release_1 set age = case when value = 'a' then '[0, 2)' else '[2, 20)' end, "
            "age_lower = case when value = 'a' then 0 else 2 end, "
            "age_upper = case when value = 'a' then 2 else 20 end"
        )
        release = read(session, spec_of(HONEST, {"k_anonymity": {"k": 4}}), 0)
        other = read_with(release.knowledge, 1, has_origin=False)
        results = attack_composition(release, other, OtherRelease("earlier", "the earlier release"))
    found = {r.measure: r for r in results}
    # Below 10 there are two people of age 1 and two of age 2, told apart by the other release.
    assert found["joint_classes"].main == 3
    assert (found["joint_classes_below_k"].main, found["joint_classes_below_k"].naive) == (2, 0)
    assert found["subjects_below_k"].main == 4
    assert (found["smallest_joint_class"].main, found["smallest_joint_class"].naive) == (2, 4)
    assert found["joint_classes_below_k"].is_warning
    # Whoever is of age 2 has the value b, which both releases do not leave open together; the
    # other release says so alone.
    assert found["subjects_with_determined_value"].main == 0
    assert (
        "the earlier release alone reveals" in found["subjects_with_determined_value"].explanation
    )


def test_a_release_that_shows_no_quasi_identifier_has_nothing_to_intersect() -> None:
    with session_of(HONEST) as session:
        release = read(session, spec_of(HONEST), 0)
        (result,) = attack_composition(release, None, OtherRelease("other", "the other"))
    assert (result.main, result.holds) == (None, None)
