"""The check `linked` of `verify`: a built hospital, and faults that are planted in its release."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.extensions.linked.verification.checking import check_linked
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.checked import Checked
from dbt_anonymize.verify.finding import Finding
from tests.extensions.linked.attacking import found_by_cost, outcome
from tests.extensions.linked.hospital import K, spec, write
from tests.projects import Project, run_command, warehouse_of

EFFORT = 3  # a raised stay shows the group of its ward, and no month
LEVELS = {"stays": {"ward": 0, "month": 2}, "results": {"test": 2}}
# Two people of unknown age are too few, and left out; some months are unknown.
SUPPRESSED = "".join(f"{patient},name {patient},,f,yes\n" for patient in (901, 902))
STAYS = "9901,901,eye,,700\n9902,902,skin,2,800\n9903,1,skin,,900\n9904,2,heart,,950\n"
RESULTS = "s1,9901,iron,1.5,\ns2,9903,sodium,-0.0,\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project, built, with an effort that raises, hides and leaves out records."""
    efforts = spec()["efforts"]
    efforts[EFFORT - 1]["linked"] = LEVELS
    changes = {"efforts": efforts, "release": {"effort": EFFORT}}
    project = write(tmp_path_factory.mktemp("hospital") / "project", **changes)
    for name, lines in (("patients", SUPPRESSED), ("stays", STAYS), ("results", RESULTS)):
        project.edit(f"seeds/clinic_{name}.csv", lambda text, more=lines: text + more)
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """Return a copy of the built project."""
    return built.copy(tmp_path / "project")


def findings(project: Project, earlier: Sequence[Path] = ()) -> list[Finding]:
    """Return what the check finds."""
    place = find_project(project.folder)
    spec = load_spec(project.folder / "anonymizations" / "hospital.yml")
    with warehouse_of(project) as warehouse:
        release = project.release_file("hospital")
        return check_linked(Checked(warehouse, warehouse, place, spec, release, None, earlier))


def failed(project: Project) -> dict[str, str]:
    """Return the messages of what does not hold, by its subject."""
    return {one.subject: one.message for one in findings(project) if one.holds is False}


def in_file(project: Project, sql: str) -> None:
    """Change the release file alone."""
    file = project.release_file("hospital")
    file.chmod(0o644)
    with duckdb.connect(str(file)) as connection:
        connection.execute(sql)


def everywhere(project: Project, sql: str) -> None:
    """Change the warehouse, and release what it holds then."""
    project.execute(sql)
    copies = "".join(
        f"create or replace table {table} as from warehouse.main.{table};"
        for table in ("hospital_released_stays", "hospital_released_results")
    )
    warehouse = project.folder / project.warehouse
    in_file(project, f"attach '{warehouse}' as warehouse (read_only); {copies}")


def test_a_build_holds(built: Project) -> None:
    found = findings(built)

    assert [one for one in found if one.holds is False or not one.was_run] == []
    (guarantee,) = [one for one in found if "own values and up to 2" in one.subject]
    assert f"at least k = {K} subjects must match" in guarantee.message
    assert "combinations counted" in guarantee.message
    subjects = [one.subject for one in found]
    assert len(subjects) == len({*subjects})
    measured = {one.subject: one.message for one in found if one.holds is None}
    assert " 0.0% have fewer" not in measured["attack before records are hidden, all tables"]
    assert "attack, people who are not released" in subjects


def test_kept_columns_say_whom_they_find_and_what_they_tell(built: Project) -> None:
    found, people, told, hidden = found_by_cost(built, EFFORT, K)
    (message,) = [f.message for f in findings(built) if f.subject == "hospital_released_stays.cost"]
    assert f"would find {found / people:.1%} of {people} people" in message
    assert f"Of {hidden} hidden records it tells a label of {told / hidden:.1%}." in message
    assert found > 0 < told


