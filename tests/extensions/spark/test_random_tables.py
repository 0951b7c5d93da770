"""Random tables of every plain type: each relation is that of DuckDB."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import sampling
from tests.engines.compared import assert_same, plain
from tests.engines.matrix import check_ran
from tests.extensions.spark.session import SETTINGS, output, query
from tests.projects import Project
from tests.worlds.random_tables import RELATIONS, built, names, write

pytestmark = pytest.mark.slow
COUNT = 10


@pytest.fixture(scope="module")
def here(spark: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Build all of them in one call of dbt each."""
    folder = tmp_path_factory.mktemp("random_tables")
    here = write(folder / "duckdb", COUNT, sampling.SEED)
    there = here.copy(folder / "spark")
    shutil.rmtree(there.folder / "target", ignore_errors=True)
    profile = {"shop": {"target": "dev", "outputs": {"dev": output(spark, "drawn")}}}
    (there.folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    known = {"dbt_anonymize_vault_location": str(spark / "vault")}
    settings = yaml.safe_dump({**SETTINGS, "vars": known})
    there.edit("dbt_project.yml", lambda text: text + settings)
    selected = [f"+{name}" for name in built(COUNT)]
    for project in (here, there):
        project.build("-s", *selected, "--exclude", "resource_type:test")
    return here


@pytest.mark.parametrize("name", names(COUNT))
def test_every_relation_is_that_of_duckdb(here: Project, name: str) -> None:
    for part in RELATIONS:
        ours = here.query(f"select * from {name}_{part}")
        theirs = query(f"select * from drawn.{name}_{part}")
        assert_same(_in_utc(theirs, ours), plain(ours), f"{name}_{part}")


def _in_utc(rows: list[tuple[Any, ...]], like: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return points in time with the zone that Python does not get from Spark: its own."""
    zoned = {place for row in like for place, v in enumerate(row) if getattr(v, "tzinfo", None)}
    return plain(
        [
            [v.astimezone() if v and place in zoned else v for place, v in enumerate(row)]
            for row in rows
        ]
    )


def test_the_matrix_says_so(here: Project) -> None:
    from pyspark import __version__

    check_ran("Spark", __version__, "dbt-spark", "random tables", COUNT)
