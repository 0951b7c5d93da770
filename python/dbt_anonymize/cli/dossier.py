"""The command ``dbt-anonymize dossier``: what was measured, by the criteria of regulators."""

from __future__ import annotations

from enum import StrEnum
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
    say,
)


class Form(StrEnum):
    """How a dossier is written."""

    markdown = "markdown"
    html = "html"


def dossier(
    name: Annotated[str, typer.Argument(help="The anonymization.", show_default=False)],
    *,
    form: Annotated[Form, typer.Option("--format", help="How it is written.")] = Form.markdown,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; standard output by default.")
    ] = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Write what was measured about a release by WP 216, NIST SP 800-188 and HIPAA.

    It draws no legal conclusion. Run `dbt build` and `dbt-anonymize verify` before.
    """
    from dbt_anonymize.dossier.evidence import collect  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.dossier.rendering import as_html, as_markdown  # noqa: PLC0415
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

    with errors_without_traceback():
        project = find_project(project_dir)
        (spec,) = chosen_specs(project, [name])
        with open_warehouse(project, target) as warehouse:
            evidence = collect(warehouse, spec)
    text = as_html(evidence) if form is Form.html else as_markdown(evidence)
    if output is None:
        say(text.rstrip("\n"))
    else:
        output.write_text(text, encoding="utf-8")
        note(f"{output}: written.")