FIRST_STAY = "stays_key = (select min(stays_key) from hospital_released_stays)"
FIRST_RESULT = "results_key = (select min(results_key) from hospital_released_results)"
IN_FILE = {
    "a hidden ward is shown": (
        "update hospital_released_stays set ward = 'operative' where stays_key = "
        "(select min(stays_key) from hospital_released_stays where ward = '*')",
        {"release file, hospital_released_stays": "of the same key, ward in 1)"},
    ),
    "a raised ward is released by its name": (
        "update hospital_released_stays set ward = 'eye' where stays_key = "
        "(select min(stays_key) from hospital_released_stays where ward = 'operative')",
        {"release file, hospital_released_stays": "of the same key, ward in 1)"},
    ),
    "a stay leads to an unknown subject": (
        f"update hospital_released_stays set token = repeat('0', 32) where {FIRST_STAY}",
        {
            "hospital_released_stays.token": "1 lead nowhere",
            "release file, hospital_released_stays": "of the same key, token in 1)",
        },
    ),
    "a result leads to an unknown stay": (
        f"update hospital_released_results set stays_key = 5 where {FIRST_RESULT}",
        {
            "hospital_released_results.stays_key": "1 lead nowhere",
            "release file, hospital_released_results": "of the same key, stays_key in 1)",
        },
    ),
    "a key is repeated": (
        "update hospital_released_results set results_key = (select min(results_key) "
        "from hospital_released_results) where results_key = (select min(results_key) "
        f"from hospital_released_results where not {FIRST_RESULT})",
        {
            "hospital_released_results.results_key": "0 have none, and 1 that of another one",
            "release file, hospital_released_results": "1 rows are missing and 1 should not",
        },
    ),
    "a key is missing": (
        f"update hospital_released_results set results_key = null where {FIRST_RESULT}",
        {
            "hospital_released_results.results_key": "1 have none, and 0 that of another one",
            "hospital_released_results, order of rows": "1 are not",
            "release file, hospital_released_results": "1 rows are missing and 1 should not",
        },
    ),
    "a bound is another": (
        "update hospital_released_stays set month_upper = 12 where month = '[7, 13)'",
        {"release file, hospital_released_stays": "of the same key, month_upper in "},
    ),
    "a kept value is another": (
        f"update hospital_released_stays set cost = cost + 1 where {FIRST_STAY}",
        {"release file, hospital_released_stays": "of the same key, cost in 1)"},
    ),
    "a record is missing": (
        f"delete from hospital_released_results where {FIRST_RESULT}",
        {"release file, hospital_released_results": "1 rows are missing and 0 should not"},
    ),
    "a column is added": (
        "alter table hospital_released_stays add column patient_id int",
        {
            "release file, hospital_released_stays, columns": "none missing, and 1 others",
            "release file, hospital_released_stays": "its columns or their types are others",
        },
    ),
    "a column is missing": (
        "alter table hospital_released_stays drop column cost",
        {"release file, hospital_released_stays, columns": "cost missing, and 0 others"},
    ),
    "a table is added": (
        "create table more as select 1 as patient_id",
        {"tables of the release file": "none missing, and 1 others"},
    ),
    "a table is missing": (
        "drop table hospital_released_results",
        {"tables of the release file": "hospital_released_results missing, and 0 others"},
    ),
    "rows are in another order": (
        "create or replace table hospital_released_stays as "
        "from hospital_released_stays order by cost, stays_key desc",
        {"hospital_released_stays, order of rows": "tells nothing else"},
    ),
}


@pytest.mark.parametrize("fault", IN_FILE)
def test_a_fault_of_the_file_is_found(project: Project, fault: str) -> None:
    sql, expected = IN_FILE[fault]
    in_file(project, sql)

    found = failed(project)

    for subject, message in expected.items():
        assert message in found.pop(subject)
    # A label that nobody else has singles out who has it.
    assert all("own values" in subject or "attack" in subject for subject in found)


