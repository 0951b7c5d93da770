"""The command ``dbt-anonymize dossier``: what was measured, by the criteria of regulators."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import OnlyName, write_or_say
from dbt_anonymize.cli.place import Place, on_target


class Form(StrEnum):
    """Format of a dossier."""

    markdown = "markdown"
    html = "html"


@on_target
def dossier(
    place: Place,
    name: OnlyName = None,
    *,
    form: Annotated[Form, typer.Option("--format", help="Format of the dossier.")] = Form.markdown,
    output: Annotated[
        Path | None, typer.Option(help="The file to write; standard output by default.")
    ] = None,
) -> None:
    """Write what was measured about a release by WP 216, NIST SP 800-188 and HIPAA.

    It draws no legal conclusion. Run `dbt build` and `dbt-anonymize verify` before.
    """
    from dbt_anonymize.extensions.dossier.rendering import as_html, as_markdown  # noqa: PLC0415
    from dbt_anonymize.project.evidence import collect  # noqa: PLC0415 (keeps --help fast)

    spec = place.only_spec(name)
    with place.warehouse() as warehouse:
        evidence = collect(warehouse, spec)
    text = as_html(evidence) if form is Form.html else as_markdown(evidence)
    write_or_say(text, output)
