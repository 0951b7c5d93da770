"""Recodings in a real `dbt build`: what the properties run statement by statement."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.recoding.compilation import (
    CELL_CASES,
    LOCAL_CASES,
    PAID_CASES,
    Case,
    dbt,
    recoding,
    statements,
    write_project,
)
from tests.worlds.recoded import Warehouse, quote, worlds

pytestmark = pytest.mark.sampled_tests(group="builds")

ALL = (*LOCAL_CASES, *PAID_CASES, *CELL_CASES)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a project with the model of every case, not built."""
    folder = tmp_path_factory.mktemp("recoding") / "project"
    models = {f"{case.name}_recoding": recoding(case) for case in ALL}
    write_project(folder, models, str(folder / "warehouse.duckdb"))
    return folder


def shown(folder: Path, case: Case, warehouse: Warehouse) -> object:
    """Return what the built model of a case shows."""
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        built = Warehouse(connection, warehouse.statements)
        return built.shown(case, f"select * from {quote(f'{case.name}_recoding')}")


ONCE = settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@given(data=st.data())
@ONCE
def test_a_build_gives_what_the_statements_give(
    data: st.DataObject, project: Path, warehouse: Warehouse
) -> None:
    tables = {case.name: data.draw(worlds(case)) for case in ALL}
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        for case in ALL:
            Warehouse(connection, statements()).load(case, tables[case.name])
    dbt(project, "build", "--threads", "2")
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        names = {
            row[0]
            for row in connection.execute("select table_name from duckdb_tables()").fetchall()
        }
    assert not {name for name in names if name.startswith("dbt_anonymize")}
    for case in ALL:
        warehouse.load(case, tables[case.name])
        assert shown(project, case, warehouse) == warehouse.recode(case), case.name


@given(data=st.data())
@ONCE
def test_a_trial_shows_everything_at_the_root(
    data: st.DataObject, project: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "trial"
    shutil.copytree(project, folder, symlinks=True)
    case = next(c for c in CELL_CASES if c.name == "cells_hostile")
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        Warehouse(connection, statements()).load(case, data.draw(worlds(case)))
    dbt(folder, "compile", "--select", "cells_hostile_recoding")
    (file,) = (folder / "target" / "compiled").rglob("cells_hostile_recoding.sql")
    assert "dbt_anonymize_cells" not in file.read_text(encoding="utf-8")
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        found = Warehouse(connection, {}).shown(case, file.read_text(encoding="utf-8"))
        (records,) = connection.execute(f"select count(*) from {case.microdata}").fetchall()
    assert len(found) == records[0]
    assert {(c.label, c.level, c.share) for cells in found.values() for c in cells} <= {
        ("*", 3, 1.0)
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "'model': 'k_anonymity', 'k': 2}",
            "'model': 'k_anonymity', 'k': 2}, {'model': 'k_map', 'k': 2}",
            "k_map cannot be kept by a recoding",
        ),
        (
            "cell_suppression(",
            "local_recoding(rounds=[], ",
            "must be a list with the levels",
        ),
        (
            "cell_suppression(",
            "payout_recoding(rounds=[{'age': 0, 'city': 0}], ",
            "need the guarantee profitable; got none",
        ),
    ],
)
def test_what_cannot_be_recoded_is_refused(
    project: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "refused"
    shutil.copytree(project, folder, symlinks=True)
    model = folder / "models" / "cells_recoding.sql"
    text = model.read_text(encoding="utf-8")
    changed = text.replace(old, new)
    if "rounds" in new:
        changed = re.sub(r", (levels|importance)=\{.*?\}", "", changed)
    assert changed != text
    model.write_text(changed, encoding="utf-8")
    with pytest.raises(AssertionError, match=message):
        dbt(folder, "compile", "--select", "cells_recoding")
