"""Wrapped output keeps names and commands whole, so that they can be copied."""

from __future__ import annotations

import pytest

from dbt_anonymize.cli.common import SafeConsole
from dbt_anonymize.cli.verify import _show_line
from dbt_anonymize.cli.wrapping import wrapped
from dbt_anonymize.verify.finding import Finding

DROPPED = ",".join(f"column_{number}" for number in range(20))
COMMAND = f"`dbt-anonymize try births --drop {DROPPED} --take balanced`"


@pytest.mark.parametrize("width", [10, 40, 80])
def test_a_command_is_printed_in_one_line(capsys: pytest.CaptureFixture[str], width: int) -> None:
    SafeConsole(width=width).print(f"Nothing was written. {COMMAND} writes it, or try again.")
    lines = capsys.readouterr().out.splitlines()
    assert COMMAND in "\n".join(lines)
    assert all(len(line) <= width for line in lines if COMMAND not in line)


def test_an_option_stays_with_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    SafeConsole(width=40).print(f"Left out. Known before the target? --keep {DROPPED}")
    assert f"--keep {DROPPED}" in capsys.readouterr().out


def test_prose_is_wrapped_as_before() -> None:
    assert wrapped("  one two  three", 9) == ["  one two", "three"]
    assert wrapped("  one two  three", 20) == ["  one two  three"]
    assert wrapped("one\n\ntwo three", 5) == ["one", "", "two", "three"]
    assert wrapped("an odd ` mark stays", 8) == ["an odd `", "mark", "stays"]
    assert wrapped("(`a b` says it)", 4) == ["(`a b`", "says", "it)"]


def test_control_characters_are_escaped_when_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    SafeConsole(width=20).print("a name \x1b[31mred that is wrapped")
    assert "\x1b" not in capsys.readouterr().out


def test_findings_on_a_terminal_keep_commands_whole(capsys: pytest.CaptureFixture[str]) -> None:
    console = SafeConsole(width=60, force_terminal=True, color_system=None)
    finding = Finding("provenance", "births", False, f"must be built; run {COMMAND} and again.")
    _show_line(console, finding, finding.message)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "  FAILED    provenance     must be built; run"
    assert lines[1] == " " * 27 + COMMAND
    assert lines[2].strip() == "and again."
