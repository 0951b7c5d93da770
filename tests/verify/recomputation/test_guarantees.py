"""The guarantees of a release are counted again, whatever its build says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.spec import Spec
from tests.verify.recomputation import world as worlds
from tests.verify.recomputation.world import COLUMNS, World, open_world, spec_of
from tests.worlds.visits import AGES, ZIPS

pytestmark = pytest.mark.sampled_tests(6)

# Two classes of 60 and 59 records at effort 1, and one record without an age.
SOURCE = """
select
    1000 + i as visit,
    {whose} as person,
    'Person ' || i || 'owsky' as name,
    case when i = 7 then null else 20 + (i * 7) % 40 end as age,
    case when i % 2 = 0 then '01067' else '01097' end as zip,
    ['asthma', 'flu', 'lupus'][1 + (i // 4) % 3] as diagnosis,
    100.5 + i % 3 as score,
    ['seen', 'to be seen'][1 + i % 2] as note
from range(120) as numbers(i)
"""
DIAGNOSES = """
select * from (values ('asthma', 'lung', '*'), ('flu', 'lung', '*'), ('lupus', 'other', '*'))
    as tree(value, level_1, level_2)
"""
TREES = {"age": AGES, "zip": ZIPS, "diagnosis": DIAGNOSES}
DIAGNOSIS = {
    "role": "sensitive",
    "hierarchy": {"ref": "diagnoses", "kind": "categorical", "levels": 2},
}
STAKES = {"publisher_benefit": 10, "adversary_gain": 6, "adversary_cost": 0.1}
BY_JOURNALIST = {"adversary_gain": 12, "attacker": "journalist"}
_GUARANTEES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"k_map": {"k": 38}}, {"k_map": {"k": 121}}),
    (
        {"k_map": {"k": 20, "estimator": "poisson", "significance": 0.05}},
        {"k_map": {"k": 1000, "estimator": "poisson", "significance": 0.05}},
    ),
    (
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.35, "k": 3}},
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.33, "k": 3}},
    ),
    (
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.4, "k": 3, "values": ["flu"]}},
        {"alpha_k_anonymity": {"attribute": "diagnosis", "alpha": 0.3, "k": 3, "values": ["flu"]}},
    ),
    (
        {"l_diversity": {"attribute": "diagnosis", "l": 2.9, "variant": "entropy"}},
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "entropy"}},
    ),
    (
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "recursive", "c": 1.1}},
        {"l_diversity": {"attribute": "diagnosis", "l": 3, "variant": "recursive", "c": 1}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02, "distance": "ordered"}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001, "distance": "ordered"}},
    ),
    (
        {"t_closeness": {"attribute": "diagnosis", "t": 0.02, "distance": "hierarchical"}},
        {"t_closeness": {"attribute": "diagnosis", "t": 0.001, "distance": "hierarchical"}},
    ),
    (
        {"n_t_closeness": {"attribute": "diagnosis", "n": 60, "t": 0.02}},
        {"n_t_closeness": {"attribute": "diagnosis", "n": 60, "t": 0.001}},
    ),
    (
        {"n_t_closeness": {"attribute": "diagnosis", "n": 2, "t": 0.001}},
        {"n_t_closeness": {"attribute": "diagnosis", "n": 1000000, "t": 1}},
    ),
    (
        {"beta_likeness": {"attribute": "diagnosis", "beta": 0.1}},
        {"beta_likeness": {"attribute": "diagnosis", "beta": 0.001}},
    ),
    (
        {"delta_disclosure": {"attribute": "diagnosis", "delta": 0.1}},
        {"delta_disclosure": {"attribute": "diagnosis", "delta": 0.001}},
    ),
    (
        {"delta_presence": {"minimum": 0.4, "maximum": 0.5}},
        {"delta_presence": {"minimum": 0.4, "maximum": 0.49}},
    ),
    (
        {"reidentification_risk": {"average": 0.03, "highest": 0.06}},
        {"reidentification_risk": {"average": 0.01}},
    ),
    ({"reidentification_risk": {"highest": 0.06}}, {"reidentification_risk": {"highest": 0.01}}),
    ({"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 61}}),
    # The smaller class has 59 records, of which the town has each twice.
    (
        {"no_attack": {"adversary_gain": 5.9, "adversary_cost": 0.1}},
        {"no_attack": {"adversary_gain": 6, "adversary_cost": 0.1}},
    ),
    (
        {"no_attack": {"adversary_gain": 118, "adversary_cost": 1, "attacker": "journalist"}},
        {"no_attack": {"adversary_gain": 121, "adversary_cost": 1, "attacker": "journalist"}},
    ),
    # 2 of 10 ages and 2 of 2 places lose ln 4 / ln 20 of a benefit of 10: 5.37 are left.
    (
        {"profitable": {**STAKES, "publisher_loss": 316}},
        {"profitable": {**STAKES, "publisher_loss": 318}},
    ),
    (
        {"profitable": {**STAKES, "publisher_loss": 632, **BY_JOURNALIST}},
        {"profitable": {**STAKES, "publisher_loss": 636, **BY_JOURNALIST}},
    ),
]
GUARANTEES = [(kept, broken) for kept, broken in _GUARANTEES if {*kept} <= {*MODELS}]


def declared(guarantees: dict[str, Any] | None = None, **changes: Any) -> Spec:
    """Return the spec with more guarantees."""
    return spec_of(
        columns={**COLUMNS, "person": {"role": "identifier"}, "diagnosis": DIAGNOSIS},
        efforts=[{"age": 2, "zip": 1}],
        guarantees={"k_anonymity": {"k": 3}, **(guarantees or {})},
        population={"ref": "town", "size": 1000},
        **changes,
    )


def broken_guarantees(world: World) -> dict[str, str]:
    """Return the message of each guarantee that does not hold."""
    found = (f for f in world.findings() if f.check == "guarantees" and f.holds is False)
    return {finding.subject: finding.message for finding in found}


@pytest.mark.parametrize(("kept", "broken"), GUARANTEES)
def test_each_model_of_guarantees_is_judged(kept: dict[str, Any], broken: dict[str, Any]) -> None:
    with open_world(declared(), source=SOURCE.format(whose="i"), hierarchies=TREES) as world:
        # Everybody twice, and somebody who is in no visit.
        world.connection.execute(
            "create table town as select age, zip from source "
            "union all select age, zip from source union all select 99, '01067'"
        )
        there = replace(world, tables=replace(world.tables, population="town"))
        assert replace(there, spec=declared(kept)).broken() == set()
        (subject,) = broken_guarantees(replace(there, spec=declared(broken)))
    assert subject.startswith(next(iter(broken)))


def test_what_only_the_released_effort_must_keep_is_judged() -> None:
    own = {"t_closeness": {"attribute": "diagnosis", "t": 0.001}}
    levels = {"levels": {"age": 2, "zip": 1}}
    with open_world(declared(), source=SOURCE.format(whose="i"), hierarchies=TREES) as world:
        for guarantees, expected in ((own, "t_closeness"), (None, None)):
            further = {"guarantees": guarantees} if guarantees else {}
            spec = declared()
            efforts = [{**levels, **further}, {"levels": {"age": 3, "zip": 1}, "guarantees": own}]
            changed = spec.model_copy(
                update={
                    "efforts": type(spec)
                    .model_validate(
                        {**spec.model_dump(mode="json", exclude_none=True), "efforts": efforts}
                    )
                    .efforts
                }
            )
            found = broken_guarantees(replace(world, spec=changed))
            assert [name.split(" ")[0] for name in found] == ([expected] if expected else [])


@pytest.mark.parametrize("mapping", ["none", "class"])
@pytest.mark.parametrize("whose", ["i // 2", "i % 50"])
def test_subjects_are_counted_once_whatever_the_mapping(mapping: str, whose: str) -> None:
    spec = declared(subject="person", mapping=mapping)
    with open_world(spec, source=SOURCE.format(whose=whose), hierarchies=TREES) as world:
        findings = world.findings()
    assert [
        finding for finding in findings if finding.status != "measured" and not finding.holds
    ] == []
    (message,) = [f.message for f in findings if f.subject == "k_anonymity (k 3)"]
    assert message.endswith(" subjects.")


def test_a_class_of_one_subject_is_suppressed() -> None:
    """Records of one person make a class of one."""
    spec = declared(subject="person", mapping="none", suppression_limit=0.6)
    source = SOURCE.format(whose="case when 20 + (i * 7) % 40 < 40 and i <> 7 then 0 else i end")
    with open_world(spec, source=source, hierarchies=TREES) as world:
        assert world.broken() == set()
        world.connection.execute("update effort set is_suppressed = false where age = '[20, 40)'")
        assert world.broken() == {"visits_effort_1"}


def test_more_suppressed_records_than_may_be_are_named() -> None:
    spec = declared(suppression_limit=0.0)
    with open_world(declared(), source=SOURCE.format(whose="i"), hierarchies=TREES) as world:
        findings = replace(world, spec=spec).findings()
    messages = {
        finding.subject: finding.message
        for finding in findings
        if finding.holds is False or finding.is_warning
    }
    assert messages["suppression"].startswith(
        "1 of 120 records must be suppressed; at most 0 may be"
    )


def test_an_identifier_that_repeats_is_warned_of_where_no_subject_is_declared() -> None:
    repeated = worlds.SOURCE.replace("'Person ' || i || 'owsky'", "'Person ' || i % 4 || 'owsky'")
    # Every fourth record is of the same person, and so is every class of an age.
    told = "k counts records, and 80 have 4 values of name; a class has as few as 1"
    accepted = COLUMNS | {"name": COLUMNS["name"] | {"repeats": "accepted"}}
    for columns, warned in ((COLUMNS, [told]), (accepted, [])):
        with open_world(spec_of(mapping="none", columns=columns), source=repeated) as world:
            findings = world.findings()
        found = [finding.message for finding in findings if finding.is_warning]
        assert [message.partition(".")[0] for message in found] == warned
        assert not [finding for finding in findings if finding.holds is False]
