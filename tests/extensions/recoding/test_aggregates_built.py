"""A project that chooses, releases and verifies aggregates of classes, month after month."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extensions.recoding import wages
from tests.projects import Project
from tests.second_month.customers import run

pytestmark = pytest.mark.sampled_tests(group="builds")

CLASS = "n8:[20, 40)|n8:[20, 50)|t6:health"
ROWS = wages.people(1, 300)
SPEC = wages.SPEC | {"efforts": [wages.LEVELS]}
# Of the class above.
AGE, INCOME, JOBS = 33, 30.5, ("nurse", "doctor")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project whose only effort shows aggregates, built once."""
    folder = tmp_path_factory.mktemp("wages_by_month") / "project"
    project = wages.wages_project(folder, ROWS, [SPEC])
    project.build()
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """Give a copy of its own."""
    return built.copy(tmp_path / "project")


def shown(project: Project) -> dict[str, tuple[str, str]]:
    """Return what each released class shows of age and job."""
    rows = project.query("select distinct cqi, age, job from release_wages.wages_anonymized")
    assert len({cqi for cqi, *_ in rows}) == len(rows)
    return {cqi: (age, job) for cqi, age, job in rows}


def with_newcomers(count: int, age: int = AGE) -> list[list[Any]]:
    """Return the source with so many more of the class."""
    newcomers = (
        [1000 + number, "Newcomer", age, INCOME, JOBS[number % 2], "no"] for number in range(count)
    )
    return [*ROWS, *newcomers]


def month(project: Project, rows: list[list[Any]]) -> str:
    """Release another month."""
    wages.write_people(project, rows)
    return project.build().messages


def test_such_an_effort_is_chosen_released_and_verified(built: Project) -> None:
    ((chosen, words),) = built.query(
        "select effort, levels_in_words from wages_results where is_chosen"
    )
    assert chosen == 1
    assert words == "keeps age by 20 (mean), income by 30, job in 2 groups (mode)"
    age, job = shown(built)[CLASS]
    assert (20 < float(age) < 40, job) == (True, "nurse")
    report = ["--output", str(built.folder / "wages.html")]
    for command in (["verify"], ["results"], ["report", *report]):
        done = run(built, command[0], "wages", *command[1:])
        assert done.exit_code == 0, done.output
    ((levels,),) = built.query("select levels from wages_register")
    assert levels == "age 2, income 2, job 1"


def test_a_class_shows_its_label_until_enough_people_are_new(project: Project) -> None:
    first = shown(project)
    month(project, ROWS)
    assert shown(project) == first
    month(project, with_newcomers(1))
    one = shown(project)
    assert one.pop(CLASS) == ("[20, 40)", "health")
    assert one == {cqi: both for cqi, both in first.items() if cqi != CLASS}
    done = run(project, "verify", "wages")
    assert "must" not in done.output
    month(project, with_newcomers(4))
    done = run(project, "diff", "wages")
    assert done.exit_code == 0, done.output
    more = shown(project)
    assert more[CLASS][0] not in {"[20, 40)", first[CLASS][0]}
    month(project, with_newcomers(6))
    assert shown(project)[CLASS] == ("[20, 40)", "health")
    month(project, ROWS)  # shown before, of the same people
    assert shown(project) == first


def test_a_changed_value_of_the_same_people_shows_no_other_mean(project: Project) -> None:
    first = shown(project)
    rows = [[*row] for row in ROWS]
    changed = next(row for row in rows if row[2] == 21 and row[4] == "nurse" and row[3] < 50)
    changed[2] = 39
    month(project, rows)
    assert shown(project) == first | {CLASS: ("[20, 40)", "health")}


def test_without_the_memory_of_the_vault_labels_are_shown(project: Project) -> None:
    project.execute("drop table vault.main.wages_aggregated")
    messages = month(project, ROWS)
    assert "the vault does not know of whom it showed means" in messages
    assert all(age.startswith(("[", "*")) for age, _ in shown(project).values())


