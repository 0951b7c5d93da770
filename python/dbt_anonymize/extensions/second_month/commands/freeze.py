"""The command ``dbt-anonymize freeze``: commit the released effort, its levels and its labels."""

from __future__ import annotations

from dbt_anonymize.cli.common import Name, note
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SpecError


@on_target
def freeze(
    place: Place,
    name: Name,
) -> None:
    """Freeze the effort that the last build chose: new records get its labels, without training."""
    from dbt_anonymize.extensions.second_month.editing import write_freeze  # noqa: PLC0415
    from dbt_anonymize.extensions.second_month.freezing import (  # noqa: PLC0415
        freeze_effort,
        labels_file,
        remember_members,
        write_labels,
    )
    from dbt_anonymize.project.generate import generate  # noqa: PLC0415
    from dbt_anonymize.project.vault_owner import require_own_vault  # noqa: PLC0415
    from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

    spec = place.spec(name)
    if spec.is_frozen:
        raise SpecError(
            f"{name}: must not be frozen yet; effort {spec.release.effort} is. Remove `freeze` "
            "from its spec, generate and build to freeze another one."
        )
    path, seed = spec_paths(place.project.root)[name], labels_file(place.project, spec)
    with place.warehouse(writes_vault=True) as warehouse:
        require_own_vault(warehouse, spec)
        frozen = freeze_effort(warehouse, spec)
        write_freeze(path, frozen.effort)
        write_labels(seed, frozen)
        if frozen.remembers:
            remember_members(warehouse, frozen)
    changed = generate(place.project.root, [name])
    note(f"{place.relative_name(path)}: effort {frozen.effort} is frozen.")
    for file in [seed.relative_to(place.project.root), *changed]:
        note(file.as_posix())
    if frozen.remembers:
        note("The vault remembers who is released: new records wait from now on.")
    note("Commit these files. Next: `dbt build`.")
