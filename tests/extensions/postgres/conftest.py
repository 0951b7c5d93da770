"""A server, a database of its own for each module, and projects that are built there."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.evaluation.columns import FACTS
from tests.extensions.postgres.cluster import find_binaries, temporary_cluster
from tests.extensions.postgres.server import VARIABLE, Server, temporary_server
from tests.projects import Project

NO_SERVER = f"there is no Postgres: install the server, or name one in {VARIABLE}"


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Give the server of the environment, or else one that is started here."""
    with contextlib.ExitStack() as until_done:
        found = os.environ.get(VARIABLE)
        if not found:
            binaries = find_binaries()
            if binaries is None:
                pytest.skip(NO_SERVER)
            found = until_done.enter_context(temporary_cluster(binaries))
        yield found


@pytest.fixture(scope="module")
def server(url: str) -> Iterator[Server]:
    """Give each module a database and roles of its own: no table and no grant is another's."""
    with temporary_server(url) as server:
        yield server


def connect(project: Project, server: Server, schema: str = "shop", **more: str) -> None:
    """Let a project build as the builder, in that schema; ``more`` names targets and schemas."""
    outputs = {
        target: server.output(server.builder) | {"schema": place}
        for target, place in {"dev": schema, **more}.items()
    }
    (project.folder / "profiles.yml").write_text(
        yaml.safe_dump({"shop": {"target": "dev", "outputs": outputs}}), encoding="utf-8"
    )


def on_postgres(on_duckdb: Project, folder: Path, server: Server, names: Sequence[str]) -> Project:
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
    return {name: types[kind.lower()] for name, kind in FACTS.items()}
