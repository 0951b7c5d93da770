"""On Postgres classes show the aggregates of the oracle, and labels while few people differ."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import Project

pytestmark = pytest.mark.slow

# An extension of its own, which may not be there.
wages: Any = pytest.importorskip("tests.extensions.recoding.wages")
check_effort: Any = pytest.importorskip("tests.extensions.recoding.test_aggregates").check_effort

ROWS = wages.people(1, 300)
CLASS = "n8:[20, 40)|n8:[20, 50)|t6:health"


@pytest.fixture(scope="module")
def built(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("wages_on_postgres") / "project"
    project = wages.wages_project(folder, ROWS, wages.SPECS[:2])
    project.edit("seeds/_wages.yml", lambda text: text.replace("database: vault", "schema: vault"))
    project.edit(
        "dbt_project.yml",
        lambda text: (
            text + "vars:\n  dbt_anonymize_python: false\n"
            f"  dbt_anonymize_custodians: [{server.custodians}]\n"
        ),
    )
    generate(project.folder)
    connect(project, server)
    done = command(project, "build")
    assert done.exit_code == 0, done.output
    return project


@pytest.mark.parametrize("spec", wages.SPECS[:2], ids=lambda spec: spec["name"])
def test_a_build_shows_what_the_oracle_says(
    built: Project, server: Server, spec: dict[str, Any]
) -> None:
    def query(sql: str) -> list[tuple[Any, ...]]:
        sql = sql.replace("vault.main.wages", "shop_vault.wages")
        return server.query(sql.replace(f"from {spec['name']}", f"from shop.{spec['name']}"))

    for number in range(1, len(spec["efforts"]) + 1):
        assert check_effort(query, spec, number) > 3


def test_a_class_shows_its_label_until_k_people_differ(built: Project, server: Server) -> None:
    def shown() -> str:
        sql = f"select distinct age from shop_release.wages_anonymized where cqi = '{CLASS}'"
        ((label,),) = server.query(sql)
        return str(label)

    before = shown()
    assert not before.startswith("[")
    for joined, is_label in ((1, True), (wages.K, False), (wages.K + 1, True)):
        new = [[1000 + n, "Newcomer", 33, 30.5, "nurse", "no"] for n in range(joined)]
        wages.write_people(built, [*ROWS, *new])
        done = command(built, "build", "wages")
        assert done.exit_code == 0, done.output
        assert shown().startswith("[") == is_label
    done = command(built, "verify", "wages", "--check", "recomputation")
    assert done.exit_code == 0, done.output
