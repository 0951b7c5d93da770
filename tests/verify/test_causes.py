"""Findings are told by cause, in ten lines at most, failures first."""

from __future__ import annotations

import pytest

from dbt_anonymize.cli.common import SafeConsole
from dbt_anonymize.cli.verify import _show_text
from dbt_anonymize.verify.causes import MOST_LINES, causes
from dbt_anonymize.verify.finding import Finding


def occurs(place: str, column: str, values: int) -> Finding:
    message = (
        f"values of identifiers occur here: {values} of {column}. They can be read in {place}. "
        "Give the column another role."
    )
    return Finding("content", place, holds=False, message=message)


def warned(check: str, number: int) -> Finding:
    return Finding(check, f"model_{number}", None, f"cause {chr(64 + number)}.", is_warning=True)


def test_a_first_verification_with_38_failures_is_eight_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = [warned("provenance", 1)]
    found += [occurs(f"main.customers_{n}.plan", "insurance", 2) for n in range(31)]
    found += [occurs(f"main.customers_{n}.name", "full name", 300) for n in range(2)]
    others: list[str] = ["recomputation", "guarantees", "attacks", "audit", "provenance"]
    found += [
        Finding(check, "customers", False, f"broken {check}. Build again.") for check in others
    ]
    assert [len(cause.findings) for cause in causes(found)] == [31, 2, 1, 1, 1, 1, 1, 1]
    console = SafeConsole(soft_wrap=True, width=400)
    assert _show_text(console, "customers", iter(found), is_verbose=False) == 38
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    told = [line for line in lines if "  main." in line or ": " in line]
    assert len(told) == 8
    assert told[0].startswith(
        "  FAILED    content        main.customers_0.plan, main.customers_1.plan, "
        "main.customers_2.plan and 28 more: values of identifiers occur here: 2 of insurance."
    )
    assert told[0].count("Give the column another role.") == 1
    assert [line.split()[0] for line in told] == ["FAILED"] * 7 + ["warning"]


def test_more_causes_than_lines_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = [warned("provenance", number) for number in range(1, 15)]
    found.append(Finding("audit", "people_relinkings", False, "3 are missing. Ask."))
    console = SafeConsole(soft_wrap=True, width=400)
    _show_text(console, "people", iter(found), is_verbose=False)
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith("  FAILED    audit")
    assert said[MOST_LINES] == "  and 6 more causes (6 warnings): see --verbose"
    _show_text(console, "people", iter(found), is_verbose=True)
    said = capsys.readouterr().out.splitlines()
    details = said[said.index("  details:") + 1 :]
    assert sum(line.startswith("  warning") for line in details) == 14


def test_what_differs_in_more_than_place_and_number_is_another_cause() -> None:
    one, other = occurs("a.b", "name", 3), occurs("a.c", "mail", 3)
    assert len(causes([one, other])) == 2
    holds = Finding("content", "a.b", holds=True, message=one.message)
    assert causes([holds]) == []
