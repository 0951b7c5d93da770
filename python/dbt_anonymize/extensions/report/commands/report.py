"""The command ``dbt-anonymize report``: what the last build found, to look at."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import OnlyName, spinner, write_or_say
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extension import other_release


class Form(StrEnum):
    """Format of a report."""

    html = "html"
    md = "md"
    json = "json"


@on_target
def report(
    place: Place,
    name: OnlyName = None,
    *,
    form: Annotated[Form, typer.Option("--format", help="Format of the report.")] = Form.html,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; <name>.html by default, standard output for md and json."
        ),
    ] = None,
) -> None:
    """Write what the last `dbt build` found with charts, as one HTML file that loads nothing.

    It shows figures of relations that analysts read, five rows of the release, and no identifier.
    """
    from dbt_anonymize.extensions.report.reading import read_findings  # noqa: PLC0415
    from dbt_anonymize.extensions.report.rendering import as_html, as_json, as_markdown  # noqa: PLC0415

    write = {Form.html: as_html, Form.md: as_markdown, Form.json: as_json}[form]
    if form is Form.html:
        _require_charts()
    spec = place.only_spec(name, of_records=False)
    other = other_release(spec)
    with place.warehouse() as warehouse:
        findings = (other.report if other else read_findings)(warehouse, spec)
    with spinner("Drawing"):
        text = write(findings)
    if output is None and form is Form.html:
        output = Path(f"{spec.name}.html")
    write_or_say(text, output)


def _require_charts() -> None:
    missing = [name for name in ("altair", "vl_convert") if find_spec(name) is None]
    if missing:
        raise ProjectError(
            f"report: must have {' and '.join(missing)} for HTML; not installed. Run "
            "`pip install 'dbt-anonymize[report]'`, or take --format md or json."
        )
