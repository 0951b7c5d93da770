"""The file of a spec that ``dbt-anonymize search`` reads and writes its efforts into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dbt_anonymize.cli.common import SafeConsole
from dbt_anonymize.extensions.search.declared import has_outdated_efforts
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.cli.place import Place
    from dbt_anonymize.spec import Effort, Spec


def read_spec(console: SafeConsole, place: Place, name: str) -> Spec:
    """Return the spec to search, which needs no efforts that fit; stop where seeds are missing."""
    from dbt_anonymize.extensions.search.outdated import load_to_search  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.search.unwritten import check_written  # noqa: PLC0415
    from dbt_anonymize.spec.loading import require_records, spec_paths  # noqa: PLC0415

    path = spec_paths(place.project.root).get(name)
    if path is None:
        return place.spec(name)  # says that there is none
    searched = load_to_search(path)
    spec = require_records(searched.spec)
    check_written(place, spec, path, searched.unwritten)
    if has_outdated_efforts(spec):
        console.print(
            f"{place.relative_name(path)}: its efforts do not fit the rest of the spec; a search "
            "replaces them."
        )
    return spec


def write_found(
    console: SafeConsole,
    place: Place,
    spec: Spec,
    efforts: tuple[Effort, ...],
    reasons: Sequence[str] = (),
) -> None:
    """Write the efforts that were found into the file of the spec, and say what changed."""
    from dbt_anonymize.extensions.search.editing import write_efforts  # noqa: PLC0415
    from dbt_anonymize.extensions.search.outdated import is_found_by_searches  # noqa: PLC0415
    from dbt_anonymize.spec.efforts import as_yaml  # noqa: PLC0415
    from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

    path = spec_paths(place.project.root)[spec.name]
    file = place.relative_name(path)
    # No search finds them, so they stay.
    others = [effort for effort in spec.efforts if not is_found_by_searches(as_yaml(effort))]
    efforts = (*efforts, *others)
    written = write_efforts(path, efforts, reasons)
    if not written.is_changed:
        console.print(f"{file}: has these efforts already.")
        return
    console.print(
        f"{file}: {pluralized(len(efforts), 'effort')}. Review the change, then run "
        f"`dbt-anonymize generate {spec.name}` and `dbt build`."
    )
    if written.before != written.now:
        console.print(
            f"release.effort was {written.before}, an effort that is gone: it is auto now, the one "
            "with the highest Q that qualifies."
            if written.now == "auto"
            else f"release.effort was {written.before}: it is {written.now} now, the same effort."
        )
