"""Random tables of every plain type: each relation is that of DuckDB."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import Spec, load_spec
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse, copied_to_duckdb
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.tables import Tables
from tests import sampling
from tests.engines.compared import assert_same, plain
from tests.engines.matrix import check_ran
from tests.extensions.postgres.conftest import connect
from tests.extensions.postgres.server import Server
from tests.projects import Project
from tests.worlds.random_tables import RELATIONS, built, names, write

DOUBLE = "qi double"
COUNT = sampling.number_of("random tables on Postgres", 60, 2)


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Server]:
    """Build all of them in one call of dbt each."""
    folder = tmp_path_factory.mktemp("random_tables")
    here = write(folder / "duckdb", COUNT, sampling.SEED)
    there = here.copy(folder / "postgres")
    connect(there, server, "drawn")
    selected = [f"+{name}" for name in built(COUNT)]
    for project in (here, there):
        project.build("-s", *selected, "--exclude", "resource_type:test")
    return here, server


@pytest.mark.parametrize("name", names(COUNT))
def test_every_relation_is_that_of_duckdb(both: tuple[Project, Server], name: str) -> None:
    here, server = both
    for part in RELATIONS:
        ours = _as_postgres_writes(here, name, part)
        theirs = server.query(f"select * from drawn.{name}_{part}")
        assert_same(plain(theirs), plain(ours), f"{name}_{part}")


def _as_postgres_writes(here: Project, name: str, part: str) -> list[tuple[Any, ...]]:
    """Return rows of DuckDB with labels of whole doubles as the other engine has them.

    DuckDB writes 1.0 and Postgres 1. Nothing else is changed: no other column, and no other text.
    """
    rows = here.query(f"select * from {name}_{part}")
    kinds = {column: kind for column, kind, *_ in here.query(f"describe {name}_{part}")}
    names = list(load_spec(here.folder / "anonymizations" / f"{name}.yml").quasi_identifiers)
    if kinds.get(DOUBLE) != "VARCHAR":
        return rows
    columns = list(kinds)
    label, classes = columns.index(DOUBLE), columns.index("equivalence_class")
    return [
        tuple(
            _without_point(cell)
            if place == label
            else _class_without_point(cell, names.index(DOUBLE))
            if place == classes
            else cell
            for place, cell in enumerate(row)
        )
        for row in rows
    ]


def _without_point(label: str) -> str:
    return label.removesuffix(".0") if re.fullmatch(r"-?\d+\.0", label) else label


def _class_without_point(text: str, place: int) -> str:
    """Return the text of a class, labels with their lengths, with another label at a place."""
    parts, left = [], text
    while left:
        (head,) = re.findall(r"^\|?[nt](\d+):", left)
        start = left.index(":") + 1
        tag, label = left[:start].removesuffix(f"{head}:"), left[start : start + int(head)]
        left = left[start + int(head) :]
        label = _without_point(label) if len(parts) == place else label
        parts.append(f"{tag}{len(label)}:{label}")
    return "".join(parts)


def test_only_a_whole_double_of_its_column_is_written_otherwise() -> None:
    assert [_without_point(x) for x in ("1.0", "-3.0", "1.5", "[1.0, 2.0)", "1", "10")] == [
        *("1", "-3", "1.5", "[1.0, 2.0)", "1", "10")
    ]
    assert _class_without_point("n3:1.0|t3:1.0|n10:[1.0, 2.0)", 0) == "n1:1|t3:1.0|n10:[1.0, 2.0)"
    assert _class_without_point("n3:1.0|t3:1.0|n10:[1.0, 2.0)", 2) == "n3:1.0|t3:1.0|n10:[1.0, 2.0)"


def test_whole_doubles_are_among_the_labels(both: tuple[Project, Server]) -> None:
    """Else nobody would see how they are written; a few tables may have none."""
    here, server = both
    found = [
        name
        for name in names(COUNT)
        if server.query(
            "select 1 from information_schema.columns where table_schema = 'drawn' and table_name"
            f" = '{name}_effort_0' and column_name = '{DOUBLE}'"
        )
        and any(x == int(x) for (x,) in here.query(f'select "{DOUBLE}" from {name}_source') if x)
    ]
    assert found or not sampling.FULL


@pytest.fixture(scope="module")
def findings(both: tuple[Project, Server]) -> dict[str, list[Finding]]:
    """Compute all of them again, over one connection: dbt reads the project once."""
    folder = both[0].folder.parent / "postgres"
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(folder))
        with open_warehouse(find_project(folder)) as warehouse:
            for name in names(COUNT):
                spec = load_spec(folder / "anonymizations" / f"{name}.yml")
                with copied_to_duckdb(warehouse, spec) as copy:
                    efforts = [_recomputed(copy, spec, effort) for effort in (1, 2)]
                found[name] = [finding for effort in efforts for finding in effort]
    return found


@pytest.mark.parametrize("name", names(COUNT))
def test_every_relation_is_what_is_computed_again(
    findings: dict[str, list[Finding]], name: str
) -> None:
    """By the code of `verify`, of what it reads there: every type, and labels of every level."""
    found = findings[name]
    held = {finding.subject for finding in found if finding.holds}
    assert [f for f in found if f.subject.startswith(name) and f.holds is False] == []
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
        connect(project, server, "odd")

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


@pytest.mark.skipif(not sampling.FULL, reason="a sample")
def test_the_matrix_says_so(server: Server) -> None:
    check_ran("Postgres", server.version, "dbt-postgres", "random tables", COUNT)
