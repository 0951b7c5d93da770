"""The adult table, read through the warehouse, has the optimum that ARX's own tests expect."""

from __future__ import annotations

import csv
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from dbt_anonymize.extensions.search.optimum import search
from tests.extensions.search.running import load
from tests.oracle.arx import arx_guarantees
from tests.projects import REPOSITORY, Project, copy_consumer
from tests.worlds.specs import INSENSITIVE, categories, spec_of

DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", REPOSITORY.parent / "shared" / "data"))
ADULT, ORACLE = DATA / "adult", DATA.parent / "oracle" / "arx_adult_expectations.csv"

pytestmark = pytest.mark.skipif(
    not (ADULT.is_dir() and ORACLE.is_file()),
    reason="needs the adult table and ARX's expectations (DBT_ANONYMIZE_DATA)",
)


def quoted(name: str) -> str:
    return '"' + name + '"'


def expectation() -> dict[str, Any]:
    """Return the row about the uniqueness of records in the sample."""
    with ORACLE.open(encoding="utf-8", newline="") as file:
        (row,) = [r for r in csv.DictReader(file) if r["models"] == "(0.01)-sample-uniqueness"]
    return row


def load_adult(connection: duckdb.DuckDBPyConnection, names: list[str]) -> dict[str, int]:
    """Create frequencies and hierarchies; return the levels of each hierarchy."""
    options = "delim=';', all_varchar=true"
    heights = {}
    for name in names:
        file = ADULT / f"adult_hierarchy_{name}.csv"
        relation = connection.sql(f"select * from read_csv('{file}', header=false, {options})")
        heights[name] = len(relation.columns) - 1
        columns = ["value", *(f"level_{level}" for level in range(1, len(relation.columns)))]
        renamed = ", ".join(
            f"{quoted(old)} as {new}" for old, new in zip(relation.columns, columns, strict=True)
        )
        connection.execute(
            f"create table {quoted('adult_' + name)} as "
            f"select {renamed} from read_csv('{file}', header=false, {options})"
        )
    columns = [f"{quoted(n)}, {quoted(n)} as {quoted(n + '_leaf')}" for n in names]
    connection.execute(
        f"create table adult_frequencies as select {', '.join(columns)}, 'x' as outcome, "
        f"count(*) as records from read_csv('{ADULT}/adult.csv', header=true, {options}) "
        "group by all"
    )
    return heights


@pytest.fixture(scope="module")
def adult(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project in which the adult table is anonymized."""
    project = copy_consumer(tmp_path_factory.mktemp("adult") / "project")
    names = json.loads(
        "["
        + ",".join(f'"{n.strip()}"' for n in expectation()["qi_order"].strip("[]").split(","))
        + "]"
    )
    with duckdb.connect(str(project.folder / project.warehouse)) as connection:
        heights = load_adult(connection, names)
    for relation in ["adult_frequencies", *(f"adult_{name}" for name in names)]:
        (project.folder / "models" / f"{relation}.sql").write_text("select 1 as nothing")
    columns = {name: categories(f"adult_{name}", heights[name]) for name in names}
    spec = spec_of(
        "adult",
        columns | {"outcome": INSENSITIVE},
        record_key="record_id",
        target="outcome",
        features=[names[0]],
        guarantees={"k_anonymity": {"k": 5}},
        suppression_limit=0.05,
        quality={"repetitions": 1},
    )
    path = project.folder / "anonymizations" / "adult.yml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return project


def test_the_known_optimum_is_found(adult: Project) -> None:
    expected = expectation()
    task = load(adult, "adult")
    assert task.table.total == 30_162
    guarantees = arx_guarantees([{"model": "uniqueness", "sample_share": 0.01}], task.table)
    limit = Decimal(expected["suppression_limit"])
    found = search(task.table, guarantees, task.loss(), limit)
    assert found.is_complete
    assert found.lattice_size == 12_960
    assert found.optimum is not None
    assert list(found.optimum.node) == json.loads(expected["expected_transformation"])
    assert found.optimum.loss == pytest.approx(float(expected["expected_loss"]), rel=1e-9)
    assert found.optimum.suppressed == int(expected["suppressed"])
