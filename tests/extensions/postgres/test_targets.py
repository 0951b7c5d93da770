"""`dbt clone` and `--defer` of one target, with relations that another one has built."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.imported import imported
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server, temporary_server
from tests.extensions.postgres.test_demonstration import on_postgres
from tests.projects import Project

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

CI = ("--target", "ci", "--state", "state")
RELEASED = "select * from {}_release.customers_anonymized order by 1, 2, 3, 4, 5, 6, 7, 8, 9"
OF_VAULT = [f"config.materialized:dbt_anonymize_{kind}" for kind in ("vault", "release")]
# A folder of models has the same name.
SEED = "path:seeds/customers.csv"
REFUSED = "relations of the vault and releases must be built by their own target"
# Where everybody may read what is made, unless somebody closes it.
OPEN = [
    f"alter default privileges grant {right} to public"
    for right in ("usage on schemas", "select on tables")
]


@pytest.fixture(scope="module")
def production(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """Build for production, and keep what dbt knows of it."""
    folder = tmp_path_factory.mktemp("targets") / "project"
    project = on_postgres(built_consumer, folder, server)
    built = command(project, "build", "customers")
    assert built.exit_code == 0, built.output
    shutil.copytree(folder / "target", folder / "state")
    connect(project, server, ci="ci")
    for sql in OPEN:
        server.query(sql)
    return project


@pytest.fixture
def project(production: Project, server: Server) -> Iterator[Project]:
    """Give it, and remove what a test made of the other target."""
    yield production
    for schema in ("ci", "ci_vault", "ci_release"):
        server.query(f"drop schema if exists {schema} cascade")


def tables(server: Server, schema: str) -> set[str]:
    sql = f"select table_name from information_schema.tables where table_schema = '{schema}'"
    return {name for (name,) in server.query(sql)}


@pytest.mark.needs("quick_reading")
def test_relations_are_found_without_dbt(project: Project, server: Server) -> None:
    from tests.extensions.quick_reading.test_last_build import assert_found_alike

    outcome = project.dbt("compile", "--select", "customers_results")
    assert outcome.succeeded, outcome.messages
    server.query("drop table if exists shop.customers_curves")
    assert set(assert_found_alike(project.folder, "customers_results")) == {True, False}
    assert imported(project.folder, "results") == "[]"
    printed = command(project, "results").output
    (project.folder / "target" / "manifest.json").unlink()
    assert command(project, "results").output == printed
    # For the tests behind this one.
    project.build("-s", "customers_curves")


@pytest.mark.parametrize("place", ["vault", "raw"])
def test_no_clone_shows_what_lies_in_the_vault(
    project: Project, server: Server, tmp_path: Path, place: str
) -> None:
    """Nor the project's own seed, wherever the other target would keep it."""
    copy = project.copy(tmp_path / "project")
    if place != "vault":
        copy.edit(
            "dbt_project.yml", lambda text: text.replace("+schema: vault", f"+schema: {place}")
        )
    for name in ("customers", "customers_identifiers", "customers_anonymized"):
        selected = SEED if name == "customers" else name
        outcome = copy.dbt("clone", *CI, "-s", selected)
        assert not outcome.succeeded
        assert f'{name}": {REFUSED}' in outcome.messages
        assert "Exclude it from the clone, as docs/dbt.md says" in outcome.messages
    for schema in ("ci", "ci_vault", "ci_raw", "ci_release"):
        assert tables(server, schema) == set()


def test_everything_else_is_cloned_and_the_rest_is_built(project: Project, server: Server) -> None:
    outcome = project.dbt("clone", *CI, "--exclude", SEED, *OF_VAULT)
    assert outcome.succeeded, outcome.messages
    assert {"customers_microdata", "customers_results"} <= tables(server, "ci")
    # The source is that of production, which the builder may read.
    project.build(*CI, "--defer", "-s", "customers_identifiers+", "customers_anonymized")
    assert server.query(RELEASED.format("ci")) == server.query(RELEASED.format("shop"))
    identifiers = "select * from {}_vault.customers_identifiers order by 1"
    assert server.query(identifiers.format("ci")) == server.query(identifiers.format("shop"))
    for name in ("customers_identifiers", "customers_releases"):
        assert server.refuses(f"select 1 from ci_vault.{name}", server.analyst)


def test_what_is_not_built_is_read_from_production(project: Project, server: Server) -> None:
    """And nothing of production changes."""
    sql = "select count(*), max(released_at) from shop.customers_register"
    before = server.query(sql), server.query(RELEASED.format("shop"))
    project.build(*CI, "--defer", "-s", "customers_results+")
    assert (server.query(sql), server.query(RELEASED.format("shop"))) == before
    assert server.query(RELEASED.format("ci")) == before[1]
    assert "customers_microdata" not in tables(server, "ci")
    assert server.refuses("select 1 from ci_vault.customers_identifiers", server.analyst)


def test_who_may_not_read_production_defers_to_nothing(
    project: Project, server: Server, tmp_path: Path
) -> None:
    """An analyst who may make schemas clones no vault and reads none."""
    server.query(f"grant create on database {server.database} to {server.analyst}")
    copy = project.copy(tmp_path / "project")
    profile = {"shop": {"target": "ci", "outputs": {"ci": server.output(server.analyst)}}}
    profile["shop"]["outputs"]["ci"]["schema"] = "ci"  # type: ignore[index]
    (copy.folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    try:
        outcome = copy.dbt("run", *CI, "--defer", "-s", "customers_identifiers")
        assert not outcome.succeeded
        assert "permission denied for schema shop" in outcome.messages, outcome.messages[-2000:]
        assert "customers_identifiers" not in tables(server, "ci_vault")
    finally:
        server.query("drop schema if exists ci_vault, ci cascade", server.analyst)
        server.query(f"revoke create on database {server.database} from {server.analyst}")


def test_a_target_in_another_database_says_why_it_cannot_defer(
    project: Project, url: str, tmp_path: Path
) -> None:
    with temporary_server(url) as other:
        copy = project.copy(tmp_path / "project")
        outputs = {"ci": other.output(other.builder)}
        (copy.folder / "profiles.yml").write_text(
            yaml.safe_dump({"shop": {"target": "ci", "outputs": outputs}}), encoding="utf-8"
        )
        for arguments in (
            ("clone", *CI, "-s", "customers_microdata"),
            ("run", *CI, "--defer", "-s", "customers_classes"),
        ):
            outcome = copy.dbt(*arguments)
            assert not outcome.succeeded
            assert "cross-database references are not implemented" in outcome.messages
            assert tables(other, "shop") == set()
