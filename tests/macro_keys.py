"""The keys of the mapping that a macro takes: which it declares, and which are read."""

from __future__ import annotations

import functools
import re

import jinja2
from jinja2 import nodes

from tests.projects import REPOSITORY

# The macros that declare keys, and where their required ones stand; the others follow.
_DECLARING = {"_declared": 2, "_checked_keys": 1}
_DEFINITION = re.compile(r"{%-?\s*macro\s+(\w+).*?{%-?\s*endmacro\s*-?%}", re.DOTALL)


@functools.cache
def _definitions() -> dict[str, str]:
    return {
        definition[1]: definition[0]
        for path in sorted((REPOSITORY / "macros").rglob("*.sql"))
        for definition in _DEFINITION.finditer(path.read_text(encoding="utf-8"))
    }


@functools.cache
def macros() -> dict[str, nodes.Macro]:
    """Return every macro of the package by name."""
    environment = jinja2.Environment(extensions=["jinja2.ext.do"], autoescape=True)
    return {
        name: next(environment.parse(text).find_all(nodes.Macro))
        for name, text in _definitions().items()
    }


def declaring() -> list[str]:
    """Return the macros that declare keys, by their text: parsing all takes a second."""
    called = re.compile(rf"\b(?:{'|'.join(_DECLARING)})\(")
    return [name for name, text in _definitions().items() if _is_called(called, name, text)]


def bodies() -> list[str]:
    """Return the macros that generated models call, by their text."""
    called = re.compile(r"\b_declared\(")
    return [name for name, text in _definitions().items() if _is_called(called, name, text)]


def _is_called(called: re.Pattern[str], name: str, text: str) -> bool:
    return name not in _DECLARING and called.search(text) is not None


def declared_keys(name: str) -> list[str]:
    """Return the keys that a macro declares, required ones first; none without a declaration."""
    required, pairs = _declaration(name)
    return [*required, *(pair.key.as_const() for pair in pairs)]


def required_keys(name: str) -> list[str]:
    """Return the keys that a macro declares without a default."""
    return _declaration(name)[0]


def read_keys(name: str, mapping: str | None = None) -> set[str]:
    """Return the keys of a mapping that a macro reads, or another one that it passes it to.

    By default of the mapping whose keys it declares.
    """
    found: set[str] = set()
    waiting = [(name, mapping or _mapping(name))]
    seen: set[tuple[str, str]] = set()
    while waiting:
        seen.add(here := waiting.pop())
        macro, mapping = macros()[here[0]], here[1]
        found |= {read.attr for read in macro.find_all(nodes.Getattr) if _is(read.node, mapping)}
        passed = {
            (called, macros()[called].args[place].name)
            for called, call in calls(macro)
            for place, argument in enumerate(call.args)
            if _is(argument, mapping) and called in macros() and called not in _DECLARING
        }
        waiting += passed - seen
    return found - {"update"}


@functools.cache
def _declaration(name: str) -> tuple[list[str], list[nodes.Pair]]:
    for declaring, call in calls(macros()[name]):
        if declaring in _DECLARING:
            required, *defaults = call.args[_DECLARING[declaring] :]
            assert all(isinstance(mapping, nodes.Dict) for mapping in defaults)
            return required.as_const(), [pair for mapping in defaults for pair in mapping.items]
    return [], []


def _mapping(name: str) -> str:
    for called, call in calls(macros()[name]):
        if called in _DECLARING and isinstance(call.args[0], nodes.Name):
            return call.args[0].name
    return macros()[name].args[0].name


def _is(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def calls(macro: nodes.Macro) -> list[tuple[str, nodes.Call]]:
    """Return what a macro calls of the package, by name."""
    return [
        (call.node.attr, call)
        for call in macro.find_all(nodes.Call)
        if isinstance(call.node, nodes.Getattr) and _is(call.node.node, "dbt_anonymize")
    ]
