"""A whole anonymization on Postgres, without Python models: what DuckDB finds, Postgres finds."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from dbt_anonymize.evaluation.data.sampling import draw_sample
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.rows import draw
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_spec
from tests.commands.conftest import command
from tests.engines.compared import RELATIONS, assert_same
from tests.engines.matrix import check_ran
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.published import Published
from tests.extensions.postgres.server import Server
from tests.oracle.subsets import MODEL, TUPLES, expected_risk
from tests.projects import Project

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class OnPostgres:
    """The stranger's project there, and what its commands printed."""

    project: Project
    on_duckdb: Project
    server: Server
    evaluated: Result


def on_postgres(project: Project, folder: Path, server: Server, **variables: Any) -> Project:
    """Copy a project for Postgres, its people seeded into the vault."""
    copy = project.copy(folder)
    for place in ("target", "vault", "warehouse", "release"):
        shutil.rmtree(folder / place, ignore_errors=True)
    connect(copy, server)
    settings = {
        "vars": {"dbt_anonymize_python": False, **variables},
        "seeds": {"shop": {"customers": {"+schema": "vault"}}},
        "models": {
            "shop": {
                "customers": {"customers_anonymized": {"+grants": {"select": [server.analyst]}}}
            }
        },
    }
    copy.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    generate(folder)
    return copy


@pytest.fixture(scope="module")
def built(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> OnPostgres:
    folder = tmp_path_factory.mktemp("on_postgres") / "project"
    project = on_postgres(built_consumer, folder, server)
    outcome = project.dbt("seed")
    assert outcome.succeeded, outcome.messages
    _analyze_and_fail(server, "shop.customers_hierarchy_zip")
    outcome = project.dbt("run", "--exclude", "customers_evaluation+")
    assert outcome.succeeded, outcome.messages
    evaluated = command(project, "evaluate", "customers")
    assert evaluated.exit_code == 0, evaluated.output
    outcome = project.dbt("run", "-s", "customers_evaluation+")
    assert outcome.succeeded, outcome.messages
    return OnPostgres(project, built_consumer, server, evaluated)


def _analyze_and_fail(server: Server, table: str) -> None:
    """Leave what a failed build leaves: the number of rows is known, their statistics are not."""
    with server.connection(server.builder) as connection, connection.cursor() as cursor:
        cursor.execute(f"begin; analyze {table}; rollback")


@pytest.mark.parametrize("name", RELATIONS)
def test_a_relation_is_that_of_duckdb(built: OnPostgres, name: str) -> None:
    # How long steps took is of each run.
    where = " where kind <> 'seconds'" if name == "evaluation" else ""
    there = built.on_duckdb.query(f"select * from customers_{name}{where}")
    assert_same(built.server.query(f"select * from shop.customers_{name}{where}"), there, name)


def test_of_many_combinations_one_class_in_some_stands_for_all(built: OnPostgres) -> None:
    (built.project.folder / "models" / "estimated.sql").write_text(MODEL, encoding="utf-8")
    outcome = built.project.dbt("run", "--select", "estimated")
    assert outcome.succeeded, outcome.messages
    expected = expected_risk(built.on_duckdb.query(TUPLES))
    assert_same(built.server.query("select * from shop.estimated"), expected, "estimated")


def test_the_same_effort_is_chosen(built: OnPostgres) -> None:
    columns = "effort, is_chosen, qualifies, k, q, qf_mean, qf_low, qnf, reason, fingerprint"
    there = built.on_duckdb.query(f"select {columns} from customers_results")
    assert_same(
        built.server.query(f"select {columns} from shop.customers_results"), there, "results"
    )
    chosen = built.server.query("select effort from shop.customers_results where is_chosen")
    assert len(chosen) == 1


def test_the_release_is_that_of_duckdb_and_analysts_read_it(built: OnPostgres) -> None:
    server = built.server
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    rows = server.query("select * from shop_release.customers_anonymized", server.analyst)
    assert_same(rows, built.on_duckdb.release("customers"), "anonymized")
    for vaulted in ("customers", "customers_identifiers"):
        assert server.refuses(f"select 1 from shop_vault.{vaulted}", server.analyst)


def test_tables_are_analyzed_as_they_are_built(built: OnPostgres) -> None:
    """Else Postgres chooses joins of `customers_quality` that take minutes."""
    found = built.server.query(
        "select relname, reltuples from pg_class where relkind = 'r'"
        " and relnamespace = to_regnamespace('shop') and relname like 'customers%'"
    )
    assert len(found) > 10
    # The register has a row per release. Hierarchies are seeds.
    known = "select distinct tablename from pg_stats where tablename like 'customers_hierarchy%'"
    assert len(built.server.query(known)) == 3
    assert {name for name, rows in found if rows < 0} == {"customers_register"}


def test_a_search_by_what_models_predict_finds_what_it_finds_on_duckdb(built: OnPostgres) -> None:
    asked = ("search", "customers", "--measure", "guided", "--dry-run", "--format", "csv")
    here, there = (command(project, *asked) for project in (built.project, built.on_duckdb))
    assert here.exit_code == 0, here.output
    assert here.stdout == there.stdout
    assert here.stdout.count("effort") >= 2


def test_a_trial_finds_what_it_finds_on_duckdb(built: OnPostgres) -> None:
    """Nothing is written: no relation, no file."""
    asked = ("try", "customers", "--predict", "churned", "--evaluations", "20")
    relations = "select count(*) from pg_class where relkind in ('r', 'v')"
    before = built.server.query(relations)
    here, there = (command(project, *asked) for project in (built.project, built.on_duckdb))
    assert here.exit_code == 0, here.output
    # Who may read a table of Postgres is a matter of grants; a file of DuckDB is read as a whole.
    in_file = r"The table lies in the warehouse file, .*?may\s+find\s+them\s+there\.\n"
    on_duckdb, hints = re.subn(in_file, "", there.stdout, flags=re.DOTALL)
    assert hints == 1
    assert without_seconds(here.stdout) == without_seconds(on_duckdb)
    assert built.server.query(relations) == before


def without_seconds(text: str) -> str:
    return re.sub(r"in\s+\d+\s+s\.", "", text)


def test_a_sample_holds_the_records_that_duckdb_would_draw(built: OnPostgres) -> None:
    key, size = "customer_id", 100
    spec = load_spec(built.project.folder / "anonymizations" / "customers.yml")
    spec = spec.model_copy(update={"quality": spec.quality.model_copy(update={"sample": size})})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(built.project.folder))
        with open_warehouse(find_project(built.project.folder)) as warehouse:
            condition = draw(warehouse, spec).condition
    sql = f"select {key} from shop.customers_effort_0 where {condition}"
    here = {row[0] for row in built.server.query(sql)}
    with built.on_duckdb.connection() as connection:
        untouched = connection.table("customers_effort_0")
        drawn = draw_sample(untouched, key, size, spec.quality.random_state)
        there = {row[0] for row in drawn.restrict(untouched).project(key).fetchall()}
    assert len(here) == size
    assert here == there


