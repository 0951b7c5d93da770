"""The command ``dbt-anonymize relink``: from released rows back to people, as the policy allows.

Exit codes: 0 granted, 1 refused, 2 bad input.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from dbt_anonymize.cli.common import Name, say
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import RelinkingError, WarehouseError
from dbt_anonymize.output import Format, show
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.custody.relink.audit import Attempt
    from dbt_anonymize.extensions.custody.relink.released_rows import GivenRows, RelinkingInputError
    from dbt_anonymize.extensions.custody.relink.run import People
    from dbt_anonymize.spec import Spec

REFUSED = 1
STDIN = "-"


@on_target
def relink(
    place: Place,
    name: Name,
    file: Annotated[
        str,
        typer.Argument(help="Released rows: CSV with a header or JSON lines; - is standard input."),
    ] = STDIN,
    *,
    purpose: Annotated[
        str | None,
        typer.Option(help="Purpose: one of relinking.purposes.", show_default=False),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Format of people; json is JSON lines.")
    ] = Format.table,
    output: Annotated[
        Path | None,
        typer.Option(help="A new file that only you can read; standard output by default."),
    ] = None,
) -> None:
    """Go back from released rows to people: for custodians, and every attempt is recorded.

    Only as the spec's relinking allows: for a declared purpose, from a release that lost little,
    and never to a group of fewer than k people. CSV holds the values as they are; a spreadsheet may
    take some for formulas.
    """
    from dbt_anonymize.extensions.custody.relink.released_rows import RelinkingInputError  # noqa: PLC0415
    from dbt_anonymize.extensions.custody.relink.run import relink as relinked  # noqa: PLC0415

    data = sys.stdout
    # dbt's output must not stand among the people.
    with _refusals(), contextlib.redirect_stdout(sys.stderr):
        spec = place.spec(name)
        input_rows = _read_input(file, spec)
        with contextlib.ExitStack() as stack:
            out = data
            if output is not None:
                try:
                    out = stack.enter_context(_new_file(output.absolute()))
                except RelinkingInputError as problem:
                    input_rows = problem
            with place.warehouse(writes_vault=True) as warehouse:
                people = relinked(
                    warehouse,
                    spec,
                    purpose=purpose,
                    input_rows=input_rows,
                    on_recorded=lambda *attempt: say(_summary(spec.name, *attempt), err=True),
                )
                _show(out, people, form)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except RelinkingError as refusal:
        say(str(refusal), err=True)
        raise typer.Exit(REFUSED) from None


def _read_input(file: str, spec: Spec) -> GivenRows | RelinkingInputError:
    """Read the rows before the warehouse is open: waiting for input must lock nobody out."""
    from dbt_anonymize.extensions.custody.relink.links import LINKS  # noqa: PLC0415
    from dbt_anonymize.extensions.custody.relink.released_rows import (  # noqa: PLC0415
        RelinkingInputError,
        read_given_rows,
    )

    link = LINKS.get(spec.mapping, LINKS["class"])
    try:
        if file == STDIN:
            return read_given_rows(sys.stdin.buffer, link)
        with Path(file).open("rb") as stream:
            return read_given_rows(stream, link)
    except RelinkingInputError as problem:
        return problem
    except OSError as error:
        # Without the name of the file, which may be that of a person: it would be in the audit.
        return RelinkingInputError(
            f"the given rows must be in a file that can be read; {_reason(error)}. "
            "Name another file, or - for standard input."
        )


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """Yield a new file that only its owner can read; remove it if anything fails."""
    from dbt_anonymize.extensions.custody.relink.released_rows import RelinkingInputError  # noqa: PLC0415

    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise RelinkingInputError(
            "--output must name a file that can be made and is not there yet; "
            f"{_reason(error)}. Name another one."
        ) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
            yield out
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    """Return the reason of an error without the name of the file."""
    return (error.strerror or type(error).__name__).lower()


def _summary(name: str, attempt: Attempt, number: int) -> str:
    record_sentence = f"Recorded in {name}_relinkings as attempt {number}"
    if attempt.outcome == "refused":
        return f"{name}: nobody is shown. {record_sentence}"
    return (
        f"{name}: {pluralized(attempt.given_rows, 'row')} given, "
        f"{pluralized(attempt.shown_people, 'person', 'people')} of "
        f"{pluralized(attempt.shown_groups, 'group')} shown; "
        f"{pluralized(attempt.unknown_rows, 'row')} of nobody. {record_sentence}"
    )


def _show(out: TextIO, people: People, form: Format) -> None:
    try:
        show(out, people.columns, people.batches, form)
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    except OSError as error:
        raise WarehouseError(
            f"the people could not be written ({_reason(error)}). "
            "Check that the disk is not full, and try again."
        ) from error
