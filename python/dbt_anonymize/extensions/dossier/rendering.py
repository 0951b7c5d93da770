"""A dossier as Markdown, and as one HTML file; what comes from data is never markup."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime
from importlib.metadata import version

import jinja2

from dbt_anonymize.extensions.dossier.criteria import frameworks
from dbt_anonymize.literals import printable
from dbt_anonymize.project.evidence import PARTS, Evidence
from dbt_anonymize.relations import HISTORY

# HTML is rendered from the Markdown, in which all data are escaped.
_PACKAGE = "dbt_anonymize.extensions.dossier"
# Characters that Markdown interprets; underscores within words are left alone.
_MARKUP = re.compile(
    r"([\\`*\[\]{}#|~!]|(?<![^\W_])_|_(?![^\W_])|^[-+=](?=\s|$)|(?<=^\d)[.)](?=\s))"
)


def as_markdown(evidence: Evidence, *, now: datetime | None = None) -> str:
    """Return a dossier as Markdown with tables."""
    relations = [
        (
            HISTORY if part == "history" else f"{evidence.spec.name}_{part}",
            "missing" if rows is None else f"{len(rows):,} rows",
            PARTS.get(part, "dbt build"),
        )
        for part, rows in evidence.relations.items()
    ]
    return (
        environment_of(_PACKAGE)
        .get_template("dossier.md.j2")
        .render(
            evidence=evidence,
            spec=evidence.spec,
            frameworks=frameworks(evidence),
            relations=relations,
            now=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
            version=version("dbt-anonymize"),
        )
    )


def as_html(evidence: Evidence, *, now: datetime | None = None) -> str:
    """Return a dossier as an HTML document that needs no other file."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 (keeps Markdown fast)

    body = MarkdownIt("commonmark", {"html": False}).enable("table")
    return (
        environment_of(_PACKAGE)
        .get_template("dossier.html.j2")
        .render(
            title=f"Dossier: {evidence.spec.name}", body=body.render(as_markdown(evidence, now=now))
        )
    )


def plain(text: object) -> str:
    r"""Return a text in one line that Markdown and HTML show as it is.

    Examples
    --------
    >>> plain("a|b <script> [x](javascript:y) _z_ k_1")
    'a\\|b &lt;script&gt; \\[x\\](javascript:y) \\_z\\_ k_1'
    """
    line = " ".join(printable(str(text)).split())
    escaped = _MARKUP.sub(r"\\\1", line).replace("&", "&amp;")
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


@functools.cache
def environment_of(package: str) -> jinja2.Environment:
    """Return the Jinja environment of a package's templates; HTML pages are escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(["html.j2"]),
    )
    environment.filters["plain"] = plain
    return environment
