"""dbt reloads a hierarchy seed whose levels changed, as the page of its builders says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from tests.projects import copy_consumer

pytestmark = pytest.mark.sampled_tests(group="builds")

SEED = "customers_hierarchy_zip"


def test_other_levels_need_a_full_refresh_and_the_levels_of_the_test(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    file = f"seeds/{SEED}.csv"
    project.build("--select", SEED)
    project.edit(file, lambda text: text.replace(",*", "").replace(",level_3", ""))
    loaded = project.dbt("seed", "--select", SEED)
    assert not loaded.succeeded
    assert "Error when sniffing file" in loaded.messages
    built = project.dbt("build", "--full-refresh", "--select", SEED)
    assert not built.succeeded
    assert (
        f"hierarchy {SEED} must have the columns value, level_1, level_2, level_3; got value, "
        "level_1, level_2. Correct the seed and load it with `dbt seed --full-refresh --select "
        f"{SEED}`, or correct `levels` of the test." in built.messages
    )
    project.edit("seeds/_seeds.yml", lambda text: text.replace("levels: 3", "levels: 2"))
    # The level that is the highest now is not the root.
    assert "must have the columns" not in project.dbt("build", "--select", SEED).messages
    project.edit(file, lambda text: text.replace(",level_1", ",level_0"))
    built = project.dbt("build", "--full-refresh", "--select", SEED)
    assert "got value, level_0, level_2." in built.messages


def test_a_part_of_a_hierarchy_and_one_that_is_not_loaded_compile(tmp_path: Path) -> None:
    project = copy_consumer(tmp_path / "project")
    assert project.dbt("compile").succeeded
    project.edit(
        "seeds/_seeds.yml",
        lambda text: text.replace("{levels: 3}", "{levels: 3}\n          config: {where: 1 = 1}"),
    )
    assert project.dbt("build", "--select", SEED).succeeded


@pytest.mark.needs("hierarchy_builders")
def test_check_and_build_refuse_them_until_the_lines_that_they_give_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_consumer(tmp_path / "project")
    file = f"seeds/{SEED}.csv"
    project.edit(file, lambda text: re.sub(r",(\d)(\d)(\d)\*\*,", r",0\2\3,", text))
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    check = ["hierarchy", "check", str(project.folder / file)]
    refused = CliRunner().invoke(app, check)
    assert refused.exit_code == 1
    build = ("run", "--select", "customers_microdata")
    assert project.dbt("seed").succeeded
    stopped = project.dbt(*build)
    assert f"the labels of hierarchy {SEED} of zip must be text; level_1 is integer" in (
        stopped.messages
    )
    lines = "column_types: {value: text, level_1: text, level_2: text, level_3: text}"
    reload = ("seed", "--full-refresh", "--select", SEED)
    for messages in (refused.output, stopped.messages):
        assert "its entry in seeds/_seeds.yml" in messages
        assert lines in messages
        assert f"`dbt {' '.join(reload)}`" in messages
    project.edit(
        "seeds/_seeds.yml", lambda text: text.replace("column_types: {value: text}", lines)
    )
    assert "Its column_types say so, but it was loaded before" in project.dbt(*build).messages
    assert project.dbt(*reload).succeeded
    assert CliRunner().invoke(app, check).exit_code == 0