def test_a_release_that_was_decided_before_another_is_refused(project: Project) -> None:
    project.execute(
        "delete from vault.main.wages_aggregated where record_key = "
        f"(select min(record_key) from vault.main.wages_aggregated where cqi = '{CLASS}')"
    )
    outcome = project.dbt("build", "--select", "wages_anonymized")
    assert not outcome.succeeded
    assert "what a class shows must have been compared with all that earlier" in outcome.messages


def test_a_class_shows_its_label_where_two_means_would_tell_who_joined(project: Project) -> None:
    month(project, with_newcomers(4, age=20))
    assert shown(project)[CLASS] == ("[20, 40)", "health")
    # If it had shown its mean all the same:
    project.execute(
        "create or replace table wages_aggregates_1 as from wages_aggregates_1 union all by name "
        f"select '{CLASS}' as equivalence_class, cast(round(avg(s.age), 2) as varchar) as age, "
        "'nurse' as job, 'told' as aggregates, true as is_new, 1 as compared_releases "
        "from wages_effort_1 as e inner join vault.main.wages as s on e.id = s.id "
        f"where equivalence_class = '{CLASS}'"
    )
    done = run(project, "verify", "wages", "--check", "recomputation")
    assert done.exit_code == 1
    assert "tells no value too closely; 1 do not" in " ".join(done.output.split())


@pytest.mark.parametrize(
    "changed",
    [
        f"case when equivalence_class = '{CLASS}' then '31.5' else age end as age",
        f"case when equivalence_class = '{CLASS}' then 'doctor' else job end as job",
        f"case when equivalence_class = '{CLASS}' then 'clerk' else job end as job",
    ],
)
def test_verify_finds_another_aggregate(project: Project, changed: str) -> None:
    project.execute(
        f"create or replace table wages_aggregates_1 as select * replace ({changed}) "
        "from wages_aggregates_1"
    )
    done = run(project, "verify", "wages", "--check", "recomputation")
    assert done.exit_code == 1
    assert "a class must show its label, or a mean, median or mode of its records" in " ".join(
        done.output.split()
    )


def test_verify_finds_two_releases_that_tell_a_value(project: Project) -> None:
    month(project, with_newcomers(4))
    done = run(project, "verify", "wages", "--check", "aggregates")
    assert done.exit_code == 0, done.output
    project.execute(
        "insert into vault.main.wages_aggregated select 3, record_key, person, cqi, 'another' "
        "from vault.main.wages_aggregated where release = 2 and cast(record_key as int) <> 1000"
    )
    done = run(project, "verify", "wages", "--check", "aggregates")
    assert done.exit_code == 1
    assert "may follow; 1 of" in " ".join(done.output.split())


def test_keys_that_are_drawn_anew_hide_nobody(project: Project) -> None:
    messages = month(project, [[10_000 + key, *person] for key, *person in ROWS])
    assert "If their keys were drawn anew, nobody can tell who joined since" in messages
    assert all(age.startswith(("[", "*")) for age, _ in shown(project).values())


def test_verify_finds_a_record_that_shows_something_else(project: Project) -> None:
    project.execute(
        "create table shown as from wages_effort_1; drop view wages_effort_1; "
        "create table wages_effort_1 as select * replace (case when id = (select min(id) "
        f"from shown where equivalence_class = '{CLASS}') then '[20, 40)' else age end as age) "
        "from shown"
    )
    done = run(project, "verify", "wages", "--check", "recomputation")
    assert done.exit_code == 1
    assert "aggregates of classes" in done.output


@pytest.mark.needs("custody")
def test_an_erased_person_is_remembered_without_her_name(tmp_path: Path) -> None:
    project = wages.wages_project(tmp_path / "project", ROWS, wages.SPECS[1:2])
    project.build()
    remembered = "from vault.main.workers_aggregated"
    ((name, records),) = project.query(f"select min(person), count(*) {remembered}")
    wages.write_people(project, [row for row in ROWS if row[1] != name])
    assert project.dbt("seed").succeeded
    done = run(project, "erase", "workers", "--subject", name, "--yes")
    assert done.exit_code == 0, done.output
    assert not project.query(f"select 1 {remembered} where person = '{name}'")
    assert project.query(f"select count(*) {remembered}") == [(records,)]
