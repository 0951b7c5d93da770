"""The command ``dbt-anonymize verify``: run the checks and show what they found.

Exit codes: 0 every promise holds, 1 one does not, 2 bad input.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.text import Text

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    Names,
    SafeConsole,
    is_quiet,
    machine_readable_stdout,
    show_rows,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.cli.wrapping import wrapped
from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import printable
from dbt_anonymize.output import Format
from dbt_anonymize.verify.causes import MOST_LINES, NEEDS_ACTION, Cause, causes
from dbt_anonymize.verify.checks import check_names
from dbt_anonymize.verify.finding import Finding, Status

# Singular and plural of each status.
_WORDS: dict[Status, tuple[str, str]] = {
    "FAILED": ("FAILED", "FAILED"),
    "warning": ("warning", "warnings"),
    "not run": ("not run", "not run"),
    "holds": ("holds", "hold"),
    "measured": ("measured", "measured"),
}
# Width of the names of checks.
_WIDEST = max(map(len, check_names()))
_STYLES: dict[Status, str] = {
    "FAILED": "bold red",
    "warning": "yellow",
    "not run": "dim",
    "holds": "green",
    "measured": "cyan",
}
# The checks, as the command line takes them.
CheckName = Enum("CheckName", {name: name for name in check_names()})  # type: ignore[misc]


class Form(StrEnum):
    """Format of findings; json is JSON lines."""

    text = "text"
    csv = "csv"
    json = "json"


@on_target
def verify(
    place: Place,
    names: Names = None,
    *,
    check: Annotated[
        list[CheckName] | None,
        typer.Option(help="Check to run; may be repeated. All by default."),
    ] = None,
    earlier: Annotated[
        list[Path] | None,
        typer.Option(
            help="Release file of the same people that the vault does not remember; may be "
            "repeated. With exactly one NAME."
        ),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="Format of findings; json is JSON lines.")
    ] = Form.text,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Show also all that holds, all numbers, and the CPU seconds of each check.",
        ),
    ] = False,
) -> None:
    """Check what is promised about releases, with code that does not trust the build.

    Findings are told by cause, failures first, in ten lines at most, with what to do, and how many
    records exact values find, which no guarantee is about. provenance:
    no released column shares an origin with an identifier. content: no identifier is in a released
    cell or in the bytes of the files. recomputation: the release follows from the source.
    guarantees: counted again from the release alone. attacks: how often real attacks succeed; their
    numbers are also in <name>_attacks. audit: the record of re-linkings has no gap.
    """
    from dbt_anonymize.verify.run import verify as check_release  # noqa: PLC0415

    console, broken = SafeConsole(soft_wrap=True), 0
    checks = [chosen.value for chosen in check] if check else check_names()
    files = [file.absolute() for file in earlier or ()]
    with machine_readable_stdout(form) as out:
        if earlier and len(names or ()) != 1:
            raise VerificationError(
                "--earlier: must come with exactly one NAME, that of the anonymization it belongs "
                f"to; got {len(names or ())}."
            )
        by_name = (
            (
                spec.name,
                check_release(
                    place.project, spec, checks=checks, earlier=files, target=place.target
                ),
            )
            for spec in place.specs(names)
        )
        if form is Form.text:
            for name, findings in by_name:
                broken += _show_text(console, name, findings, is_verbose=verbose)
        else:
            broken = _show_findings(out, by_name, Format(form.value))
    if broken:
        raise typer.Exit(FAILED_CHECK)


def _show_findings(
    out: TextIO, by_name: Iterable[tuple[str, Iterator[Finding]]], form: Format
) -> int:
    """Print findings for programs; return the number of broken promises."""
    broken = list[bool]()

    def rows() -> Iterator[tuple[Any, ...]]:
        for name, findings in by_name:
            for finding in findings:
                broken.append(finding.holds is False)
                yield (name, *asdict(finding).values())

    columns = ["anonymization", *(field.name for field in fields(Finding))]
    show_rows(columns, rows(), form, out=out)
    return sum(broken)


def _show_text(
    console: SafeConsole, name: str, stream: Iterator[Finding], *, is_verbose: bool
) -> int:
    """Print findings that need action by cause, and on exact values, and count the rest."""
    from dbt_anonymize.relations import EXACT_VALUES  # noqa: PLC0415 (keeps --help fast)

    notes = SafeConsole(soft_wrap=True, quiet=is_quiet())
    notes.print(name, style="bold")
    findings, spent, begin = list[Finding](), defaultdict[str, float](float), time.process_time()
    with console.status(f"{name}: at work ...") as status:
        for finding in stream:
            findings.append(finding)
            # Each check yields its findings at its end.
            spent[finding.check] += time.process_time() - begin
            begin = time.process_time()
            done = dict.fromkeys(f.check for f in findings)
            status.update(f"{name}: at work, {' and '.join(done)} done ...")
    _show_causes(console, causes(findings))
    for finding in findings:
        if finding.subject == EXACT_VALUES and not is_verbose:
            _show_line(notes, finding, f"{finding.subject}: {finding.message}")
    if is_verbose:
        console.print("  details:")
        for finding in findings:
            _show_line(console, finding, f"{finding.subject}: {finding.message}")
    for check in dict.fromkeys(f.check for f in findings):
        number = Counter(f.status for f in findings if f.check == check)
        cost = f" ({spent[check]:.1f} CPU s)" if is_verbose else ""
        notes.print(f"  {check:<{_WIDEST}}  {_status_counts(number)}{cost}")
    total = Counter(finding.status for finding in findings)
    verdict = console if total["FAILED"] else notes
    verdict.print(f"{name}: {_verdict(total)}\n", style=_STYLES[_worst(total)])
    return total["FAILED"]


def _show_causes(console: SafeConsole, all_causes: Sequence[Cause]) -> None:
    """Print a line for each cause, the worst first; of too many, print the number of the rest."""
    listed = all_causes if len(all_causes) <= MOST_LINES else all_causes[: MOST_LINES - 1]
    for cause in listed:
        _show_line(console, cause.first, cause.text)
    if rest := all_causes[len(listed) :]:
        number = Counter[Status]()
        for cause in rest:
            number[cause.first.status] += len(cause.findings)
        console.print(f"  and {len(rest)} more causes ({_status_counts(number)}): see --verbose")


def _worst(total: Counter[Status]) -> Status:
    return next((status for status in NEEDS_ACTION[:2] if total[status]), "holds")


def _verdict(total: Counter[Status]) -> str:
    failed, judged = total["FAILED"], total["FAILED"] + total["holds"]
    promises, do = "promise" if judged == 1 else "promises", "does" if failed == 1 else "do"
    broken = f"{failed} of {judged} {promises} {do} not hold"
    holding = f"{judged} {'promise holds' if judged == 1 else 'promises hold'}"
    others: Counter[Status] = Counter({status: total[status] for status in NEEDS_ACTION[1:]})
    return ", ".join(filter(None, (broken if failed else holding, _status_counts(others))))


def _status_counts(number: Counter[Status]) -> str:
    """Return the number of findings of each status as text.

    Examples
    --------
    >>> _status_counts(Counter({"holds": 3, "warning": 1}))
    '1 warning, 3 hold'
    """
    return ", ".join(
        f"{number[status]} {singular if number[status] == 1 else plural}"
        for status, (singular, plural) in _WORDS.items()
        if number[status]
    )


def _show_line(console: SafeConsole, finding: Finding, text: str) -> None:
    """Print a finding: indented on a terminal, and as one line elsewhere."""
    begin = f"  {finding.status:<8}  {finding.check:<{_WIDEST}}  "
    if not console.is_terminal:
        console.print(begin + text)
        return
    lines = wrapped(printable(text), max(console.width - len(begin), 1))
    line = Text(begin + ("\n" + " " * len(begin)).join(lines))
    line.stylize(_STYLES[finding.status], 0, 2 + len(finding.status))
    console.print(line, soft_wrap=True)
