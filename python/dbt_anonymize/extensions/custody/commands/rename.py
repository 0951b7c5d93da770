"""The command ``dbt-anonymize rename``: another name, and the same memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import Name, Yes, note, require_consent
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.extension import other_release

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec


@on_target
def rename(
    place: Place,
    name: Name,
    new: Annotated[str, typer.Argument(help="Its new name.")],
    *,
    yes: Yes = False,
) -> None:
    """Rename an anonymization, with all that warehouse and vault remember of it; once per target.

    Where its files are renamed already, the relations of the target are.
    """
    from dbt_anonymize.extensions.custody.moves import remove_release  # noqa: PLC0415
    from dbt_anonymize.extensions.custody.removal import mentions  # noqa: PLC0415
    from dbt_anonymize.extensions.custody.renaming import rename_files, specs_of  # noqa: PLC0415

    before, after, has_files = specs_of(place.project, name, new)
    _ask(before, after, yes=yes)
    old_release = _rename_relations(place, before, after, has_files=has_files)
    changed = rename_files(place.project, name, new) if has_files else []
    if old_release is not None:
        remove_release(old_release)
    mentioning = mentions(place.project, name, place.other_names(name), changed)
    for path in changed:
        note(place.relative_name(path))
    for path in mentioning:
        note(f"Names a relation of {name}: {place.relative_name(path)}")
    note(f"{name} is {new} now. Repeat it with --target for each other target before it builds,")
    note("which would begin without memory. Next: `dbt build`.")


def _ask(before: Spec, after: Spec, *, yes: bool) -> None:
    note(
        f"Spec, models, relations and releases of {before.name} become those of {after.name}. "
        "Hierarchies keep their names; whoever reads the release must read the new one."
    )
    require_consent("Rename it?", "Nothing was renamed.", yes=yes)


def _rename_relations(place: Place, before: Spec, after: Spec, *, has_files: bool) -> Path | None:
    """Rename what the warehouse has; return the earlier release file, which is still there."""
    from dbt_anonymize.extensions.custody.moves import (  # noqa: PLC0415
        copy_release,
        remove_release,
        rename_relations,
        require_duckdb,
    )
    from dbt_anonymize.project.results import release_file  # noqa: PLC0415
    from dbt_anonymize.project.vault_owner import require_own_vault  # noqa: PLC0415

    with place.warehouse(writes_vault=True) as warehouse:
        require_duckdb(
            warehouse,
            before,
            f"Let a custodian rename {before.name}_tokens, _releases, _members and the others "
            "of the vault, and change name and file of the spec, before the next build.",
        )
        declared = before if has_files else after
        require_own_vault(warehouse, declared)
        if not declared.efforts and not other_release(declared):
            rename_relations(warehouse, before, after)
            return None
        file = place.project.root / release_file(warehouse, declared.name)
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
