"""Fidelity and a frozen effort, under hostile names and values as under plain ones."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dbt_anonymize.project.generate import generate
from tests.sql_safety.commands import run
from tests.sql_safety.hostile import TEXTS, own_sql_names
from tests.sql_safety.namings import FOLDER, namings
from tests.worlds.hostile import NAME, Naming, spec_of, write

# Each builds twice, and so does what it is compared with.
pytestmark = [pytest.mark.slow, pytest.mark.needs("fidelity", "second_month")]
ONE = settings(
    max_examples=1,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def frozen(folder: Path, naming: Naming) -> dict[str, Any]:
    """Build with fidelity, freeze and build again; return what does not depend on names."""
    project = write(folder, naming)
    spec = spec_of(naming)
    # Where new records wait they are counted, nobody is re-linked, and effort 1 has levels.
    for key in ("subject", "relinking", "population"):
        spec.pop(key, None)
    spec |= {"fidelity": {"pairs": 4, "queries": 10}, "release": {"effort": 1}}
    text = yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)
    (project.folder / "anonymizations" / f"{NAME}.yml").write_text(text, encoding="utf-8")
    generate(project.folder)
    project.build()
    run(project, "freeze", NAME)
    project.build()
    run(project, "verify", NAME, "--check", "recomputation", "--check", "guarantees")
    (labels,) = (project.folder / "seeds").rglob(f"{NAME}_frozen_labels.csv")
    with labels.open(encoding="utf-8", newline="") as file:
        leaves = sum(1 for _ in csv.reader(file))
    fidelity = project.query(f"from {NAME}_fidelity")
    return {
        "leaves": leaves,
        "fidelity": sorted(
            [round(value, 6) for value in row if isinstance(value, (int, float))]
            for row in fidelity
        ),
        "members": project.query(f"select entered, left_at from vault.{NAME}_members order by all"),
        "waiting": project.query(
            f"select state, count(*) from vault.{NAME}_membership group by all order by all"
        ),
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what is found under plain names."""
    found = frozen(tmp_path_factory.mktemp("plain_freeze") / "project", Naming())
    assert found["fidelity"]
    assert found["members"]
    return found


@pytest.mark.parametrize(
    "drawn",
    [namings(TEXTS, extra=20), namings(own_sql_names(), extra=5)],
    ids=["texts", "names of our own statements"],
)
@ONE
@given(data=st.data())
def test_a_frozen_effort_and_its_fidelity_are_those_of_plain_names(
    data: st.DataObject, drawn: st.SearchStrategy[Naming], plain: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert frozen(Path(folder) / FOLDER, data.draw(drawn)) == plain