def test_verify_finds_what_was_changed_and_names_what_it_cannot_run(built: OnPostgres) -> None:
    """`test_verify` compares all checks with DuckDB, and plants more."""
    server, release = built.server, "shop_release.customers_anonymized"
    server.query(f"create table public.released as select * from {release}")
    server.query(
        f"update {release} set zip = '99***', churned = (select min(\"e-mail\") from "
        f"shop_vault.customers_identifiers) where ctid = (select min(ctid) from {release})"
    )
    server.query(f"grant select on shop_vault.customers_identifiers to {server.analyst}")
    checks = ("--check", "content", "--check", "recomputation")
    result = command(built.project, "verify", "customers", *checks)
    server.query(f"revoke select on shop_vault.customers_identifiers from {server.analyst}")
    server.query(f"truncate {release}; insert into {release} select * from public.released")
    assert result.exit_code == 1
    # Changed rows are not those of the register.
    registered = server.query("select content from shop.customers_register")
    found = server.query("select distinct content from shop.customers_verification")
    assert len(found) == 1
    assert None not in found[0]
    assert found[0] not in registered
    said = " ".join(result.output.split())
    assert said.count("not run: ") == 2
    for check, subject in (
        ("content", "customers_anonymized.churned"),
        ("recomputation", "customers_anonymized"),
        ("recomputation", "vault, tables"),
    ):
        assert f"FAILED {check} {subject}: " in said, result.output


def test_a_release_is_published_whole_or_not_at_all(built: OnPostgres) -> None:
    """`test_publishing` kills it at every statement."""
    published = Published(built.project, built.server)
    built.server.query(f"grant usage on schema shop_release to {built.server.analyst}")
    before = published.state()
    settings = (built.project.folder / "dbt_project.yml").read_text(encoding="utf-8")
    with published.reading():
        built.project.edit("dbt_project.yml", lambda text: text.replace("select:", "selekt:"))
        outcome = published.publish()
        built.project.edit("dbt_project.yml", lambda _: settings)
        assert "unrecognized privilege type" in outcome.messages
        assert published.state() == before
        assert published.publish().succeeded
    after = published.state()
    assert (after[1], after[5]) == (before[1], before[5])
    assert after[0] != before[0]
    assert sum(after[2].values()) == sum(before[2].values()) + 1


def test_the_matrix_says_what_was_compared(built: OnPostgres) -> None:
    compared = len(RELATIONS) + len(("results", "anonymized"))
    what = "relations of a demonstration"
    check_ran("Postgres", built.server.version, "dbt-postgres", what, compared)


@pytest.mark.needs("second_month")
def test_of_a_frozen_effort_dbt_build_alone_releases(built: OnPostgres) -> None:
    """Without model and rows of an evaluation. It comes last, as it freezes."""
    project, server = built.project, built.server
    frozen = command(project, "freeze", "customers")
    assert frozen.exit_code == 0, frozen.output
    server.query("drop table shop.customers_evaluation_rows, shop.customers_evaluation cascade")
    server.query("drop table shop_release.customers_anonymized cascade")
    outcome = project.build("-s", "+path:models/customers", "--exclude", "resource_type:test")
    assert not [name for name in outcome.statuses if name.endswith("_evaluation")]
    server.query(f"grant usage on schema shop_release to {server.analyst}")
    rows = server.query("select * from shop_release.customers_anonymized", server.analyst)
    assert_same(rows, built.on_duckdb.release("customers"), "anonymized")
