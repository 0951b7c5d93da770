"""The command ``dbt-anonymize publish``: the last step of a build in projects without Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from dbt_anonymize.cli.common import FAILED_CHECK, Names, note, say
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import PublishError

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec


@on_target
def publish(place: Place, names: Names = None) -> None:
    """Publish files of releases, in projects without Python; elsewhere dbt does it."""
    publish_all(place, (spec for spec in place.specs(names) if spec.efforts))


def publish_all(
    place: Place, specs: Iterable[Spec], *, only_if_unpublished_by_dbt: bool = False
) -> None:
    """Publish built releases, all or only those that dbt itself does not publish."""
    from dbt_anonymize.verify.publishing import (  # noqa: PLC0415 (keeps --help fast)
        is_published_by_command,
        publish_built,
    )

    if only_if_unpublished_by_dbt and place.project.has_python:
        return
    try:
        with place.warehouse() as warehouse:
            if only_if_unpublished_by_dbt and not is_published_by_command(place.project, warehouse):
                return
            for spec in specs:
                path = publish_built(place.project, warehouse, spec)
                note(f"{spec.name}: published as {path}.")
    except PublishError as error:
        say(str(error), err=True)
        raise typer.Exit(FAILED_CHECK) from None
