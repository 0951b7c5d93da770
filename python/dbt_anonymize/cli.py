"""The command `dbt-anonymize`: the only place that prints.

Exit codes: 0 fine, 1 a check failed, 2 bad input.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.command_line import (
    BAD_INPUT,
    FAILED_CHECK,
    HELP,
    Names,
    ProfilesDir,
    ProjectDir,
    Quiet,
    SafeConsole,
    Target,
    chosen_specs,
    errors_without_traceback,
    note,
    say,
)
from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.hierarchies.cli import app as hierarchy_app
from dbt_anonymize.search_cli import register as register_search
from dbt_anonymize.vault.relink_cli import register as register_relink
from dbt_anonymize.verification.verify_cli import register as register_verify
from dbt_anonymize.wording import counted

if TYPE_CHECKING:
    from rich.table import Table

    from dbt_anonymize.failures import Failure
    from dbt_anonymize.project import Project
    from dbt_anonymize.results import EffortResult
    from dbt_anonymize.spec import Source, Spec

app = typer.Typer(
    help="Test-driven anonymization of tables about people, with dbt.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(hierarchy_app, name="hierarchy", help="Make and check generalization hierarchies.")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dbt-anonymize {version('dbt-anonymize')}")
        raise typer.Exit


@app.callback()
def _main(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Declare, generate and look at anonymizations; `dbt build` does the work."""


@app.command()
def generate(
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if models differ from the specs.")
    ] = False,
    project_dir: ProjectDir = Path(),
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Write models/<name>/ from anonymizations/<name>.yml."""
    from dbt_anonymize import generate as generator  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.evaluation.category_limits import limits_in_seeds  # noqa: PLC0415
    from dbt_anonymize.project import find_project  # noqa: PLC0415
    from dbt_anonymize.spec.training import describe_training  # noqa: PLC0415

    with errors_without_traceback():
        if not check:
            changed = generator.generate(project_dir, names or ())
            for path in changed:
                note(path.as_posix())
            note(f"{counted(len(changed), 'file')} changed." if changed else "Nothing to change.")
            for spec in chosen_specs(find_project(project_dir), names):
                if spec.efforts:
                    note(describe_training(spec))
                for line in limits_in_seeds(find_project(project_dir).root, spec):
                    note(line)
            return
        drifts = generator.check(project_dir, names or ())
    for drift in drifts:
        if drift.kind == "different":
            say(drift.diff)
    if drifts:
        say(
            "\n".join(
                f"{drift.path.as_posix()}: must be what its spec says; it is {drift.kind}."
                for drift in drifts
            )
            + "\nRun `dbt-anonymize generate`.",
            err=True,
        )
        raise typer.Exit(FAILED_CHECK)
    note("Models and specs agree.")


register_search(app)
register_relink(app)
register_verify(app)


@app.command()
def results(
    names: Names = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Show what the last `dbt build` found, and where the releases lie."""
    from dbt_anonymize.failures import last_failure  # noqa: PLC0415
    from dbt_anonymize.project import find_project  # noqa: PLC0415
    from dbt_anonymize.results import (  # noqa: PLC0415
        in_words,
        is_of,
        place_of_release,
        read_results,
    )
    from dbt_anonymize.warehouse import open_warehouse  # noqa: PLC0415

    console = SafeConsole()
    with errors_without_traceback():
        project = find_project(project_dir)
        specs = chosen_specs(project, names)
        found: dict[str, tuple[list[EffortResult], str | None, bool] | str] = {}
        failures: dict[str, Failure | None] = {}
        with open_warehouse(project, target) as warehouse:
            for spec in specs:
                failures[spec.name] = last_failure(project, warehouse.manifest, spec.name)
                try:
                    found[spec.name] = (
                        read_results(warehouse, spec.name),
                        place_of_release(warehouse, spec.name),
                        is_of(warehouse, spec),
                    )
                except WarehouseError as error:
                    failure = failures[spec.name]
                    found[spec.name] = failure.text if failure else str(error)
        missing = [text for text in found.values() if isinstance(text, str)]
        if len(missing) == len(specs):
            raise WarehouseError("\n".join(missing))
    for spec in specs:
        read = found[spec.name]
        if isinstance(read, str):  # the others are there to be seen
            say(f"{read}\n", err=True)
            continue
        efforts, place, is_current = read
        console.print(f"{spec.name}: {spec.description}")
        console.print(_results_table(spec.quality.measure, efforts))
        for sentence in in_words(efforts, spec.quality.task):
            console.print(sentence)
        console.print(_release_line(place, efforts))
        for warning in _warnings(project, spec, failures[spec.name], is_current=is_current):
            console.print(warning, style="yellow")
        console.print()


