"""The dbt versions that are supported: `make compat` runs this in an environment of each.

What dbt warns of in what we ship and generate is an error, and the commands find what they import
from the inside of dbt.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from tests.projects import REPOSITORY, Project

HERE = Path(__file__).parent
# Ours are about the project itself, which leaves open what its README recommends.
WARNINGS = '{"error": "all", "warn": ["JinjaLogWarning"]}'


def pinned(requirements: Path) -> str:
    """Return the version of dbt-core in a file of requirements or constraints."""
    found = re.search(r"^dbt-core==(\S+)$", requirements.read_text("utf-8"), re.MULTILINE)
    assert found
    return found[1]


PINS = {
    ".venv-dbt-1.10": pinned(HERE / "dbt-1.10.txt"),
    ".venv": pinned(REPOSITORY / "constraints.txt"),
    ".venv-dbt-1.12": pinned(HERE / "dbt-1.12.txt"),
}


def test_the_environment_has_the_dbt_that_it_is_for() -> None:
    assert version("dbt-core") == PINS[Path(sys.prefix).name]


def test_dbt_has_nothing_to_warn_of_in_what_is_shipped_and_generated(consumer: Project) -> None:
    from dbt.deprecations import reset_deprecations

    reset_deprecations()  # dbt also counts those of other projects in this process
    outcome = consumer.dbt("parse", "--no-partial-parse", "--warn-error-options", WARNINGS)
    assert outcome.succeeded, outcome.messages


@pytest.mark.parametrize(
    "command",
    [
        ["results"],
        pytest.param(["verify", "--check", "provenance"], marks=pytest.mark.needs("provenance")),
    ],
    ids=["results", "verify"],
)
def test_the_commands_read_what_dbt_has_built(built_consumer: Project, command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "--project-dir", str(built_consumer.folder)])
    assert result.exit_code == 0, result.output


def test_page_and_package_name_the_versions_that_are_run() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    (required,) = [text for text in project["dependencies"] if text.startswith("dbt-core")]
    installed = SpecifierSet(required.removeprefix("dbt-core"))
    settings = yaml.safe_load((REPOSITORY / "dbt_project.yml").read_text("utf-8"))
    package = SpecifierSet(",".join(settings["require-dbt-version"]))
    for pin in PINS.values():
        assert pin in installed
        assert pin in package
    lines = [".".join(pin.split(".")[:2]) for pin in PINS.values()]
    assert f">={PINS['.venv-dbt-1.10']}" in required, "the oldest one is run"
    assert "1.13.0" not in installed
    # The package hub takes this for a package that allows dbt 2.
    assert "2.0.0" in package
    shown = f"dbt {', '.join(lines[:-1])} and {lines[-1]}"
    assert shown in " ".join((REPOSITORY / "docs" / "by_hand.md").read_text("utf-8").split())
