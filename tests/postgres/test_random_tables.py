"""Random tables of every plain type: each relation is that of DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests import sampling
from tests.engines.matrix import check_ran
from tests.postgres.compared import assert_same, plain
from tests.postgres.server import Server
from tests.projects import Project
from tests.worlds.random_tables import RELATIONS, built, names, write

COUNT = sampling.number_of("random tables on Postgres", 12, 2)


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Server]:
    """Build all of them in one call of dbt each."""
    folder = tmp_path_factory.mktemp("random_tables")
    here = write(folder / "duckdb", COUNT, sampling.SEED)
    there = here.copy(folder / "postgres")
    _connect(there, server, "drawn")
    selected = [f"+{name}" for name in built(COUNT)]
    for project in (here, there):
        project.build("-s", *selected, "--exclude", "resource_type:test")
    return here, server


@pytest.mark.parametrize("name", names(COUNT))
def test_every_relation_is_that_of_duckdb(both: tuple[Project, Server], name: str) -> None:
    here, server = both
    for part in RELATIONS:
        ours = here.query(f"select * from {name}_{part}")
        theirs = server.query(f"select * from drawn.{name}_{part}")
        assert_same(plain(theirs), plain(ours), f"{name}_{part}")


ODD = """
{{ config(
    materialized="table",
    pre_hook=["drop type if exists mood cascade", "create type mood as enum ('a', 'b')"],
) }}
select *, cast('a' as mood) as mood, array[1, 2] as many from {{ ref("random_0_source") }}
"""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_an_enumeration_and_an_array_are_refused(
    server: Server, tmp_path: Path, engine: str
) -> None:
    project = write(tmp_path / "project", 1, 0)
    (project.folder / "models" / "odd.sql").write_text(ODD, encoding="utf-8")
    if engine == "postgres":
        _connect(project, server, "odd")

    def declared(text: str) -> str:
        spec = yaml.safe_load(text)
        spec["source"] = {"ref": "odd"}
        spec["columns"] |= {name: {"role": "insensitive"} for name in ("mood", "many")}
        return yaml.safe_dump(spec, sort_keys=False)

    project.edit("anonymizations/random_0.yml", declared)
    generate(project.folder)
    outcome = project.dbt("build", "-s", "+random_0_microdata", "--exclude", "resource_type:test")
    assert not outcome.succeeded
    for name in ("mood", "many"):
        assert f"column {name} must be a number, text, date or boolean" in outcome.messages


def _connect(project: Project, server: Server, schema: str) -> None:
    output = server.output(server.builder) | {"schema": schema}
    profile = {"shop": {"target": "dev", "outputs": {"dev": output}}}
    (project.folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")


@pytest.mark.skipif(not sampling.FULL, reason="a sample")
def test_the_matrix_says_so(server: Server) -> None:
    check_ran("Postgres", server.version, "dbt-postgres", "random tables", COUNT)
