"""Joined knowledge on Postgres: every query counts what it counts on DuckDB."""

from __future__ import annotations

import pytest

from tests.engines.compared import assert_same, plain
from tests.engines.matrix import check_ran
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server

# Not there where the extension was pulled out.
projects = pytest.importorskip("tests.extensions.linked.projects")

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
