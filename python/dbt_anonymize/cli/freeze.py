"""The command ``dbt-anonymize freeze``: commit the released effort, its levels and its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import (
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    chosen_specs,
    errors_without_traceback,
    note,
)


def freeze(
    name: Annotated[str, typer.Argument(help="Anonymization.")],
    *,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Freeze the effort that the last build chose: new records get its labels, without training."""
    from dbt_anonymize.errors import SpecError  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.freezing import (  # noqa: PLC0415
        freeze_effort,
        labels_file,
        remember_members,
        write_labels,
    )
    from dbt_anonymize.project.generate import generate  # noqa: PLC0415
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415
    from dbt_anonymize.spec.editing import write_freeze  # noqa: PLC0415
    from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

    with errors_without_traceback():
        project = find_project(project_dir)
        (spec,) = chosen_specs(project, [name])
        if spec.freeze:
            raise SpecError(
                f"{name}: must not be frozen yet; effort {spec.release.effort} is. Remove `freeze` "
                "from its spec, generate and build to freeze another one."
            )
        path, seed = spec_paths(project.root)[name], labels_file(project, spec)
        with open_warehouse(project, target, writes_vault=True) as warehouse:
            frozen = freeze_effort(warehouse, spec)
            write_freeze(path, frozen.effort)
            write_labels(seed, frozen)
            if frozen.remembers:
                remember_members(warehouse, frozen)
        changed = generate(project.root, [name])
    note(f"{path.relative_to(project.root).as_posix()}: effort {frozen.effort} is frozen.")
    for file in [seed.relative_to(project.root), *changed]:
        note(file.as_posix())
    if frozen.remembers:
        note("The vault remembers who is released: new records wait from now on.")
    note("Commit these files. Next: `dbt build`.")
