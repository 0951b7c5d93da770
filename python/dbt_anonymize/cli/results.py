"""The command ``dbt-anonymize results``: what the last build found, and where the releases are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.cli.common import (
    Names,
    ProfilesDir,
    ProjectDir,
    Quiet,
    SafeConsole,
    Target,
    chosen_specs,
    errors_without_traceback,
    figures_table,
    say,
)
from dbt_anonymize.errors import WarehouseError

if TYPE_CHECKING:
    from rich.table import Table

    from dbt_anonymize.project.failures import Failure
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.results import EffortResult
    from dbt_anonymize.spec import Spec


def results(
    names: Names = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Show what the last `dbt build` found, and where the releases lie."""
    from dbt_anonymize.project.failures import last_failure  # noqa: PLC0415
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.results import (  # noqa: PLC0415
        explained,
        outer_quality,
        read_results,
        release_location,
        results_are_current,
    )
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

    console = SafeConsole()
    with errors_without_traceback():
        project = find_project(project_dir)
        specs = chosen_specs(project, names)
        found: dict[str, tuple[list[EffortResult], list[str], str | None, bool] | str] = {}
        failures: dict[str, Failure | None] = {}
        with open_warehouse(project, target) as warehouse:
            for spec in specs:
                failures[spec.name] = last_failure(project, warehouse.manifest, spec.name)
                try:
                    found[spec.name] = (
                        read_results(warehouse, spec.name),
                        outer_quality(warehouse, spec),
                        release_location(warehouse, spec.name),
                        results_are_current(warehouse, spec),
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
        efforts, of_outer, place, is_current = read
        console.print(f"{spec.name}: {spec.description}")
        console.print(_results_table(spec.quality.measure, efforts))
        for sentence in [*explained(efforts, spec.quality.task), *of_outer]:
            console.print(sentence)
        console.print(_release_line(place, efforts))
        for warning in _warnings(project, spec, failures[spec.name], is_current=is_current):
            console.print(warning, style="yellow")
        console.print()


def _warnings(
    project: Project, spec: Spec, failure: Failure | None, *, is_current: bool
) -> Iterator[str]:
    from dbt_anonymize.project.generate import check  # noqa: PLC0415

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
    if place is None:
        return "released: nothing"
    if any(effort.is_chosen for effort in efforts):
        return f"released: {place}"
    return f"released: nothing of these results; {place} is of an earlier build"


def _results_table(measure: str, efforts: list[EffortResult]) -> Table:
    figures = ("effort", "k", "suppressed", f"QF ({measure})", "QNF", "Q")
    table = figures_table(figures, ("qualifies", "chosen"))
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
