"""Joined knowledge on Postgres: every query counts what it counts on DuckDB."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.run import verify
from tests.commands.conftest import command
from tests.engines.compared import assert_same, plain
from tests.engines.matrix import check_ran
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.published import before_statements
from tests.extensions.postgres.server import Server
from tests.projects import Project

# Not there where the extension was pulled out.
projects = pytest.importorskip("tests.extensions.linked.projects")
hospitals = pytest.importorskip("tests.extensions.linked.hospital")

SPEC = "anonymizations/hospital.yml"
SOURCES = ("patients", "stays", "results")
NODE = "model.shop.hospital_anonymized"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.dbt,
    pytest.mark.needs("linked"),
]


def test_every_query_counts_what_it_counts_on_duckdb(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("linked")
    here = projects.write(folder / "duckdb")
    there = here.copy(folder / "postgres")
    connect(there, server, "linked")
    for project in (here, there):
        projects.build(project)
    for name in projects.QUERIES:
        theirs = server.query(f"select * from linked.{name}")
        assert_same(plain(theirs), plain(here.query(f"select * from {name}")), name)
    number = len(projects.QUERIES)
    check_ran("Postgres", server.version, "dbt-postgres", "queries of linked tables", number)


@pytest.fixture(scope="module")
def hospital(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Build a release of linked tables, whose steps in Python are commands."""
    project = hospitals.write(tmp_path_factory.mktemp("hospital") / "project")
    connect(project, server)
    settings = {
        "vars": {"dbt_anonymize_python": False},
        "seeds": {"shop": {f"clinic_{name}": {"+schema": "vault"} for name in SOURCES}},
        "models": {"shop": {"hospital": {"+grants": {"select": [server.analyst]}}}},
    }
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    path = project.folder / "seeds" / "hospital.yml"
    path.write_text(path.read_text().replace("database: vault", "schema: vault"))
    generate(project.folder)
    result = command(project, "build", "hospital")
    assert result.exit_code == 0, result.output
    return project


def test_linked_tables_are_released_and_verified(hospital: Project, server: Server) -> None:
    stays = server.query("select * from shop_release.hospital_released_stays")
    people = server.query("select token from shop_release.hospital_anonymized")
    assert 0 < len(stays) < len(hospitals.tables(400)["clinic_stays"])
    assert {token for _, token, *_ in stays} <= {token for (token,) in people}
    assert verified(hospital) == []


def verified(project: Project) -> list[Finding]:
    """Return what the check of linked tables finds broken, or does not run."""
    spec = load_spec(project.folder / SPEC)
    findings = list(verify(find_project(project.folder), spec, checks=["linked"]))
    assert len(findings) > 10
    return [one for one in findings if one.holds is False or not one.was_run]


