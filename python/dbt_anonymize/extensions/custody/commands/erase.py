"""The command ``dbt-anonymize erase``: take one person out of everything that the package keeps.

Exit codes: 0 erased, 1 begun and not complete (run it again), 2 refused, and nothing was changed.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    BAD_INPUT,
    FAILED_CHECK,
    DbtExecutable,
    Lines,
    Name,
    Yes,
    note,
    say,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import AnonymizeError, SpecError, VaultError
from dbt_anonymize.extension import other_release
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.custody.erase.run import Plan
    from dbt_anonymize.project.stages import Dbt
    from dbt_anonymize.spec import Spec


Subject = Annotated[
    str,
    typer.Option(
        help="Person: the subject of the spec, or the record key without one, as text; "
        "- reads it from standard input, so that no history of commands has it."
    ),
]
Records = Annotated[
    list[str] | None,
    typer.Option(help="Key of one of her records, where the vault no longer lists them."),
]


@on_target
def erase(
    place: Place,
    name: Name,
    *,
    subject: Subject,
    record: Records = None,
    yes: Yes = False,
    dbt: DbtExecutable = None,
) -> None:
    """Erase a person whom the source has forgotten: vault, working tables, release and files."""
    from dbt_anonymize.cli.publish import publish_all  # noqa: PLC0415
    from dbt_anonymize.evaluation.progress import logged_to  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.custody.erase.run import plan_erasure  # noqa: PLC0415
    from dbt_anonymize.project.lineage import share_people  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import closed_vaults  # noqa: PLC0415

    key = sys.stdin.readline().rstrip("\r\n") if subject == "-" else subject
    with logged_to(Lines()):
        spec = place.spec(name, of_records=False)
        names = place.other_names(name)
        others, unread = _other_specs(place, spec)
        runner = place.dbt(dbt, is_quiet=True)
        with _report_failure() as begun:
            with place.warehouse(writes_vault=True) as warehouse:
                same = [other.name for other in others if share_people(warehouse, other, spec)]
                plan = plan_erasure(warehouse, spec, key=key, records=record or (), others=names)
                if is_wanted := _confirm(plan, yes=yes):
                    begun.append(plan.carry_out())
                    plan.clear_working_tables()
            if not is_wanted:
                say("Nothing was erased. Add --yes if nobody can be asked.", err=True)
                raise typer.Exit(BAD_INPUT)
            note("The vault has forgotten her. Building.")
            with closed_vaults(place.project, place.target):
                _build(runner, spec)
            publish_all(place, [spec], only_if_unpublished_by_dbt=True)
            _finish(place, plan)
    is_erased = plan.records or plan.is_certain
    outcome = "erased" if is_erased else "the erasure that was begun is complete"
    note(f"{name}: {outcome}. The receipt is in {name}_erasures in the vault.")
    if other_release(spec):
        note(
            f"The release shows figures of many people; `dbt-anonymize results {name}` says if it "
            "is a new one without her, or stays as it was."
        )
    note("Files that were handed out, backups, reports and notebooks cannot be called back.")
    if same:
        note(f"Of the same people, and not erased there: {', '.join(same)}.")
    if unread:
        note(f"Specs that cannot be read, and not erased there: {', '.join(unread)}.")


def _other_specs(place: Place, spec: Spec) -> tuple[list[Spec], list[str]]:
    """Return the other anonymizations, and the names of those whose specs cannot be read.

    A spec whose name begins with this one must be readable: its relations could be taken for ours.
    """
    others: list[Spec] = []
    unread: list[str] = []
    for other in place.other_names(spec.name):
        try:
            others.append(place.spec(other, of_records=False))
        except SpecError:
            if other.startswith(f"{spec.name}_"):
                raise
            unread.append(other)
    return others, unread


@contextlib.contextmanager
def _report_failure() -> Iterator[list[object]]:
    """Report a failure after the erasure, which the block appends; a refusal passes through."""
    begun: list[object] = []
    try:
        yield begun
    except AnonymizeError as error:
        if not begun:
            raise
        say(str(error), err=True)
        say("The erasure is not complete. Correct this, and run the same command again.", err=True)
        raise typer.Exit(FAILED_CHECK) from None


def _confirm(plan: Plan, *, yes: bool) -> bool:
    for relation, records in plan.records.items():
        note(f"  {relation}: {pluralized(records, 'row')}")
    if plan.is_resumed:
        note("An earlier erasure is not complete; this completes it.")
    if not plan.records and not plan.is_certain:
        note(
            "Nothing is known of this key any more. See that it is the one that was begun with: no "
            "other can be looked for in the end."
        )
    if plan.released:
        note(
            f"Her rows in the release: {plan.released}. Records of others that leave with her "
            f"and stay out, so that no difference of releases shows her: {plan.withheld}."
        )
    if yes or not plan.records:
        return True
    return sys.stdin.isatty() and typer.confirm("Erase this? It cannot be undone.")


def _build(runner: Dbt, spec: Spec) -> None:
    from dbt_anonymize.project.stages import run_stage, stages_of  # noqa: PLC0415

    for stage in stages_of(runner.project, spec):
        code, _ = run_stage(runner, spec, stage)
        if code:
            hers = "" if other_release(spec) else ", with her row,"
            say(
                f"{spec.name}: the vault has forgotten the person, and the build failed: the "
                f"earlier release{hers} is still published, and files may hold deleted "
                "rows. Correct what stopped it, and run the same command again.",
                err=True,
            )
            raise typer.Exit(FAILED_CHECK)


def _finish(place: Place, plan: Plan) -> None:
    from dbt_anonymize.extensions.custody.erase.run import close_receipts, rewrite_and_check  # noqa: PLC0415

    identifiers, name = plan.vault.identifiers, plan.vault.spec.name
    with place.warehouse(writes_vault=True) as warehouse:
        files = dict(warehouse.rows("select database_name, path from duckdb_databases()"))
        remainder = rewrite_and_check(warehouse, plan)
    if remainder.unknown:
        note(
            f"No model makes these any more: {', '.join(remainder.unknown)}. They may hold numbers "
            "of before; drop what nobody needs."
        )
    if remainder.elsewhere:
        rows = remainder.elsewhere.items()
        listed = ", ".join(f"{relation} ({pluralized(n, 'row')})" for relation, n in rows)
        say(
            f"Of another target, and not erased there: {listed}. Run the same command with its "
            "--target, or drop what no target needs. The bytes of "
            f"{', '.join(remainder.unsearched)} hold her until then, and were not searched.",
            err=True,
        )
    if remainder.problems:
        raise VaultError("\n".join(remainder.problems))
    close_receipts(place.project.root / files[identifiers.database], identifiers.schema, name)
