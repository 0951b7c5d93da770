"""The recipes of docs/scheduling.md are well-formed, and what they call of ours exists."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

import pytest
import typer
import yaml

from dbt_anonymize.cli.main import app, commands
from tests.docs.pages import DOCS

PAGE = (DOCS / "scheduling.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ([^\n]+)\n(.*?)^```$", PAGE, re.M | re.S)
CALLED = sorted(set(re.findall(r"dbt-anonymize (?:[a-z]+|--)[^`\"\n]*", PAGE)))


def test_recipes_are_well_formed() -> None:
    assert [language for language, _, _ in BLOCKS] == ["yaml", "python", "python"]
    for language, _, text in BLOCKS:
        if language == "python":
            ast.parse(text)
    jobs = yaml.safe_load(BLOCKS[0][2])["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all({"run", "uses"} & {*step} for step in steps)


def test_pull_requests_build_nothing() -> None:
    check = yaml.safe_load(BLOCKS[0][2])["jobs"]["check"]
    assert check["if"] == "github.event_name == 'pull_request'"
    assert not any("build" in step.get("run", "") for step in check["steps"])


@pytest.mark.needs("installation")
@pytest.mark.parametrize("line", CALLED)
def test_commands_and_options_exist(line: str) -> None:
    _, name, *options = shlex.split(line)
    assert name in commands()
    group: Any = typer.main.get_command(app)
    known = {o for p in group.get_command(None, name).params for o in p.opts}
    assert {option for option in options if option.startswith("-")} <= known


def test_commands_are_found() -> None:
    assert {line.split()[1] for line in CALLED} >= {"doctor", "generate", "verify", "build"}