def test_losses_are_those_of_duckdb(
    hospital: Project, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = hospitals.write(tmp_path_factory.mktemp("here") / "project")
    generate(here.folder)
    here.build("-s", "+hospital_linked_information_loss", "--exclude", "resource_type:test")
    names = ("linked_losses", "linked_information_loss")
    for name in names:
        theirs = server.query(f"select * from shop.hospital_{name} order by 1, 2")
        ours = here.query(f"select * from hospital_{name} order by 1, 2")
        assert_same(plain(theirs), plain(ours), name)
    check_ran("Postgres", server.version, "dbt-postgres", "relations of linked tables", len(names))


def test_analysts_read_all_tables_and_nobody_else_changes_them(
    hospital: Project, server: Server
) -> None:
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    stays = "select count(*) from shop_release.hospital_released_stays"
    assert server.query(stays, server.analyst) == server.query(stays)
    assert server.refuses("delete from shop_release.hospital_released_stays", server.analyst)
    assert server.refuses("select * from shop.hospital_released_stays", server.analyst)


def test_a_check_of_grants_knows_all_tables(hospital: Project, server: Server) -> None:
    def failed() -> list[str]:
        spec = load_spec(hospital.folder / SPEC)
        found = verify(find_project(hospital.folder), spec, checks=["recomputation"])
        return [one.subject for one in found if one.holds is False]

    assert failed() == []
    server.query("grant update on shop_release.hospital_released_results to public")
    assert failed() == ["hospital_anonymized, grants"]
    server.query("revoke update on shop_release.hospital_released_results from public")


@pytest.mark.parametrize(
    ("planted", "undone", "said"),
    [
        (
            "create table kept as from_stays; update shop.hospital_released_stays set ward = 'x' "
            "where stays_key = (select min(stays_key) from shop.hospital_released_stays)",
            "truncate shop.hospital_released_stays; "
            "insert into shop.hospital_released_stays select * from kept; drop table kept",
            "linked",
        ),
        (
            "comment on table shop_release.hospital_released_stays is null",
            "comment on table shop_release.hospital_released_stays is "
            "'dbt_anonymize: published with hospital_anonymized'",
            "is already there, made by somebody else",
        ),
    ],
)
def test_nothing_is_published_that_is_not_checked(
    hospital: Project, server: Server, planted: str, undone: str, said: str
) -> None:
    published = "select * from shop_release.hospital_released_stays order by 1"
    before = server.query(published)
    server.query(planted.replace("from_stays", "select * from shop.hospital_released_stays"))
    outcome = hospital.dbt("build", "-s", "hospital_anonymized")
    assert not outcome.succeeded
    assert said in str(outcome.messages)
    assert server.query(published) == before
    server.query(undone)


def test_tables_of_an_effort_that_is_chosen_meanwhile_are_not_published(
    hospital: Project, server: Server
) -> None:
    """The people are of the effort before, and their combinations were not counted."""
    other = hospital.copy(hospital.folder.parent / "other")
    ((chosen,),) = server.query("select effort from shop.hospital_results where is_chosen")
    of_people = "select * from shop_release.hospital_anonymized order by token"
    before = server.query(of_people)
    built: list[int] = []

    def build_tables(_: list[str], sql: str, __: int) -> None:
        if "in share mode" not in sql or built:
            return
        server.query(f"update shop.hospital_results set is_chosen = effort = {1 + chosen % 4}")
        beside = [f"hospital_{part}" for part in ("released_stays", "released_results")]
        command = [sys.executable, "-m", "dbt.cli.main", "run", "-s", *beside]
        outcome = subprocess.run(
            [*command, "hospital_linked_risk", "--profiles-dir", str(other.folder)],
            cwd=other.folder,
            check=False,
        )
        built.append(outcome.returncode)

    with before_statements(build_tables, NODE):
        outcome = hospital.dbt("run", "-s", "hospital_anonymized")
    assert built == [0]
    assert not outcome.succeeded
    assert "another build has chosen it since" in outcome.messages
    assert server.query(of_people) == before
    server.query(f"update shop.hospital_results set is_chosen = effort = {chosen}")
    result = command(hospital, "build", "hospital")
    assert result.exit_code == 0, result.output


def test_a_reader_of_two_tables_and_a_build_do_not_wait_for_each_other(
    hospital: Project, server: Server
) -> None:
    """She comes from one to the other while both are to be replaced; only renames come after."""
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    waiting = (
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'relation' "
        f"and usename = '{server.builder}'"
    )

    def read_next(cursor: Any) -> None:
        end = time.monotonic() + 60
        while not server.query(waiting):
            assert time.monotonic() < end, "the build does not wait"
            time.sleep(0.01)
        cursor.execute("select count(*) from shop_release.hospital_anonymized")
        cursor.execute("commit")

    with (
        server.connection(server.analyst) as connection,
        ThreadPoolExecutor(1) as thread,
        before_statements(lambda *_: None, NODE) as seen,
    ):
        cursor = connection.cursor()
        cursor.execute("begin; select count(*) from shop_release.hospital_released_results")
        reading = thread.submit(read_next, cursor)
        outcome = hospital.dbt("run", "-s", "hospital_anonymized")
        reading.result()
    assert outcome.succeeded, outcome.messages
    locked = next(place for place, sql in enumerate(seen) if "access exclusive" in sql)
    assert not [sql for sql in seen[locked:] if "create table" in sql or "insert" in sql]


def test_decisions_on_other_records_stop_a_build(hospital: Project, server: Server) -> None:
    server.query("update shop_vault.clinic_stays set ward = 'eye' where ward = 'heart'")
    outcome = hospital.dbt("build", "-s", "hospital_linked_table_stays+")
    assert not outcome.succeeded
    assert "must be of the spec, the hierarchies and the records as they are" in str(
        outcome.messages
    )
    result = command(hospital, "build", "hospital")
    assert result.exit_code == 0, result.output


def test_a_table_that_a_spec_has_no_more_goes(hospital: Project, server: Server) -> None:
    content = yaml.safe_load((hospital.folder / SPEC).read_text())
    del content["linked"]["tables"]["results"], content["linked"]["features"]["results"]
    for effort in content["efforts"]:
        del effort["linked"]["results"]
    (hospital.folder / SPEC).write_text(yaml.safe_dump(content, sort_keys=False))
    generate(hospital.folder)
    result = command(hospital, "build", "hospital")
    assert result.exit_code == 0, result.output
    tables = "select tablename from pg_tables where schemaname = 'shop_release' order by 1"
    names = [name for (name,) in server.query(tables)]
    assert names == ["hospital_anonymized", "hospital_released_stays"]


@pytest.mark.needs("second_month")
def test_a_frozen_release_keeps_its_labels_and_is_registered(
    hospital: Project, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    content = yaml.safe_load((hospital.folder / SPEC).read_text())
    # Of this effort wards are released by their groups.
    content["release"] = {"joiners": "publish", "effort": 1}
    (hospital.folder / SPEC).write_text(yaml.safe_dump(content, sort_keys=False))
    generate(hospital.folder)
    for word in ("build", "freeze", "build"):
        result = command(hospital, word, "hospital")
        assert result.exit_code == 0, result.output
    assert verified(hospital) == []
    ((effort, reason),) = server.query(
        "select effort, reason from shop.hospital_results where is_chosen"
    )
    assert reason == "chosen: frozen, and keeps its guarantees"
    figures = "linked_table, levels, joint_k, records, raised_records, hidden_records, loss"
    last = "(select max(release) from shop.hospital_register)"
    assert server.query(
        f"select {figures} from shop.hospital_linked_register where release = {last} order by 1"
    ) == server.query(
        f"select {figures} from shop.hospital_linked_losses where effort = {effort} order by 1"
    )
    wards = hospital.folder / "seeds" / "clinic_wards.csv"
    wards.write_text(wards.read_text().replace("heart,operative", "heart,medical"))
    stopped = command(hospital, "build", "hospital")
    assert stopped.exit_code != 0
    said = capfd.readouterr().out
    assert "the labels of stays.ward are frozen; 1 of its 4 leaves" in said