NEW_STAY = "insert into hospital_released_stays select max(stays_key) + 1, {}, 700 from {}"
EVERYWHERE = {
    "a record singles somebody out": (
        NEW_STAY.format("min(token), 'pharmacy', '[1, 7)', 1, 7", "hospital_released_stays"),
        {
            "hospital_released_stays": "0 rows are missing and 1 should not",
            "release file, hospital_released_stays": "0 rows are missing and 1 should not",
            "hospital: own values and up to 2 linked records": "the fewest are 1, of 1 known",
        },
    ),
    "a record of somebody who is left out is shown": (
        NEW_STAY.format(
            "(select token from vault.hospital_identifiers where patient_id = 901), "
            "'operative', '*', 1, 13",
            "hospital_released_stays",
        ),
        {
            "hospital_released_stays": "0 rows are missing and 1 should not",
            "release file, hospital_released_stays": "0 rows are missing and 1 should not",
            "hospital_released_stays.token": "1 lead nowhere",
        },
    ),
    "a label is wrong": (
        "update hospital_released_stays set ward = case ward when 'medical' then 'operative' "
        "else 'medical' end where ward <> '*'",
        {
            "hospital_released_stays": "of the same key, ward in ",
            "release file, hospital_released_stays": "of the same key, ward in ",
        },
    ),
    "a record is not decided on": (
        "delete from hospital_linked_decisions_3 where linked_table = 'results' "
        "and status = 'left out' and record = (select min(record) from "
        "hospital_linked_decisions_3 where linked_table = 'results' and status = 'left out')",
        {"hospital_linked_decisions_3, results": "1 are undecided"},
    ),
    "a record is decided on that is of nobody": (
        "insert into hospital_linked_decisions_3 values ('results', 's1', 'left out', null)",
        {"hospital_linked_decisions_3, results": "1 of somebody who is not released"},
    ),
    "kept values are others": (
        "update hospital_released_stays set cost = cost + 1",
        {
            "hospital_released_stays": "of the same key, cost in ",
            "release file, hospital_released_stays": "of the same key, cost in ",
        },
    ),
}


@pytest.mark.parametrize("fault", EVERYWHERE)
def test_a_fault_of_the_build_is_found(project: Project, fault: str) -> None:
    sql, expected = EVERYWHERE[fault]
    everywhere(project, sql)

    found = failed(project)

    for subject, message in expected.items():
        assert message in found.pop(subject)
    assert all("own values" in subject or "attack" in subject for subject in found)


# Keys that ascend with those of the source: of all stays, or of those of each subject.
ORDERS = {
    "all": "select record, old, row_number() over (order by record::int) as new from kept",
    "of each subject": """
        select by_record.record, by_record.old, by_key.old as new from
        (select *, row_number() over (partition by token order by record::int) as n from kept)
        as by_record join
        (select *, row_number() over (partition by token order by old) as n from kept)
        as by_key using (token, n)
    """,
}


@pytest.mark.parametrize("order", ORDERS)
def test_keys_in_the_order_of_the_source_are_found(project: Project, order: str) -> None:
    everywhere(
        project,
        f"""
        create temp table kept as select record, released_key as old, token
        from hospital_linked_decisions_3 join hospital_released_stays on released_key = stays_key
        where linked_table = 'stays';
        create temp table renewed as {ORDERS[order]};
        update hospital_linked_decisions_3 set released_key = new from renewed
        where linked_table = 'stays' and hospital_linked_decisions_3.record = renewed.record;
        create or replace table hospital_released_stays as
        select rows.* replace (new as stays_key) from hospital_released_stays as rows
        join renewed on stays_key = old order by new;
        create or replace table hospital_released_results as
        select rows.* replace (new as stays_key) from hospital_released_results as rows
        join renewed on stays_key = old order by results_key;
        """,
    )

    found = failed(project)

    assert [*found] == ["hospital_released_stays, order of keys"]
    expected = "correlation 1.00" if order == "all" else "correlation 0."
    assert expected in found["hospital_released_stays, order of keys"]


def test_more_losses_than_are_allowed_are_found(project: Project) -> None:
    project.edit(
        "anonymizations/hospital.yml", lambda text: text.replace("limit: 0.3", "limit: 0.01", 1)
    )

    assert [*failed(project)] == ["hospital_released_stays, suppression"]


