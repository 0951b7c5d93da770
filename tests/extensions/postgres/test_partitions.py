"""In partitions every relation is what it is without."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import Outcome, Project
from tests.worlds.monthly import MONTHS, PARTED, RELATIONS, WHOLE, Visits, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.dbt,
    pytest.mark.needs("partitions"),
]


class There(Visits):
    """The source on the server, in a schema that dbt does not make."""

    server: Server

    def write(self) -> None:
        """Put the rows into the source."""
        rows = list(self.rows.values())
        with self.server.connection(self.server.builder) as connection:
            cursor = connection.cursor()
            cursor.execute(
                "create schema if not exists shop; drop table if exists shop.raw_visits cascade; "
                "create table shop.raw_visits (visit integer, phone text, age integer, "
                "weight double precision, illness text, month text)"
            )
            cursor.executemany("insert into shop.raw_visits values (%s, %s, %s, %s, %s, %s)", rows)

    def same(self) -> None:
        """Compare both."""
        for relation in RELATIONS:
            parted, whole = (
                Counter(map(str, self.server.query(f"select * from shop.{name}_{relation}")))
                for name in (PARTED, WHOLE)
            )
            assert parted == whole
            assert parted


def says(outcome: Outcome, built: int, of: int) -> bool:
    return f"parted: {built} of {of} partitions" in outcome.messages


def begun(server: Server, folder: Path) -> tuple[Project, There]:
    """Write the project with some records of each month, and build it."""
    project = write(folder / "project")
    connect(project, server)
    project.edit("models/visits.sql", lambda text: text.replace("raw_", "shop.raw_"))
    visits = There(project, 1)
    visits.server = server
    for month in MONTHS:
        visits.join(month, 5)
    visits.live()
    visits.build("--full-refresh")
    visits.same()
    return project, visits


def test_months_on_postgres(server: Server, tmp_path: Path) -> None:
    _, visits = begun(server, tmp_path)
    for _ in range(3):
        visits.live()
        visits.build()
        visits.same()
    months = len({row[5] for row in visits.rows.values()})
    assert says(visits.build(), 0, months)
    visits.join("2026-11", 3)
    assert says(visits.build(), 1, months + 1)
    visits.same()
    assert says(visits.build("--full-refresh"), months + 1, months + 1)
    visits.same()


def test_a_connection_that_dies_between_parts_changes_none_of_them(
    server: Server, tmp_path: Path
) -> None:
    """Old parts are deleted and new ones inserted, and nothing is committed."""
    project, visits = begun(server, tmp_path)
    parts = "select * from shop.parted_microdata_parts order by visit"
    before = str(server.query(parts))
    settings = (project.folder / "dbt_project.yml").read_text(encoding="utf-8")
    hook = {"+post-hook": "select pg_terminate_backend(pg_backend_pid())"}
    dying = {"models": {"shop": {"parted": {"parted_microdata_parts": hook}}}}
    project.edit("dbt_project.yml", lambda text: text + yaml.safe_dump(dying))
    visits.join("2026-11", 3)
    visits.write()
    stopped = project.dbt("build", "--select", "+parted_frequencies")
    assert stopped.status("parted_microdata_parts") == "error"
    assert str(server.query(parts)) == before
    project.edit("dbt_project.yml", lambda _: settings)
    assert says(visits.build(), 1, len({row[5] for row in visits.rows.values()}))
    visits.same()
    assert str(server.query(parts)) != before
