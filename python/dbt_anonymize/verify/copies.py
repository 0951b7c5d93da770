"""Check the copies of a release in other formats: they are complete, current, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.copies import copy_difference, is_about, is_copied, places_of_copies
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.shape import check_mode
from dbt_anonymize.verify.relations import open_release


def check_copies(warehouse: Warehouse, spec: Spec, *, release: Path) -> Iterator[Finding]:
    """Compare each copy with the release file; undeclared copies must not exist."""
    if not release.is_file():  # the recomputation reports it
        return
    with open_release(spec, release) as released:
        has_about = released.has_about
    for form, path in places_of_copies(release).items():
        if is_copied(form, spec.release.formats, has_about=has_about):
            table = f"{spec.name}_{'about' if is_about(form) else 'anonymized'}"
            difference = copy_difference(
                warehouse.cursor(), table=table, release=release, copy=path
            )
            message = f"it holds the records of {release.name}, in the same order."
            if difference:
                message = (
                    f"it must hold the records of {release.name} and nothing else; {difference}. "
                    "Do not hand it out, and run `dbt build` again."
                )
            yield Finding("recomputation", path.name, holds=not difference, message=message)
            if not difference:
                yield check_mode(path, path.name)
        elif path.exists():
            yield Finding(
                "recomputation",
                path.name,
                holds=False,
                message=f"it must not be there: release.formats does not name {form}. Remove it, "
                "or declare the format and build again.",
            )
