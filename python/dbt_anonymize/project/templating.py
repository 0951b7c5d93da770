"""Templates and expressions over a spec; their delimiters leave those of dbt alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jinja2

from dbt_anonymize import literals


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of templates."""
    found = jinja2.Environment(
        loader=jinja2.PackageLoader("dbt_anonymize.project"),
        undefined=jinja2.StrictUndefined,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 (SQL, Python and YAML, not HTML)
    )
    found.filters["jinja"] = literals.jinja
    found.filters["python"] = literals.python
    found.filters["yaml"] = literals.yaml_text
    found.filters["prose"] = lambda text: literals.yaml_text(literals.markdown(text))
    return found


@functools.cache
def expression(source: object) -> Callable[..., Any]:
    """Return a function of names that evaluates an expression; what is undefined is None."""
    return environment().compile_expression(str(source))


@functools.cache
def text(source: str) -> Callable[..., str]:
    """Return a function of names that fills in a text."""
    return environment().from_string(source).render if "<<" in source else lambda **_: source
