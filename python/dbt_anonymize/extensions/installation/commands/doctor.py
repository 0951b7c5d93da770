"""The command ``dbt-anonymize doctor``: whether something would stop a build."""

from __future__ import annotations

import typer

from dbt_anonymize.cli.common import FAILED_CHECK, note, say
from dbt_anonymize.cli.place import Place, on_target


@on_target
def doctor(
    place: Place,
) -> None:
    """Look at environment, profile, vault, versions and disk; exit code 1 if a build would stop."""
    from dbt_anonymize.extensions.installation.doctor import examine  # noqa: PLC0415 (keeps --help fast)

    stops = 0
    for finding in examine(place.folder, place.target):
        stops += finding.status == "stop"
        show = note if finding.status == "ok" else say
        show(f"{finding.status:<4}  {finding.check}: {finding.text}")
    if stops:
        raise typer.Exit(FAILED_CHECK)
