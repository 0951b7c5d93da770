"""The command ``dbt-anonymize doctor``: whether something would stop a build."""

from __future__ import annotations

from pathlib import Path

import typer

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    errors_without_traceback,
    note,
    say,
)


def doctor(
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Look at environment, profile, vault, versions and disk; exit code 1 if a build would stop."""
    from dbt_anonymize.installation.doctor import examine  # noqa: PLC0415 (keeps --help fast)

    stops = 0
    with errors_without_traceback():
        for finding in examine(project_dir, target):
            stops += finding.status == "stop"
            show = note if finding.status == "ok" else say
            show(f"{finding.status:<4}  {finding.check}: {finding.text}")
    if stops:
        raise typer.Exit(FAILED_CHECK)
