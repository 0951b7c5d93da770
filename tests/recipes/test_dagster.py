"""The recipe for Dagster builds and publishes, run by Dagster: `make recipes`."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_scheduling import BLOCKS
from tests.projects import Project

if importlib.util.find_spec("dagster") is None:
    pytest.skip("NOT TESTED: Dagster. Run `make recipes`.", allow_module_level=True)

pytestmark = [pytest.mark.slow, pytest.mark.dbt, pytest.mark.filterwarnings("default")]


@pytest.fixture
def definitions(consumer: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the recipe of the page on a built project, in a folder of its own."""
    (recipe,) = [text for _, name, text in BLOCKS if name == "definitions.py"]
    recipe = recipe.replace("/srv/shop", str(consumer.folder)).replace('"prod"', '"dev"')
    monkeypatch.setenv("PATH", f"{Path(sys.prefix, 'bin')}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DBT_PROFILES_DIR", str(consumer.folder))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.delenv("DBT_QUIET")  # Dagster reads what dbt prints
    found: dict[str, Any] = {"__name__": "definitions"}
    exec(compile(recipe, "definitions.py", "exec", dont_inherit=True), found)  # noqa: S102 (our own page)
    return found["definitions"]


def run(definitions: Any) -> Any:
    """Run what the schedule runs, in this process."""
    (schedule,) = definitions.schedules
    return definitions.resolve_job_def(schedule.job_name).execute_in_process(raise_on_error=False)


def test_what_the_schedule_runs_publishes(definitions: Any, consumer: Project) -> None:
    before = consumer.release("customers")
    consumer.release_file("customers").unlink()
    done = run(definitions)
    assert done.success
    assert consumer.release("customers") == before
    made = {event.asset_key.path[-1] for event in done.get_asset_materialization_events()}
    assert {"customers_microdata", "customers_results", "customers_anonymized"} <= made
    checks = {one.check_name: one.passed for one in done.get_asset_check_evaluations()}
    assert checks["customers_anonymized_k_anonymity"]
    assert all(checks.values())


def test_what_stops_a_build_fails_the_run(definitions: Any, consumer: Project) -> None:
    before = consumer.release_file("customers").read_bytes()
    zips = "seeds/customers_hierarchy_zip.csv"
    consumer.edit(zips, lambda text: text[: text.rstrip().rindex("\n") + 1])
    done = run(definitions)
    assert not done.success
    made = {event.asset_key.path[-1] for event in done.get_asset_materialization_events()}
    assert "customers_anonymized" not in made
    assert consumer.release_file("customers").read_bytes() == before
