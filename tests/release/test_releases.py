"""A build compares a release with the one that it replaces, and the vault remembers both."""

from __future__ import annotations

from pathlib import Path

from dbt_anonymize.project.generate import generate
from tests.projects import Outcome, Project

SEED = "seeds/customers.csv"
RELEASES = "vault.customers_releases"
STATE = """select record_key, cqi from (
    select *, row_number() over (partition by record_key order by release desc) as age
    from vault.customers_releases where release <= {}) where age = 1 and cqi is not null"""
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
    return project.dbt("build", "--exclude-resource-type", "unit_test")


def effort_of(project: Project) -> int:
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    return effort


def test_who_joined_is_reported_remembered_and_stops_a_strict_build(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    first = sorted(project.query(EFFORT.format(effort_of(project))))
    assert sorted(project.query(f"select record_key, cqi from {RELEASES}")) == first
    assert project.query(f"select distinct release from {RELEASES}") == [(1,)]

    again = rebuild(project)
    assert again.succeeded
    assert "no class may differ" not in again.messages
    assert project.query(f"select max(release) from {RELEASES}") == [(1,)]

    append_customers(project, 9001)
    joined = rebuild(project)
    assert joined.succeeded, joined.messages
    assert "by 1 to 3 records; 1 record joined in 1 class and 0 records left" in joined.messages
    assert project.query(f"select record_key from {RELEASES} where release = 2") == [("9001",)]
    second = sorted(project.query(EFFORT.format(effort_of(project))))
    assert sorted(project.query(STATE.format(2))) == second
    assert sorted(project.query(STATE.format(1))) == first

    spec = "anonymizations/customers.yml"
    project.edit(spec, lambda text: text + "release: {composition: strict}\n")
    generate(project.folder)
    before = project.release_file("customers").read_bytes()
    append_customers(project, 9002, 9003)
    stopped = rebuild(project)
    assert not stopped.succeeded
    assert "2 records joined in 1 class and 0 records left in 0 classes" in stopped.messages
    assert "Wait until more records joined, raise k, or accept it" in stopped.messages
    assert project.release_file("customers").read_bytes() == before
    assert project.query(f"select max(release) from {RELEASES}") == [(2,)]

    append_customers(project, 9004, 9005)
    hidden = rebuild(project)
    assert hidden.succeeded, hidden.messages
    assert "no class may differ" not in hidden.messages
    assert project.query(f"select count(*) from {RELEASES} where release = 3") == [(4,)]
