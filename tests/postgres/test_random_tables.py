"""Random tables of every plain type: each relation is that of DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import Spec, load_spec
from dbt_anonymize.verify.copied import CopiedWarehouse, copying
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.tables import Tables
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


@pytest.mark.parametrize("name", names(COUNT))
def test_every_relation_is_what_is_computed_again(both: tuple[Project, Server], name: str) -> None:
    """By the code of `verify`, of what it reads there: every type, and labels of every level."""
    folder = both[0].folder.parent / "postgres"
    spec = load_spec(folder / "anonymizations" / f"{name}.yml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(folder))
        with open_warehouse(find_project(folder)) as warehouse, copying(warehouse, spec) as copy:
            found = [finding for effort in (1, 2) for finding in _recomputed(copy, spec, effort)]
    held = {finding.subject for finding in found if finding.holds}
    assert [f for f in found if f.subject.startswith(name) and not f.holds] == []
    assert {f"{name}_microdata", f"{name}_effort_1", f"{name}_effort_2"} <= held


def _recomputed(copy: CopiedWarehouse, spec: Spec, effort: int) -> list[Finding]:
    def built(part: str) -> str:
        return str(copy.relation_of_ref(f"{spec.name}_{part}"))

    tables = Tables(
        copy.cursor(),
        source=built("source"),
        hierarchies={
            name: str(copy.relation_of_ref(tree.ref))
            for name, tree in spec.quasi_identifiers.items()
        },
        microdata=built("microdata"),
        effort=built(f"effort_{effort}"),
        written=copy.written,
    )
    return recompute(tables, spec, effort=effort)


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
