"""Templates and expressions over a spec; their delimiters leave those of dbt alone."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, MutableMapping
from importlib import resources
from typing import Any

import jinja2

from dbt_anonymize import literals
from dbt_anonymize.extension import extensions


class _Environment(jinja2.Environment):
    """Environment whose globals are fixed: the chain of mappings that jinja2 keeps is slow."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the globals of a template."""
        return {**self.globals, **(d or {})}


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of templates: those of the core, and of relations of extensions."""
    packages = (
        one.package
        for one in extensions()
        # Without templates it adds nothing but columns.
        if (one.has_relations or one.inspections)
        and resources.files(one.package).joinpath("templates").is_dir()
    )
    jinja = _Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package) for package in ("dbt_anonymize.project", *packages)]
        ),
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    jinja.globals["inspections"] = [one.name for one in extensions() if one.inspections]
    jinja.filters["jinja"] = literals.jinja
    jinja.filters["python"] = literals.python
    jinja.filters["yaml"] = literals.yaml_text
    jinja.filters["prose"] = lambda text: literals.yaml_text(literals.markdown(text))
    return jinja


_CONSTANTS = {"true": True, "false": False, "none": None}


@functools.cache
def expression(source: object) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function of values by name that evaluates an expression; what is unknown is None."""
    # Most are constants and attributes, which need no context of their own.
    if isinstance(source, bool):
        return lambda _: source
    first, *attributes = str(source).split(".")
    if str(source) in _CONSTANTS:
        return lambda _: _CONSTANTS[first]
    if all(word.isidentifier() for word in (first, *attributes)):
        return lambda values: functools.reduce(getattr, attributes, values.get(first))
    return environment().compile_expression(str(source))


_EXPRESSION = re.compile(r"<< (.+?) >>")


@functools.cache
def text(source: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function of values by name that fills in a text."""
    if all(name.isidentifier() for name in _EXPRESSION.findall(source)):
        # Names alone need no template.
        return lambda values: _EXPRESSION.sub(lambda match: str(values[match[1]]), source)
    return environment().from_string(source).render
