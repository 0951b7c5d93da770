"""One project with a release of each mapping, built on DuckDB and on Postgres."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.evaluation.outputs import COLUMN_TYPES
from dbt_anonymize.project.generate import generate
from tests.postgres.cluster import find_binaries, temporary_cluster
from tests.postgres.server import VARIABLE, Server, Watch, temporary_server
from tests.projects import Project, copy_consumer
from tests.vault.projects import SPECS
from tests.written import logging_everything

# Mapping by class, by token, and none.
NAMES = ("customers", "members", "guests")
NO_SERVER = f"there is no Postgres: install the server, or name one in {VARIABLE}"
POLICY = "relinking: {purposes: [contact tracing], highest_information_loss: 0.9}\n"
TOKENS = "select person, token from shop_vault.members_tokens order by person"


@dataclass(frozen=True)
class Built:
    """The project after two builds and a full refresh, and what was seen of them."""

    project: Project
    on_duckdb: Project
    server: Server
    tokens: list[list[tuple[Any, ...]]]
    watch: Watch


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Give a database: on the server of the environment, or else on one that is started here."""
    with contextlib.ExitStack() as until_done:
        url = os.environ.get(VARIABLE)
        if not url:
            binaries = find_binaries()
            if binaries is None:
                pytest.skip(NO_SERVER)
            url = until_done.enter_context(temporary_cluster(binaries))
        yield until_done.enter_context(temporary_server(url))


@pytest.fixture(scope="session")
def built(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build where analysts are given every new schema and table, and later everybody is."""
    folder = tmp_path_factory.mktemp("postgres")
    on_duckdb = _declared(folder / "duckdb")
    on_duckdb.build()
    project = on_postgres(on_duckdb, folder / "postgres", server)
    server.query(f"alter default privileges grant usage on schemas to {server.analyst}")
    server.query(f"alter default privileges grant select on tables to {server.analyst}")
    # The seed with identifiers is the project's own: the closed schema protects it.
    watch = Watch(server, server.analyst, "shop_vault", ignored=["customers"])
    tokens = []
    with watch.running(), logging_everything():
        project.build()
        tokens.append(server.query(TOKENS))
        server.query(f"grant usage on schema shop, shop_release to {server.custodians}")
        server.query("grant usage on schema shop_vault to public")
        server.query(
            "alter default privileges in schema shop_vault grant select on tables to public"
        )
        for arguments in ([], ["--full-refresh"]):
            project.build(*arguments)
            tokens.append(server.query(TOKENS))
    return Built(project, on_duckdb, server, tokens, watch)


def _declared(folder: Path) -> Project:
    """Copy the stranger's project with three specs, of which two allow re-linking."""
    project = copy_consumer(folder)
    (folder / "models" / "unit_tests.yml").unlink()
    for name in ("members", "guests"):
        shutil.copy(SPECS / f"{name}.yml", folder / "anonymizations")
    for name in ("customers", "members"):
        project.edit(f"anonymizations/{name}.yml", lambda text: text + POLICY)
    generate(folder)
    return project


def on_postgres(
    on_duckdb: Project, folder: Path, server: Server, names: Sequence[str] = NAMES
) -> Project:
    """Copy a built project for Postgres; no Python model runs there, so it seeds their facts."""
    project = on_duckdb.copy(folder)
    shutil.rmtree(folder / "target")
    outputs = {"dev": server.output(server.builder)}
    for user in ("custodian", "analyst"):
        outputs[user] = server.output(getattr(server, user))
    (folder / "profiles.yml").write_text(
        yaml.safe_dump({"shop": {"target": "dev", "outputs": outputs}}), encoding="utf-8"
    )
    models: dict[str, Any] = {"+grants": {"select": [server.custodians]}}
    seeds: dict[str, Any] = {"customers": {"+schema": "vault"}}
    (folder / "models" / "scored").mkdir()
    for name in names:
        facts = f"{name}_evaluation_facts"
        on_duckdb.execute(f"copy {name}_evaluation to '{folder}/seeds/{facts}.csv' (header)")
        (folder / "models" / "scored" / f"{name}_evaluation.sql").write_text(
            f"select * from {{{{ ref('{facts}') }}}}\n", encoding="utf-8"
        )
        models[name] = {f"{name}_evaluation": {"+enabled": False}}
        seeds[facts] = {"+column_types": _sql_types()}
    settings = {
        "models": {"shop": models},
        "seeds": {"shop": seeds},
        "vars": {"dbt_anonymize_custodians": [server.custodians]},
    }
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(settings))
    return project


def _sql_types() -> dict[str, str]:
    """Return the columns of `<n>_evaluation` with their types on Postgres."""
    types = {"int64": "bigint", "str": "text", "float64": "double precision"}
    return {name: types[kind.lower()] for name, kind in COLUMN_TYPES.items()}
