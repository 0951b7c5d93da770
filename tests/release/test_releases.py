"""A build compares a release with the one that it replaces, and the vault remembers both."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
from tests.extensions import has
from tests.projects import Outcome, Project

SEED = "seeds/customers.csv"
LEAVES = "8629"
RELEASES = "vault.customers_releases"
STATE = """select record_key, cqi from (
    select *, row_number() over (partition by record_key order by release desc) as age
    from vault.customers_releases where release <= {}) where age = 1 and cqi is not null"""
REGISTER = """select release, effort, records, joined_records, left_records, moved_records,
    joint_classes_below_k, records_below_k from customers_register order by release"""
EFFORT = """select cast(customer_id as varchar), equivalence_class
    from customers_effort_{} where not is_suppressed"""


def append_customers(project: Project, *numbers: int) -> None:
    """Append copies of the record of the first customer, under other keys."""

    def longer(text: str) -> str:
        heading, first = text.splitlines()[:2]
        place = heading.split(",").index("customer_id")
        for number in numbers:
            fields = first.split(",")
            fields[place] = str(number)
            text += ",".join(fields) + "\n"
        return text

    project.edit(SEED, longer)


def rebuild(project: Project) -> Outcome:
    return project.dbt("build")


def without(number: str) -> Callable[[str], str]:
    """Remove the record of a customer."""
    return lambda text: "".join(
        line for line in text.splitlines(keepends=True) if not line.startswith(f"{number},")
    )


def assert_verified(
    project: Project, first: dict[str, str], second: dict[str, str], kept: Path
) -> None:
    """Assert that `verify` finds both, by the vault and by a file, as counted record by record."""
    arguments = ["verify", "customers", "--check", "attacks", "--project-dir", str(project.folder)]
    environment = {"DBT_PROFILES_DIR": str(project.folder)}
    result = CliRunner().invoke(app, [*arguments, "--earlier", str(kept)], env=environment)
    assert result.exit_code == 0, result.output
    # Nobody said which targets publish: one warning says where.
    assert " ".join(result.output.split()).count("dbt_anonymize_published_targets: [prod]") == 1
    warned = "select distinct against from customers_attacks where is_warning"
    assert ("all remembered releases",) in project.query(warned)
    assert not [row for row in project.query(warned) if row[0].startswith("release ")]
    sizes = Counter((first.get(key), second.get(key)) for key in {*first, *second})
    small = [size for size in sizes.values() if size < 4]
    rows = project.query(
        "select against, measure, main from customers_attacks where attack = 'composition'"
        " and (against like 'release 1 of %' or against like 'earlier %')"
    )
    found = {(against.split()[0], measure): value for against, measure, value in rows}
    assert found["release", "joint_classes"] == len(sizes)
    assert found["release", "joint_classes_below_k"] == len(small) == 2
    assert found["release", "subjects_below_k"] == sum(small) == 2
    assert found["release", "smallest_joint_class"] == min(sizes.values())
    for beside in ("release", "earlier"):
        assert found[beside, "classes_with_few_joined"] == 1
        assert found[beside, "classes_with_few_left"] == 1
    # The labels alone say nothing: everybody is assumed to be in both.
    assert found["earlier", "joint_classes_below_k"] == 0
    assert "release 2" not in " ".join(against for against, *_ in rows)


def declare(project: Project, release: str) -> None:
    """Replace what the spec says about the release."""
    spec = "anonymizations/customers.yml"
    project.edit(spec, lambda text: text.partition("release:")[0] + release)
    generate(project.folder)


def effort_of(project: Project) -> int:
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    return effort


def assert_warned(messages: str, said: str) -> None:
    """Require the warning of a release that was published, with what to do about it."""
    assert said in messages
    assert "Do not give it to anybody who may have the earlier one." in messages
    assert "`dbt-anonymize freeze` lets those who join or leave wait" in messages


@pytest.mark.sampled_tests(group="builds")
def test_who_joined_is_reported_remembered_and_stops_a_strict_build(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    first = sorted(project.query(EFFORT.format(effort_of(project))))
    assert sorted(project.query(f"select record_key, cqi from {RELEASES}")) == first
    assert project.query(f"select distinct release from {RELEASES}") == [(1,)]

    # Another effort for one record more would change every label.
    effort = effort_of(project)
    declare(project, f"release: {{effort: {effort}}}\n")
    again = rebuild(project)
    assert again.succeeded
    assert "no class may differ" not in again.messages
    assert project.query(f"select max(release) from {RELEASES}") == [(1,)]
    # The register has every release, also one that the vault need not tell from the last.
    unchanged = [(1, effort, 400, *[None] * 5), (2, effort, 400, *[0] * 5)]
    assert project.query(REGISTER) == unchanged

    kept = shutil.copy(project.release_file("customers"), tmp_path / "kept.duckdb")
    append_customers(project, 9001)
    project.edit(SEED, without(LEAVES))
    joined = rebuild(project)
    assert joined.succeeded, joined.messages
    said = "by 1 to 3 records; 1 record joined in 1 class and 1 record left in 1 class."
    assert_warned(joined.messages, said)
    # How many macros dbt has found may be the key of somebody.
    messages = "\n".join(m for m in joined.messages.splitlines() if not m.startswith("Found "))
    assert not [key for key, _ in first if key in messages]
    changed = project.query(f"select record_key, cqi is null from {RELEASES} where release = 2")
    assert sorted(changed) == [(LEAVES, True), ("9001", False)]
    second = sorted(project.query(EFFORT.format(effort_of(project))))
    assert sorted(project.query(STATE.format(2))) == second
    assert sorted(project.query(STATE.format(1))) == first
    registered = [*unchanged, (3, effort, 400, 1, 1, 0, 2, 2)]
    assert project.query(REGISTER) == registered
    if has("attacks"):
        assert_verified(project, dict(first), dict(second), kept)

    declare(project, f"release: {{effort: {effort}, composition: strict}}\n")
    before = project.release_file("customers").read_bytes()
    append_customers(project, 9002, 9003)
    stopped = rebuild(project)
    assert not stopped.succeeded
    assert "2 records joined in 1 class and 0 records left in 0 classes" in stopped.messages
    assert "Wait until more records joined, raise k, or accept it" in stopped.messages
    assert project.release_file("customers").read_bytes() == before
    assert project.query(f"select max(release) from {RELEASES}") == [(2,)]
    assert project.query(REGISTER) == registered

    # As if release 11 had followed: no release from 3 on needs what only the first two say.
    project.execute(f"insert into {RELEASES} values (11, current_timestamp, 'x', 'x')")
    append_customers(project, 9004, 9005)
    hidden = rebuild(project)
    assert hidden.succeeded, hidden.messages
    assert "no class may differ" not in hidden.messages
    assert project.query(f"select count(*) from {RELEASES} where release = 12") == [(5,)]
    assert sorted(project.query(STATE.format(3))) == second
    assert project.query(f"select * from {RELEASES} where record_key = '{LEAVES}'") == []
