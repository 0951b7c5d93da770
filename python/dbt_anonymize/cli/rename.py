"""The command ``dbt-anonymize rename``: another name, and the same memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    BAD_INPUT,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    Yes,
    errors_without_traceback,
    note,
    say,
)

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.spec import Spec


def rename(
    name: Annotated[str, typer.Argument(help="Anonymization.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    *,
    yes: Yes = False,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Rename an anonymization, with all that warehouse and vault remember of it; once per target.

    Where its files are renamed already, the relations of the target are.
    """
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.removal import mentions  # noqa: PLC0415
    from dbt_anonymize.project.renaming import rename_files, specs_of  # noqa: PLC0415
    from dbt_anonymize.spec import load_specs  # noqa: PLC0415
    from dbt_anonymize.vault.moves import remove_release  # noqa: PLC0415

    with errors_without_traceback():
        project = find_project(project_dir)
        before, after, has_files = specs_of(project, name, new)
        _ask(before, after, yes=yes)
        old_release = _rename_relations(project, target, before, after, has_files=has_files)
        changed = rename_files(project, name, new) if has_files else []
        if old_release is not None:
            remove_release(old_release)
        names = [spec.name for spec in load_specs(project.root)]
        named = mentions(project, name, names, changed)
    for path in changed:
        note(path.relative_to(project.root).as_posix())
    for path in named:
        note(f"Names a relation of {name}: {path.relative_to(project.root).as_posix()}")
    note(f"{name} is {new} now. Repeat it with --target for each other target before it builds,")
    note("which would begin without memory. Next: `dbt build`.")


def _ask(before: Spec, after: Spec, *, yes: bool) -> None:
    note(
        f"Spec, models, relations and releases of {before.name} become those of {after.name}. "
        "Hierarchies keep their names; whoever reads the release must read the new one."
    )
    if yes:
        return
    if sys.stdin.isatty() and typer.confirm("Rename it?"):
        return
    say("Nothing was renamed. Add --yes if nobody can be asked.", err=True)
    raise typer.Exit(BAD_INPUT)


def _rename_relations(
    project: Project, target: str | None, before: Spec, after: Spec, *, has_files: bool
) -> Path | None:
    """Rename what the warehouse has; return the earlier release file, which is still there."""
    from dbt_anonymize.project.results import release_file  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415
    from dbt_anonymize.vault.moves import (  # noqa: PLC0415
        copy_release,
        remove_release,
        rename_relations,
        require_duckdb,
    )

    with open_warehouse(project, target, writes_vault=True) as warehouse:
        require_duckdb(
            warehouse,
            before,
            f"Let a custodian rename {before.name}_tokens, _releases, _members and the others "
            "of the vault, and change name and file of the spec, before the next build.",
        )
        declared = before if has_files else after
        if not declared.efforts:
            rename_relations(warehouse, before, after)
            return None
        file = project.root / release_file(warehouse, declared.name)
        file = file.with_name(f"{before.name}.duckdb")
        copied = copy_release(file, before.name, after.name)
        try:
            renamed = rename_relations(warehouse, before, after)
        except BaseException:
            if copied is not None:
                remove_release(copied)
            raise
        for relation in renamed:
            note(relation)
        if not renamed:
            note(f"No relation of this target is called after {before.name}.")
        return file if copied is not None else None