def test_no_message_shows_a_value(project: Project) -> None:
    everywhere(project, EVERYWHERE["a record singles somebody out"][0])

    assert not [one for one in findings(project) if "pharmacy" in one.message]


def attack(found: list[Finding]) -> Finding:
    return next(one for one in found if one.subject == "attack, all tables")


def test_the_attack_is_that_of_the_definition(built: Project) -> None:
    assert attack(findings(built)).message.endswith(outcome(built))


@pytest.mark.parametrize(("status", "milder"), [("raised", "released"), ("hidden", "raised")])
def test_decisions_that_are_too_mild_break_the_promise(
    project: Project, status: str, milder: str
) -> None:
    change = f"set status = '{milder}' where status = '{status}'"
    project.execute(f"update hospital_linked_decisions_3 {change}")
    project.build("-s", "hospital_released_stays", "hospital_released_results")
    everywhere(project, "select 1")
    assert "hospital: own values and up to 2 linked records" in failed(project)


def test_decisions_that_hide_nothing_break_the_promise(project: Project) -> None:
    """The rows are those of the decisions: only what they tell together is wrong."""
    project.execute(
        "update hospital_linked_decisions_3 set status = 'released', "
        "released_key = coalesce(released_key, (hash(record) >> 1)::bigint)"
    )
    project.build("-s", "hospital_released_stays", "hospital_released_results")
    everywhere(project, "select 1")

    found = failed(project)

    assert {*found} == {"hospital: own values and up to 2 linked records", "attack, all tables"}
    assert outcome(project) in found["attack, all tables"]
    assert outcome(project).startswith("of 400 people ")
    assert " 0.0% have fewer" not in outcome(project)


def test_an_erasure_holds(project: Project) -> None:
    """The vault withholds those whom she would be seen missing from; the sources have them."""
    stays = (project.folder / "seeds" / "clinic_stays.csv").read_text(encoding="utf-8")
    hers = {line.split(",")[0] for line in stays.splitlines() if line.split(",")[1] == "7"}
    for name, column, keys in (("patients", 0, {"7"}), ("stays", 1, {"7"}), ("results", 1, hers)):
        project.edit(
            f"seeds/clinic_{name}.csv",
            lambda text, at=column, gone=keys: "".join(
                line for line in text.splitlines(keepends=True) if line.split(",")[at] not in gone
            ),
        )
    project.dbt("seed", "-s", "clinic_patients", "clinic_stays", "clinic_results")
    run_command("dbt-anonymize erase hospital --subject 7 --yes", project.folder)

    assert failed(project) == {}


def test_a_spec_without_linked_tables_has_no_finding(built: Project) -> None:
    place = find_project(built.folder)
    spec = load_spec(built.folder / "anonymizations" / "hospital.yml")
    without = spec.model_copy(update={"linked": None})
    with warehouse_of(built) as warehouse:
        release = built.release_file("hospital")
        assert check_linked(Checked(warehouse, warehouse, place, without, release, None)) == []


def test_the_command_holds(built: Project) -> None:
    output = run_command("dbt-anonymize verify hospital", built.folder)

    assert "linked         22 hold, 5 measured" in output


def test_an_earlier_file_is_subtracted(project: Project, tmp_path: Path) -> None:
    names, release = ("same", "other", "empty", "text"), project.release_file("hospital")
    same, other, empty, text = files = [tmp_path / f"{name}.duckdb" for name in names]
    for file in (same, other):
        shutil.copy(release, file)
    other.chmod(0o644)
    with duckdb.connect(str(other)) as connection:
        of_one = "in (select min(token) from hospital_released_stays)"
        connection.execute(f"delete from hospital_anonymized where token {of_one}")
    duckdb.connect(str(empty)).close()
    text.write_text("no database")
    found = {one.subject: one for one in findings(project, [*files, release])}
    statuses = {name: found[f"hospital and {name}.duckdb"].status for name in names}
    assert [*statuses.values()] == ["measured", "warning", "not run", "FAILED"]
    assert "of 1 of the 1 person who joined" in found["hospital and other.duckdb"].message
    assert "hospital and hospital.duckdb" not in found
