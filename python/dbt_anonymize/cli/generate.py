"""The command ``dbt-anonymize generate``: write the models of specs, or check that they agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import FAILED_CHECK, Names, note, say
from dbt_anonymize.cli.place import Place, in_project
from dbt_anonymize.extension import obstacles
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec


@in_project
def generate(
    place: Place,
    names: Names = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if models differ from the specs.")
    ] = False,
) -> None:
    """Write models/<name>/ from anonymizations/<name>.yml."""
    from dbt_anonymize.project import generate as generator  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.engines.settings import unmet_settings  # noqa: PLC0415
    from dbt_anonymize.spec import load_specs  # noqa: PLC0415
    from dbt_anonymize.spec.training import describe_training  # noqa: PLC0415

    if not check:
        from dbt_anonymize.project.category_limits import limits_in_seeds  # noqa: PLC0415
        from dbt_anonymize.spec.hierarchy_levels import ProjectFiles  # noqa: PLC0415

        specs = generator.current_specs(place.project, names or ())
        _print_changes(place, generator.generate(place.folder, names or (), specs))
        files = ProjectFiles(place.project.root)
        for spec in specs:
            if spec.efforts and not spec.is_frozen:
                note(describe_training(spec))
            for line in limits_in_seeds(files, spec):
                note(line)
        for spec in specs:
            if spec.awaits_search:
                note(
                    f"Next: `dbt build -s +{spec.name}_frequencies`, then "
                    f"`dbt-anonymize search {spec.name}` finds efforts."
                )
        for line in unmet_settings(place.project.root):
            say(line)
        _warn_of_obstacles(place, specs)
        if not all(spec.awaits_search for spec in specs):
            note("Next: `dbt build`.")
        return
    specs = load_specs(place.project.root, names)
    drifts = generator.check(place.folder, names or (), specs)
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
    _warn_of_obstacles(place, specs)
    note("Models and specs agree.")


def _warn_of_obstacles(place: Place, specs: Sequence[Spec]) -> None:
    for find in obstacles():
        for line in find(place.project.root, specs):
            say(line, err=True)


def _print_changes(place: Place, changed: Sequence[Path]) -> None:
    """Print the files that changed, removed ones first."""
    removed = [path for path in changed if not (place.project.root / path).exists()]
    for path in removed:
        note(f"removed {path.as_posix()}")
    for path in (path for path in changed if path not in removed):
        note(path.as_posix())
    note(f"{pluralized(len(changed), 'file')} changed." if changed else "Nothing to change.")
