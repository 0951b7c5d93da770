"""Read a YAML file strictly: no duplicate keys, no surprises of YAML 1.1, no objects."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.spec.problems import KeyPath, Problem

# libyaml recurses in C, where too deep a nesting ends the process. A bracket or a character of a
# line is a level at most.
_MOST_BRACKETS, _LONGEST_LINE = 1_000, 1_000
# A wrong tag (`!!bool hunter2`) is an error of the loader that shows the value.
UNREADABLE = (yaml.YAMLError, ValueError, RecursionError, LookupError, TypeError, AttributeError)
# Far more than any spec or project file holds; aliases of aliases reach billions in ten lines.
MOST_VALUES = 100_000

_BOOLEAN_WORDS = frozenset({"yes", "no", "on", "off", "y", "n"})
_IN_ITSELF = "must not contain itself (an alias to a key above)"
_TOO_LARGE = (
    f"must stand for at most {MOST_VALUES} values, each alias written out",
    "Write it without aliases.",
)
_NUMBERS = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float"))
# Not octal (010), of base 60 (1:30), hexadecimal, binary or with underscores.
_PLAIN_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*|\d*\.\d*([eE][-+]\d+)?|\.(inf|nan))", re.I | re.ASCII)
_TEXT, _BOOLEAN, _MERGE = (f"tag:yaml.org,2002:{kind}" for kind in ("str", "bool", "merge"))


def read_yaml(path: Path) -> tuple[object, list[Problem]]:
    """Return the content of a UTF-8 file (None if unreadable) and its problems as YAML.

    Duplicate keys, keys and values that YAML takes for something else, syntax errors.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None, [Problem((), "must be UTF-8 text", "Save the file as UTF-8.")]
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return None, [Problem((), "must be a readable file", "Check the path.", reason.lower())]
    with contextlib.suppress(*UNREADABLE):
        return _read(text, _loader_of(text))
    try:  # the error message of Python's own loader
        return _read(text, yaml.SafeLoader)
    except UNREADABLE as error:
        return None, [Problem((), "must be valid YAML", "Correct it.", _syntax_error(error))]


def _loader_of(text: str) -> Any:
    """Return the loader of a text: that of libyaml, if it is there and the text is not deep."""
    brackets = text.count("[") + text.count("{")
    is_flat = (
        brackets < _MOST_BRACKETS and max(map(len, text.splitlines()), default=0) < _LONGEST_LINE
    )
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader) if is_flat else yaml.SafeLoader


def _read(text: str, kind: Any) -> tuple[object, list[Problem]]:
    loader = kind(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, []
        if _size(node, {}) > MOST_VALUES:
            return None, [Problem((), *_TOO_LARGE)]
        problems = []
        for problem in _problems(node, (), frozenset()):
            problems.append(problem)
            if problem.rule == _IN_ITSELF:  # further ways through the circle have no end
                return None, problems
        return loader.construct_document(node), problems
    finally:
        loader.dispose()


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return the number of values of a node with aliases written out; nodes are visited once."""
    if id(node) not in sizes:
        sizes[id(node)] = 1  # an end where a node contains itself, which is reported apart
        children = node.value if isinstance(node, yaml.CollectionNode) else ()
        pairs = isinstance(node, yaml.MappingNode)
        items = (item for pair in children for item in pair) if pairs else iter(children)
        sizes[id(node)] = 1 + sum(_size(item, sizes) for item in items)
    return sizes[id(node)]


def _problems(node: yaml.Node, path: KeyPath, above: frozenset[int]) -> Iterator[Problem]:
    if id(node) in above:
        yield Problem(path, _IN_ITSELF, "Write it out.")
        return
    above |= {id(node)}
    if isinstance(node, yaml.MappingNode):
        yield from _problems_of_keys(node, path)
        for key, value in node.value:
            yield from _problems(value, (*path, _key_text(key)), above)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value, start=1):
            yield from _problems(item, (*path, number), above)
    elif node.tag == _BOOLEAN and node.value.lower() in _BOOLEAN_WORDS:
        yield Problem(
            path,
            f"must not be {node.value} without quotes, which YAML reads as true or false",
            f'Write "{node.value}" for the text, or true or false.',
        )
    elif node.tag in _NUMBERS and not _PLAIN_NUMBER.fullmatch(node.value):
        number = yaml.safe_load(node.value)
        yield Problem(
            path,
            f"must not be {node.value} without quotes, which YAML reads as {number}",
            f'Write {number} for the number, or "{node.value}" for the text.',
        )


def _problems_of_keys(node: yaml.MappingNode, path: KeyPath) -> Iterator[Problem]:
    first_lines: dict[str, int] = {}
    for key, _ in node.value:
        name, line = _key_text(key), key.start_mark.line + 1
        if name in first_lines and key.tag != _MERGE:
            yield Problem(
                (*path, name),
                f"must be written once; it is in line {first_lines[name]} and in line {line}",
                "Remove one of them.",
            )
        first_lines.setdefault(name, line)
        if key.tag not in {_TEXT, _MERGE}:
            kind = key.tag.rpartition(":")[2]
            yield Problem(
                (*path, name),
                f"must be text, but YAML reads the key {name} as {kind}",
                f'Put it in quotes: "{name}".',
            )


def _key_text(key: yaml.Node) -> str:
    return key.value if isinstance(key, yaml.ScalarNode) else "(a list or mapping)"


def _syntax_error(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"{error.problem} in line {mark.line + 1}, column {mark.column + 1}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # Errors of the loader's constructors may quote the value, such as a password.
    return "a value that its tag, or a number of that length, does not allow"
