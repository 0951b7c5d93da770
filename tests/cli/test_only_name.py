"""Commands that only read take the only anonymization of a project; of several, one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.cli.main import commands
from tests.cli.conftest import run

pytestmark = pytest.mark.dbt

READING = [one for one in ("report", "diff", "dossier", "profile") if one in commands()]


@pytest.mark.parametrize("command", [one for one in READING if one != "report"])
def test_a_reading_command_takes_the_only_anonymization(project: Path, command: str) -> None:
    alone = run(command, "--project-dir", project)
    named = run(command, "visits", "--project-dir", project)
    assert alone.exit_code == named.exit_code
    # A dossier says when it was made, to the minute.
    said = [one.output.splitlines() for one in (alone, named)]
    unmade, of_name = ([line for line in lines if not line.startswith("Made ")] for lines in said)
    assert unmade == of_name
    assert "visits" in alone.output


@pytest.mark.parametrize("command", READING)
def test_of_several_anonymizations_one_must_be_named(project: Path, command: str) -> None:
    spec = project / "anonymizations" / "visits.yml"
    (spec.parent / "stays.yml").write_text(spec.read_text().replace("visits", "stays"))
    done = run(command, "--project-dir", project)
    assert done.exit_code == 2
    assert done.stderr == (
        "NAME: must say which of 2 anonymizations; got none. They are stays, visits.\n"
    )


@pytest.mark.parametrize("command", READING)
def test_without_any_anonymization_that_is_said(project: Path, command: str) -> None:
    (project / "anonymizations" / "visits.yml").unlink()
    done = run(command, "--project-dir", project)
    assert done.exit_code == 2
    assert "must hold at least one anonymization" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        one
        for one in ("freeze", "erase", "relink", "remove", "rename", "search")
        if one in commands()
    ],
)
def test_what_writes_is_told_a_name(project: Path, command: str) -> None:
    assert "Missing argument" in run(command, "--project-dir", project).stderr
