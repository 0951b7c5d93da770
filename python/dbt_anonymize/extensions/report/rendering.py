"""A report as HTML, Markdown or JSON; what comes from data is never markup."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from dbt_anonymize.extensions.dossier.rendering import environment_of
from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.sections import sections
from dbt_anonymize.extensions.report.sections.choice import (
    RANGES,
    alpha_of,
    is_measured,
    largest_alpha,
    rule_of,
    verdict,
)
from dbt_anonymize.extensions.report.summary import answers, figures, sample_section
from dbt_anonymize.literals import printable
from dbt_anonymize.project.sections import Report, Section

# Steps of the slider; the declared alpha is one of them.
_STEPS = 200
_VEGA_LITE = "6.4"
# Last line of a complete script in the cache.
_END = "\n// whole\n"


def as_json(findings: Findings | Report, *, now: datetime | None = None) -> str:
    """Return a report as JSON: answers, and the table of each part."""
    report = _report_of(findings)
    content = {
        "name": report.spec.name,
        "description": report.spec.description,
        **_stamp(now),
        "answers": {a.question: list(a.sentences) for a in report.answers},
        "alpha": report.alpha,
        "sections": [
            {
                "key": part.key,
                "title": part.title,
                "sentence": part.sentence,
                "headings": list(part.headings),
                "rows": [list(row) for row in part.rows],
            }
            for part in report.sections
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_markdown(findings: Findings | Report, *, now: datetime | None = None) -> str:
    """Return a report as Markdown, for a pull request."""
    report = _report_of(findings)
    return (
        _environment()
        .get_template("report.md.j2")
        .render(
            spec=report.spec,
            answers=report.answers,
            sections=[part for part in report.sections if len(part.rows) <= _LONGEST],
            **_stamp(now),
        )
    )


def as_html(findings: Findings | Report, *, now: datetime | None = None) -> str:
    """Return a report as one HTML file that loads nothing."""
    report = _report_of(findings)
    scripts = [_bundle(), _file("page.js")]
    style = _file("page.css")
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            spec=report.spec,
            most=_MOST_ROWS,
            choice=report.choice,
            charts=_embedded(_chart_specs(report.sections)),
            data=_embedded(report.choice),
            scripts=[Markup(script) for script in scripts],  # noqa: S704 (our own)
            style=Markup(style),  # noqa: S704 (our own)
            policy=_policy(scripts),
            **_stamp(now),
        )
    )


# Rows of a table in which the worst come first; the others are folded.
_MOST_ROWS = 10
# Longer tables are in HTML and JSON.
_LONGEST = 40


def _stamp(now: datetime | None) -> dict[str, str]:
    return {
        "made": (now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        "version": version("dbt-anonymize"),
    }


def _report_of(findings: Findings | Report) -> Report:
    """Return the report of released records; any other is one already."""
    if isinstance(findings, Report):
        return findings
    parts = sections(findings)
    limits = (
        "It shows figures of relations that analysts read: no record but those of the release "
        "above, no identifier, and of labels only counts rounded to multiples of "
        f"{findings.fewest}."
    )
    if findings.spec.differential_privacy:
        limits += (
            " Its figures are not part of what differential privacy covers: do not publish it."
        )
    return Report(
        findings.spec,
        answers(findings),
        parts,
        limits,
        figures(findings),
        sample_section(findings),
        _choice(findings, parts),
        alpha_of(findings),
    )


def _choice(findings: Findings, parts: Sequence[Section]) -> dict[str, Any]:
    """Return the data of the slider: lines of the efforts, ranges and steps."""
    ranges = next((part.data for part in parts if part.key == RANGES), ())
    alpha, largest = alpha_of(findings), largest_alpha(findings, ranges)
    step = alpha / max(1, round(alpha / largest * _STEPS)) if alpha else largest / _STEPS
    return {
        "alpha": alpha,
        "step": step,
        "steps": round(largest / step),
        "start": round(alpha / step),
        "rule": rule_of(findings),
        "verdict": verdict(findings),
        "lines": [
            {
                "effort": int(row["effort"]),
                "qf": None if row["qf_mean"] is None else float(row["qf_mean"]),
                "qnf": None if row["qnf"] is None else float(row["qnf"]),
                "k": int(row["k"] or 0),
                "qualifies": bool(row["qualifies"]),
                "share": None if row["choice_share"] is None else float(row["choice_share"]),
            }
            for row in findings.results
        ]
        if is_measured(findings)
        else [],
        "released": None if findings.chosen is None else int(findings.chosen["effort"]),
        "ranges": [
            {name: interval[name] for name in ("from", "to", "effort")} for interval in ranges
        ],
    }


def _chart_specs(parts: Sequence[Section]) -> dict[str, Any]:
    from dbt_anonymize.extensions.report.charts import spec_of  # noqa: PLC0415 (needs the extra)

    return {part.key: spec for part in parts if (spec := spec_of(part)) is not None}


def _embedded(content: Any) -> Markup:
    r"""Return JSON that ends no script element, whatever it holds.

    Examples
    --------
    >>> _embedded("</script><!--")
    Markup('"\\u003c/script\\u003e\\u003c!--"')
    """
    text = json.dumps(content, allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 (nothing that HTML reads is left)


@functools.cache
def _bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script.

    It takes longer to make than all else and depends on versions only: the user's cache keeps it.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
    folder = Path(cache) / "dbt_anonymize"
    cached = folder / f"vega-{version('vl-convert-python')}-{_VEGA_LITE}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = cached.read_text(encoding="utf-8")
        if text.endswith(_END):
            return text
    import vl_convert  # noqa: PLC0415 (needs the extra)

    snippet = "window.vegaEmbed = vegaEmbed;"
    bundle = str(vl_convert.javascript_bundle(snippet, vl_version=_VEGA_LITE)) + _END
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            file.write(bundle)
        Path(file.name).replace(cached)
    return bundle


def _file(name: str) -> str:
    return (
        files("dbt_anonymize.extensions.report")
        .joinpath("templates", name)
        .read_text(encoding="utf-8")
    )


def _policy(scripts: list[str]) -> str:
    """Return the content security policy: these scripts by their hash, and no request."""
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in scripts
    ]
    return (
        f"default-src 'none'; script-src {' '.join(hashes)}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def code(text: str) -> Markup:
    """Return a text of ours as HTML, with what is between backticks as code.

    Examples
    --------
    >>> code("run `dbt build` <now>")
    Markup('run <code>dbt build</code> &lt;now&gt;')
    """
    parts = str(escape(printable(text))).split("`")
    if len(parts) % 2 == 0:
        return escape(printable(text))
    marked = (f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
    return Markup("".join(marked))  # noqa: S704 (escaped above)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = environment_of("dbt_anonymize.extensions.report")
    environment.filters["code"] = code
    return environment
