"""Means and modes of classes on Postgres are those of DuckDB, also in the second month."""

from __future__ import annotations

import pytest

from tests.commands.conftest import command
from tests.engines.compared import assert_same
from tests.extensions.postgres.server import Server
from tests.extensions.postgres.test_demonstration import on_postgres
from tests.projects import Project

# Not there where the extension was pulled out.
wages = pytest.importorskip("tests.extensions.recoding.wages")

pytestmark = [pytest.mark.slow, pytest.mark.needs("recoding")]

ROWS = wages.people(1, 300)
# They join the classes of others, who are as old as they are or not, and some leave.
JOINED = [
    [1000 + number, f"Newcomer {number}", age, 30.5, ["nurse", "doctor"][number % 2], "no"]
    for number, age in enumerate([20] * 4 + [45, 50, 58, 47])
]
MONTHS = [ROWS, [*ROWS, *JOINED], [*ROWS[40:], *JOINED], ROWS]


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Project]:
    folder = tmp_path_factory.mktemp("aggregates")
    there = wages.wages_project(folder / "duckdb", ROWS, [wages.SPEC | {"release": {"effort": 1}}])
    here = on_postgres(there, folder / "postgres", server)
    here.edit("seeds/_wages.yml", lambda text: text.replace("database: vault", "schema: vault"))
    return here, there


def test_every_month_shows_what_it_shows_on_duckdb(
    both: tuple[Project, Project], server: Server
) -> None:
    here, there = both
    labels = set()
    for rows in MONTHS:
        for project in both:
            wages.write_people(project, rows)
        there.build("--exclude", "resource_type:test")
        built = command(here, "build", "wages")
        assert built.exit_code == 0, built.output
        for number, numbers in enumerate(("age", "age, income", "age, income"), start=1):
            # Engines write a number as 29 or 29.0.
            shown = ", ".join(f"cast({n} as double precision)" for n in numbers.split(", "))
            columns = f"equivalence_class, is_new, compared_releases, {shown}"
            rows_of = f"wages_aggregates_{number}"
            known = there.query(f"select {columns} from {rows_of}")
            found = server.query(f"select {columns} from shop.{rows_of}")
            if known or found or number == 1:
                assert_same(found, known, rows_of)
        shown = "select count(*) from wages_effort_1 where not is_suppressed and age like '[%'"
        labels.add(there.query(shown)[0][0])
    assert len(labels) > 2  # no month shows the same of all
    done = command(here, "verify", "wages", "--check", "recomputation", "--check", "aggregates")
    assert done.exit_code == 0, done.output
