"""New records wait, and leavers: no two releases differ by fewer than k records of a class."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.results import records_of_one_value
from dbt_anonymize.spec import load_specs
from dbt_anonymize.spec.yaml_text import set_value
from tests.projects import Project, warehouse_of
from tests.second_month.customers import (
    CLASS,
    SPEC,
    Customers,
    K,
    diverse_copy,
    frozen_copy,
    members_of,
    published,
    run,
    subtracted,
)
from tests.vault.projects import copy_with, edit_spec

pytestmark = pytest.mark.sampled_tests(group="builds")


def states(project: Project) -> dict[str, set[str]]:
    """Return the records that wait or have just moved, by state."""
    found: dict[str, set[str]] = {}
    for key, state in project.query(
        "select record_key, state from vault.customers_membership where state <> 'released'"
    ):
        found.setdefault(state, set()).add(key)
    return found


def live_two_months(project: Project) -> tuple[list[Counter[tuple[Any, ...]]], list[str]]:
    """Let records join, leave, move, change and come back, and return all three releases."""
    of_class = members_of(project)
    alone = of_class.pop("", [])
    first, second, third, fourth, fifth = list(of_class.values())[:5]
    smallest = list(of_class.values())[-1]
    customers = Customers(project)
    months, said = [published(project)], []
    # The second month: too few join a class, enough another; one leaves a third, enough a fourth.
    early = customers.join(first[0], K - 2)
    together = customers.join(second[0], K)
    customers.leave(third[:1])
    gone = customers.leave(fourth[:K])
    # Two in the smallest class, which is that of k, and she of a class of her own.
    hidden = customers.join(smallest[0], K - 2)
    nobody = customers.join(fifth[0], 1)
    # A quasi-identifier that is missing is a class of its own.
    customers.rows[nobody[0]] |= {"zip": ""}
    # One changes what is released of her, and another moves to the class of others.
    customers.rows[fifth[0]]["churned"] = {"yes": "no", "no": "yes"}[
        customers.rows[fifth[0]]["churned"]
    ]
    for name in ("birth_date", "zip", "gender"):
        customers.rows[fifth[1]][name] = customers.rows[first[0]][name]
    said.append(customers.build())
    months.append(published(project))
    if "customers_membership" in {path.stem for path in (project.folder / "models").rglob("*.sql")}:
        assert states(project) == {
            "waiting": {*early, *hidden, *nobody, *alone},
            "joined": set(together),
            "leaving": {third[0], fifth[1]},
            "left": set(fourth[:K]),
            "changing": {fifth[0]},
        }
    # The third month: the rest of the group comes, one who left is back, more leave with the first.
    late = customers.join(first[0], 2)
    customers.rows[gone[0]["customer_id"]] = gone[0]
    customers.leave(third[1:K])
    customers.leave(together[:1])
    said.append(customers.build())
    months.append(published(project))
    if "customers_membership" in {path.stem for path in (project.folder / "models").rglob("*.sql")}:
        assert states(project) == {
            "waiting": {*hidden, *nobody, *alone, gone[0]["customer_id"]},
            "joined": {*early, *late},
            "leaving": {together[0], fifth[1]},
            "left": set(third[:K]),
            "changing": {fifth[0]},
        }
    return months, said


def assert_exact_values_are_counted(project: Project, said: str) -> None:
    """Require the count of exact values in those who are released, whoever waits."""
    with duckdb.connect(str(project.release_file("customers")), read_only=True) as file:
        ((everybody, alone),) = file.execute(
            "select sum(records), count(*) filter (records = 1 and spending is not null) from "
            "(select spending, count(*) as records from customers_anonymized group by spending)"
        ).fetchall()
    assert alone
    counted = re.search(rf"Of {everybody:,} released records are alone: (.+)", said)
    assert counted is not None
    assert f"{alone:,} with their spending" in counted[1]


def test_three_months_differ_by_no_group_below_k(built_consumer: Project, tmp_path: Path) -> None:
    project = frozen_copy(built_consumer, tmp_path / "waits")
    months, said = live_two_months(project)
    sizes = subtracted(months)
    assert sizes
    assert min(sizes) >= K
    assert "6 records wait to join, 2 to leave and 1 to change" in said[0]
    assert all(min(Counter(row[:5] for row in month.elements()).values()) >= K for month in months)
    # The vault remembers classes as they were released, and nobody twice.
    twice = project.query(
        "select record_key from vault.customers_members where left_at is null "
        "group by record_key having count(*) > 1"
    )
    assert twice == []
    ((remembered,),) = project.query(
        "select count(*) from vault.customers_members where left_at is null"
    )
    assert remembered == sum(months[-1].values())
    # The register counts what is released, not what waits, and finds nothing that two show.
    register = project.query(
        "select released_records, equivalence_classes, k, records_below_k, "
        "joined_records + left_records from customers_register order by release"
    )
    sizes_of = [Counter(row[: len(CLASS)] for row in month.elements()) for month in months]
    assert [row[:3] for row in register] == [
        (sum(of.values()), len(of), min(of.values())) for of in sizes_of
    ]
    assert [row[3] for row in register] == [None, 0, 0]
    # So do results, privacy and QNF, and the risks.
    ((k, qnf, classes, records, average),) = project.query(
        "select results.k, qnf, equivalence_classes, released_records, average_risk "
        "from customers_results as results natural join "
        "(select effort, equivalence_classes, released_records, average_risk "
        "from customers_privacy)"
        " as privacy where is_chosen"
    )
    last = sizes_of[-1]
    assert (records, classes, k) == (sum(last.values()), len(last), min(last.values()))
    assert average == pytest.approx(len(last) / sum(last.values()))
    assert qnf == pytest.approx(1 - 1 / k)
    assert all(moved >= K for *_, moved in register[1:])
    # The independent check agrees: no attacker who composes the releases gets below k.
    checks = ["--check", "recomputation", "--check", "guarantees", "--check", "attacks"]
    result = run(project, "verify", "customers", *checks)
    assert result.exit_code == 0, result.output
    assert "warning" not in result.output
    assert_exact_values_are_counted(project, result.output)
    # Classes of one value are those of the release: here one is made.
    (spec,) = load_specs(project.folder, ["customers"])
    released = project.copy(tmp_path / "one_value")
    first = "cqi = (select min(cqi) from main_release.customers_anonymized)"
    released.execute(f"update main_release.customers_anonymized set churned = 'yes' where {first}")
    ((alike,),) = released.query(
        "select coalesce(sum(records), 0) from (select count(*) as records, cqi from"
        " main_release.customers_anonymized group by cqi having min(churned) = max(churned))"
    )
    with warehouse_of(released) as warehouse:
        assert records_of_one_value(warehouse, spec, 1) == alike > 0


def test_without_waiting_the_same_months_show_single_people(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = frozen_copy(built_consumer, tmp_path / "publishes")
    project.edit(SPEC, lambda text: set_value(text, ["release", "joiners"], "publish"))
    generate(project.folder)
    months, said = live_two_months(project)
    assert min(subtracted(months)) == 1
    assert "no class may differ from that of the published file by 1 to 3" in said[0]
    assert run(project, "results", "customers").exit_code == 0


def test_changed_values_of_two_cohorts_show_nobody_later(
    built_consumer: Project, tmp_path: Path
) -> None:
    """Three of one cohort and one of another change together, and the first cohort leaves."""
    project = frozen_copy(built_consumer, tmp_path / "changes")
    old = max(members_of(project).items(), key=lambda item: bool(item[0]) * len(item[1]))[1]
    customers = Customers(project)
    months = [published(project)]
    new = customers.join(old[0], 2 * K)
    customers.build()
    months.append(published(project))
    for key in [*old[: K - 1], new[0]]:
        customers.rows[key]["order"] = "77"
    customers.build()
    months.append(published(project))
    assert months[2] == months[1]
    assert states(project)["changing"] == {*old[: K - 1], new[0]}
    customers.leave(old)
    customers.build()
    months.append(published(project))
    # Enough of what is left of the second cohort change: they leave it, and join with their values.
    for key in new[:K]:
        customers.rows[key]["order"] = "78"
    customers.build()
    months.append(published(project))
    assert states(project)["left"] == states(project)["joined"] == set(new[:K])
    assert len({*months[-1]} - {*months[-2]}) == K
    assert min(subtracted(months)) >= K


def test_what_the_vault_does_not_know_stops_the_build(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = frozen_copy(built_consumer, tmp_path / "project")
    customers = Customers(project)
    customers.join(members_of(project).popitem()[1][0], 1)
    project.edit(SPEC, lambda text: set_value(text, ["release", "recompute"], True))
    generate(project.folder)
    customers.build()

    # The vault remembers a release, and then the build was killed: the plan is of before.
    project.execute("update vault.customers_members set entered = 2 where cohort like '1 %'")
    stopped = project.dbt("run", "--select", "customers_anonymized")
    assert not stopped.succeeded
    assert "was decided after release 1; the vault remembers another since" in stopped.messages
    again = project.build()
    assert again.succeeded
    before = project.release_file("customers").read_bytes()

    project.execute("update vault.customers_members set labels = 'others'")
    stopped = project.dbt("build")
    assert not stopped.succeeded
    assert "must be of the same labels, columns and types as now" in stopped.messages

    # A vault of an earlier version, or lost: nobody could tell who is new.
    project.execute("drop table vault.customers_members")
    stopped = project.dbt("build")
    assert not stopped.succeeded
    said = " ".join(stopped.messages.split())
    assert "has an earlier release, and the vault does not know its records" in said
    assert "Restore customers_members from a backup of the vault" in said
    assert project.release_file("customers").read_bytes() == before


def test_tokens_lead_to_the_same_person_though_others_wait(tmp_path: Path) -> None:
    members = copy_with(tmp_path / "project", "members")
    members.build()
    said = " ".join(run(members, "freeze", "members").output.split())
    assert "subject: must not be declared where new records wait" in said
    assert not (members.folder / "seeds" / "members_frozen_labels.csv").exists()
    # By record; tokens of others are a custodian's to take away.
    edit_spec(members, "members", "subject: e-mail\n", "")
    for table in ("tokens", "releases"):
        members.execute(f"drop table vault.members_{table}")
    members.build()
    frozen = run(members, "freeze", "members")
    assert frozen.exit_code == 0, frozen.output
    tokens = {row[-1] for row in members.release("members")}
    ((gone,), (like,)) = members.query("select record_key from vault.members_members limit 2")
    customers = Customers(members)
    customers.leave([gone])
    customers.join(like, 1)
    assert " records wait to join, 1 to leave and 0 to change" in customers.build()
    assert {row[-1] for row in members.release("members")} == tokens
    result = run(members, "verify", "members", "--check", "recomputation", "--check", "guarantees")
    assert result.exit_code == 0, result.output


def test_every_promise_is_kept_month_after_month_and_by_every_copy(
    built_consumer: Project, tmp_path: Path
) -> None:
    """With l-diversity and t-closeness, whoever subtracts months learns no value of a group."""
    project = diverse_copy(built_consumer, tmp_path / "project", "duckdb, parquet, csv")
    project.build()
    result = run(project, "freeze", "customers")
    assert result.exit_code == 0, result.output
    of_class = members_of(project)
    first, second, third, *_ = of_class.values()
    customers = Customers(project)
    months = [published(project)]
    # Enough to hide, but all of one value: whoever subtracts would know it.
    alike = customers.join(first[0], 2 * K)
    for key in alike:
        customers.rows[key]["churned"] = "yes"
    mixed = customers.join(second[0], 2 * K)
    for place, key in enumerate(mixed):
        customers.rows[key]["churned"] = "yes" if place % 3 == 0 else "no"
    gone = [key for key in third if customers.rows[key]["churned"] == "no"][:K]
    back = customers.leave(gone)
    customers.build()
    months.append(published(project))
    assert {*alike} <= states(project)["waiting"]
    assert states(project)["joined"] == {*mixed}
    assert states(project)["leaving"] == {*gone}
    # Others of the class make both groups ones that keep every promise.
    late = customers.join(first[0], 2 * K)
    for key in late:
        customers.rows[key]["churned"] = "no"
    customers.rows |= {row["customer_id"]: row for row in back[:1]}
    leavers = [key for key in third if key not in gone and customers.rows[key]["churned"] == "yes"]
    customers.leave(leavers[:2])
    customers.build()
    months.append(published(project))
    assert {*alike, *late} <= states(project)["joined"]
    assert states(project)["left"] == {*gone[1:], *leavers[:2]}
    assert_groups_are_diverse(months)
    copies = project.release_file("customers")
    with duckdb.connect(":memory:") as connection:
        for form in ("parquet", "csv"):
            sql = f"select count(*) from '{copies.with_suffix(f'.{form}')}'"
            assert connection.execute(sql).fetchall() == [(sum(months[-1].values()),)]
    checks = ["--check", "recomputation", "--check", "guarantees", "--check", "attacks"]
    verified = run(project, "verify", "customers", *checks)
    assert verified.exit_code == 0, verified.output


def assert_groups_are_diverse(months: list[Counter[tuple[Any, ...]]]) -> None:
    """Every group by which two months differ has k rows at least, and both values."""
    groups: dict[Any, list[Any]] = {}
    for pair in itertools.permutations(enumerate(months), 2):
        (place, one), (other_place, other) = pair
        for row in (one - other).elements():
            groups.setdefault((place, other_place, row[: len(CLASS)]), []).append(row[-1])
    assert min(map(len, groups.values())) >= K
    assert {len({*values}) for values in groups.values()} == {2}