def _warnings(
    project: Project, spec: Spec, failure: Failure | None, *, is_current: bool
) -> Iterator[str]:
    """Tell what failed last, and of what the results are not."""
    from dbt_anonymize.generate import check  # noqa: PLC0415

    if failure:
        earlier = "" if failure.has_results else " The results above are of an earlier build."
        yield failure.text + earlier
    if not is_current and check(project.root, [spec.name]):
        yield (
            f"anonymizations/{spec.name}.yml has changed since: run `dbt-anonymize generate` and "
            "`dbt build`."
        )
    elif not is_current and not failure:
        yield f"anonymizations/{spec.name}.yml has changed since: run `dbt build`."


def _release_line(place: str | None, efforts: list[EffortResult]) -> str:
    """Tell what is released, and whether it is of these results."""
    if place is None:
        return "released: nothing"
    if any(effort.is_chosen for effort in efforts):
        return f"released: {place}"
    return f"released: nothing of these results; {place} is of an earlier build"


def _results_table(measure: str, efforts: list[EffortResult]) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    # Without vertical lines it fits 80 columns.
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for heading in ("effort", "k", "suppressed", f"QF ({measure})", "QNF", "Q"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("qualifies", "chosen"):
        table.add_column(heading, no_wrap=True)
    for result in efforts:
        table.add_row(
            str(result.effort),
            "-" if result.k is None else str(result.k),
            str(result.suppressed_records),
            result.qf,
            _number(result.qnf),
            _number(result.q),
            "yes" if result.qualifies else "no",
            "chosen" if result.is_chosen else "",
            style="bold" if result.is_chosen else None,
        )
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="Name of the new anonymization.")],
    *,
    ref: Annotated[str | None, typer.Option(help="Model or seed to anonymize.")] = None,
    source: Annotated[
        str | None, typer.Option(help="dbt source to anonymize, as source_name.table_name.")
    ] = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Write a draft of anonymizations/<name>.yml from the columns of a relation."""
    from dbt_anonymize.draft import check_name, draft_spec  # noqa: PLC0415
    from dbt_anonymize.project import find_project  # noqa: PLC0415
    from dbt_anonymize.warehouse import open_warehouse  # noqa: PLC0415

    declared = _declared_source(ref, source)
    with errors_without_traceback():
        project = find_project(project_dir)
        path = check_name(project, name)
        with open_warehouse(project, target) as warehouse:
            relation = (
                warehouse.relation_of_ref(declared.ref)
                if declared.ref is not None
                else warehouse.relation_of_source(*(declared.source or ("", "")))
            )
            columns = warehouse.columns(relation)
    (project.root / path.parent).mkdir(exist_ok=True)
    (project.root / path).write_text(draft_spec(name, declared, columns), encoding="utf-8")
    note(f"{path.as_posix()}: decide every TODO, then run `dbt-anonymize generate {name}`.")


def _declared_source(ref: str | None, source: str | None) -> Source:
    from dbt_anonymize.spec import Source  # noqa: PLC0415

    source_name, _, table = (source or "").partition(".")
    if (ref is None) == (source is None) or (source is not None and not (source_name and table)):
        say(
            "init: must be given exactly one relation. "
            "Write --ref model_or_seed, or --source source_name.table_name.",
            err=True,
        )
        raise typer.Exit(BAD_INPUT)
    return Source(ref=ref) if ref is not None else Source(source=(source_name, table))
