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
from rich.table import Table
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
from dbt_anonymize.errors import VerificationError
from dbt_anonymize.output import Format
from dbt_anonymize.verify.causes import MOST_LINES, TOLD, Cause, causes
from dbt_anonymize.verify.checks import check_names
from dbt_anonymize.verify.finding import Finding, Status

# One and several of each status.
_WORDS: dict[Status, tuple[str, str]] = {
    "FAILED": ("FAILED", "FAILED"),
    "warning": ("warning", "warnings"),
    "not run": ("not run", "not run"),
    "holds": ("holds", "hold"),
    "measured": ("measured", "measured"),
}
# Of the names of checks.
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

    Findings are told by cause, failures first, in ten lines at most, with what to do. provenance:
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
        found = (
            (
                spec.name,
                check_release(
                    place.project, spec, checks=checks, earlier=files, target=place.target
                ),
            )
            for spec in place.specs(names)
        )
        if form is Form.text:
            for name, findings in found:
                broken += _show_text(console, name, findings, is_verbose=verbose)
        else:
            broken = _show_findings(out, found, Format(form.value))
    if broken:
        raise typer.Exit(FAILED_CHECK)


def _show_findings(
    out: TextIO, found: Iterable[tuple[str, Iterator[Finding]]], form: Format
) -> int:
    """Show findings for programs; return how many are broken."""
    broken = list[bool]()

    def rows() -> Iterator[tuple[Any, ...]]:
        for name, findings in found:
            for finding in findings:
                broken.append(finding.holds is False)
                yield (name, *asdict(finding).values())

    columns = ["anonymization", *(field.name for field in fields(Finding))]
    show_rows(columns, rows(), form, out=out)
    return sum(broken)


def _show_text(
    console: SafeConsole, name: str, findings: Iterator[Finding], *, is_verbose: bool
) -> int:
    """Show findings that need action by cause, and count the rest."""
    notes = SafeConsole(soft_wrap=True, quiet=is_quiet())
    notes.print(name, style="bold")
    found, spent, begin = list[Finding](), defaultdict[str, float](float), time.process_time()
    with console.status(f"{name}: at work ...") as status:
        for finding in findings:
            found.append(finding)
            # Each check yields what it found at its end.
            spent[finding.check] += time.process_time() - begin
            begin = time.process_time()
            done = dict.fromkeys(one.check for one in found)
            status.update(f"{name}: at work, {' and '.join(done)} done ...")
    _show_causes(console, causes(found))
    if is_verbose:
        console.print("  details:")
        for finding in found:
            _show_line(console, finding, f"{finding.subject}: {finding.message}")
    for check in dict.fromkeys(one.check for one in found):
        number = Counter(one.status for one in found if one.check == check)
        cost = f" ({spent[check]:.1f} CPU s)" if is_verbose else ""
        notes.print(f"  {check:<{_WIDEST}}  {_counted(number)}{cost}")
    total = Counter(finding.status for finding in found)
    verdict = console if total["FAILED"] else notes
    verdict.print(f"{name}: {_verdict(total)}\n", style=_STYLES[_worst(total)])
    return total["FAILED"]


def _show_causes(console: SafeConsole, found: Sequence[Cause]) -> None:
    """Show a line for each cause, the worst first; of too many say how many more there are."""
    shown = found if len(found) <= MOST_LINES else found[: MOST_LINES - 1]
    for cause in shown:
        _show_line(console, cause.first, cause.text)
    if more := found[len(shown) :]:
        number = Counter[Status]()
        for cause in more:
            number[cause.first.status] += len(cause.findings)
        console.print(f"  and {len(more)} more causes ({_counted(number)}): see --verbose")


def _worst(total: Counter[Status]) -> Status:
    return next((status for status in TOLD[:2] if total[status]), "holds")


def _verdict(total: Counter[Status]) -> str:
    failed, judged = total["FAILED"], total["FAILED"] + total["holds"]
    promises, do = "promise" if judged == 1 else "promises", "does" if failed == 1 else "do"
    broken = f"{failed} of {judged} {promises} {do} not hold"
    holding = f"{judged} {'promise holds' if judged == 1 else 'promises hold'}"
    others: Counter[Status] = Counter({status: total[status] for status in TOLD[1:]})
    return ", ".join(filter(None, (broken if failed else holding, _counted(others))))


def _counted(number: Counter[Status]) -> str:
    """Tell how many findings there are of each status.

    Examples
    --------
    >>> _counted(Counter({"holds": 3, "warning": 1}))
    '1 warning, 3 hold'
    """
    return ", ".join(
        f"{number[status]} {one if number[status] == 1 else several}"
        for status, (one, several) in _WORDS.items()
        if number[status]
    )


def _show_line(console: SafeConsole, finding: Finding, text: str) -> None:
    """Show a text of a finding: indented to be read on a terminal, and as one line elsewhere."""
    status = Text(f"  {finding.status:<8}", style=_STYLES[finding.status])
    if not console.is_terminal:
        console.print(f"{status.plain}  {finding.check:<{_WIDEST}}  {text}")
        return
    line = Table.grid(padding=(0, 2), expand=True)
    for width in (status.cell_len, _WIDEST, None):
        line.add_column(width=width, ratio=1 if width is None else None, overflow="fold")
    line.add_row(status, finding.check, text)
    console.print(line, soft_wrap=False)
