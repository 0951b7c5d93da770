"""A build that stops before it publishes: `verify` says so, and judges what it can of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.projects import Project

SPEC, SEED = "anonymizations/customers.yml", "seeds/customers.csv"
REASON = "the last build released nothing, and release 2 of"


@pytest.fixture(scope="module")
def stopped(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project whose last build stopped, as one record more would tell who joined."""
    project = built_consumer.copy(tmp_path_factory.mktemp("stopped") / "project")
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    strict = f"\nrelease: {{effort: {effort}, composition: strict}}\n"
    project.edit(SPEC, lambda text: text + strict)
    generate(project.folder)
    project.build("-s", "+customers_anonymized")

    def longer(text: str) -> str:
        key, _, rest = text.splitlines()[1].partition(",")
        return f"{text}{int(key) + 900_000},{rest}\n"

    project.edit(SEED, longer)
    outcome = project.dbt("build", "-s", "+customers_anonymized")
    assert "no class may differ" in outcome.messages
    return project


@pytest.fixture
def project(stopped: Project, tmp_path: Path) -> Project:
    """Return a copy of it."""
    return stopped.copy(tmp_path / "project")


def findings(project: Project, *arguments: str) -> list[dict[str, Any]]:
    """Return what `verify` finds, which must not say that all holds."""
    result = command(project, "verify", "customers", "--format", "json", *arguments)
    assert result.exit_code == 1, result.output
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


def failed(project: Project, *arguments: str) -> list[str]:
    """Return the messages of what does not hold."""
    return [one["message"] for one in findings(project, *arguments) if one["holds"] is False]


def test_one_finding_says_that_the_last_build_released_nothing(project: Project) -> None:
    found = findings(project)  # the source lies open in the warehouse, as `content` says

    broken = [one for one in found if one["holds"] is False and one["check"] != "content"]
    (message,) = [one["message"] for one in broken]
    assert REASON in message
    assert "build until it publishes, and verify again" in message
    told = [one["message"] for one in found if one["check"] == "recomputation"]
    assert [text for text in told if text.startswith("the file holds the table")]
    assert "the mode of the file is 644." in told
    assert not [one for one in found if one["check"] in {"guarantees", "attacks"}]


@pytest.mark.parametrize("check", ["guarantees", "recomputation"])
def test_each_check_of_the_rows_says_it(project: Project, check: str) -> None:
    (message,) = failed(project, "--check", check)

    assert REASON in message


def test_the_file_is_judged_by_itself(project: Project) -> None:
    project.release_file("customers").chmod(0o666)

    assert len(failed(project, "--check", "recomputation")) == 2


@pytest.mark.parametrize("place", ["file", "table", "register"])
def test_rows_that_are_not_those_of_the_register_are_compared(project: Project, place: str) -> None:
    """A stop of a build hides no change of the release."""
    drop = "delete from {} where rowid = 0"
    if place == "file":
        file = project.release_file("customers")
        file.chmod(0o644)
        with duckdb.connect(str(file)) as connection:
            connection.execute(drop.format("customers_anonymized"))
    elif place == "table":
        project.execute(drop.format("main_release.customers_anonymized"))
    else:
        project.execute("update customers_register set content = 'other'")

    found = failed(project, "--check", "recomputation")

    assert not [text for text in found if REASON in text]
    assert [text for text in found if text.startswith("must have exactly the rows")]


@pytest.mark.needs("diff")
def test_diff_says_that_the_choice_is_not_released(project: Project) -> None:
    said = " ".join(command(project, "diff", "customers").output.split())

    assert "what the last build chose, against release 2 of" in said
    assert "what the last build chose is not released: the register does not have it" in said
