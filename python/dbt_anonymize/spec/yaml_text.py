"""Add to the text of a YAML file; comments, order and style of everything else stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import yaml

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.spec.yaml_file import UNREADABLE

Keys = Sequence[str | int]
_STEP = 2


def add_key(text: str, path: Keys, value: Any) -> str:
    r"""Return the text with a value at a path of keys that is not there yet.

    A place that text alone cannot change (anchors, tags, a scalar) is a `ProjectError`.

    Examples
    --------
    >>> print(add_key("name: shop  # ours\nflags: {a: true}\n", ["flags", "b"], False), end="")
    name: shop  # ours
    flags: {a: true, b: false}
    """
    before = parse_yaml(text)
    edited = _add_at(text, list(path), value)
    return _check_edit(edited, _with_item(before, list(path), value), path, value)


def append_item(text: str, path: Keys, value: Any) -> str:
    r"""Return the text with a last item of the list at a path, which may be missing; as `add_key`.

    Examples
    --------
    >>> print(append_item("packages:\n  - local: a\n", ["packages"], {"local": "b"}), end="")
    packages:
      - local: a
      - local: b
    """
    document = parse_yaml(text)
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    if document is None:
        return add_key(text, path, [value])
    node = _node(text, path)
    edited = text if node is None else _append_to(text, node, [value])
    expected = (
        _with_item(parse_yaml(text), list(path), value) if isinstance(document, list) else None
    )
    return _check_edit(edited, expected, path, value)


def replace_value(text: str, path: Keys, value: Any) -> str:
    r"""Return the text with another value at a path; as `add_key`.

    Examples
    --------
    >>> replace_value("packages:\n  - local: a  # ours\n", ["packages", 0, "local"], "b")
    'packages:\n  - local: b  # ours\n'
    """
    expected = _change_at(parse_yaml(text), path, lambda _: value)
    node = _node(text, path)
    start, end = node.start_mark.index, node.end_mark.index
    gap = "" if end > start else " "
    return _check_edit(f"{text[:start]}{gap}{_flow(value)}{text[end:]}", expected, path, value)


def set_value(text: str, path: Keys, value: Any) -> str:
    r"""Return the text with a value at a path of keys, whether or not it has one; as `add_key`.

    Examples
    --------
    >>> set_value("release: {effort: auto}  # ours\n", ["release", "effort"], 2)
    'release: {effort: 2}  # ours\n'
    """
    holder = parse_yaml(text)
    for key in path[:-1]:
        holder = holder.get(key) if isinstance(holder, dict) else None
    is_there = isinstance(holder, dict) and path[-1] in holder
    return (replace_value if is_there else add_key)(text, path, value)


def insert_item(text: str, path: Keys, position: int, value: str) -> str:
    r"""Return the text with a scalar before an item of a list; as `add_key`.

    Examples
    --------
    >>> insert_item("order: [shop, dbt]\n", ["order"], 1, "ours")
    'order: [shop, ours, dbt]\n'
    """
    expected = _change_at(
        parse_yaml(text), path, lambda items: [*items[:position], value, *items[position:]]
    )
    node: Any = _node(text, path)
    start = node.value[position].start_mark.index
    if node.flow_style:
        edited = f"{text[:start]}{_flow(value)}, {text[start:]}"
    else:
        line = text.rindex("\n", 0, start) + 1
        edited = f"{text[:line]}{_block(value, node.start_mark.column, text, '- ')}{text[line:]}"
    return _check_edit(edited, expected, path, value)


def _change_at(content: Any, path: Keys, change: Callable[[Any], Any]) -> Any:
    """Return a copy of content that is changed at a path only, not where an alias repeats it."""
    if not path:
        return change(content)
    copied = content.copy()
    copied[path[0]] = _change_at(content[path[0]], path[1:], change)
    return copied


def _add_at(text: str, path: list[str | int], value: Any) -> str:
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    if node is None or _is_null(node):
        return f"{text.rstrip()}\n{_block(_nested(path, value), 0, text)}".lstrip("\n")
    for place, key in enumerate(path):
        below = _child(node, key)
        if below is None:
            return _append_to(text, node, _nested(path[place:], value))
        if _is_null(below):
            content = _nested(path[place + 1 :], value)
            column = _key_column(node, key) + _STEP
            end = below.start_mark.index
            head, tail = text[:end].rstrip(" "), text[below.end_mark.index :].partition("\n")
            return f"{head}{tail[0]}\n{_block(content, column, text)}{tail[2]}"
        node = below
    return text


def _append_to(text: str, node: yaml.Node, content: Any) -> str:
    """Add a mapping of one key, or a list of one item, to the end of a collection."""
    if not isinstance(node, yaml.CollectionNode):
        return text
    if node.flow_style:
        end = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return f"{text[:end].rstrip()}{comma}{_flow(content)[1:-1]}{text[end:]}"
    lines = text.splitlines(keepends=True)
    last = _last(node)
    mark = last.end_mark
    row = mark.line if mark.column == 0 and mark.index > last.start_mark.index else mark.line + 1
    while row and not lines[row - 1].strip():  # after what is written, not after blank lines
        row -= 1
    if lines[row - 1][-1:] != "\n":
        lines[row - 1] += newline_of(text)
    lines.insert(row, _block(content, node.start_mark.column, text))
    return "".join(lines)


def _last(node: yaml.Node) -> yaml.Node:
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        item = node.value[-1]
        key, value = item if isinstance(item, tuple) else (item, item)
        # Nothing after the colon has no place of its own.
        return (
            key
            if _is_null(value) and value.start_mark.index == value.end_mark.index
            else (_last(value))
        )
    return node


def _node(text: str, path: Keys) -> yaml.Node:
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in path:
        node = _child(node, key)
    return node  # type: ignore[no-any-return]


def _child(node: yaml.Node, key: str | int) -> yaml.Node | None:
    if isinstance(key, int):
        return node.value[key]  # type: ignore[no-any-return]
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _key_column(node: yaml.Node, key: str | int) -> int:
    return next((name.start_mark.column for name, _ in node.value if name.value == key), 0)


def _is_null(node: yaml.Node) -> bool:
    return node.tag == "tag:yaml.org,2002:null"


def _nested(path: Sequence[str | int], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _with_item(content: Any, path: list[str | int], value: Any) -> Any:
    """Return parsed content with the value added, to compare the edited text with."""
    if not path:
        return value if content is None else [*content, value]
    if not isinstance(content, dict | None):
        return None
    copy = dict(content or {})
    copy[str(path[0])] = _with_item(copy.get(str(path[0])), path[1:], value)
    return copy


def parse_yaml(text: str) -> Any:
    """Return the content of YAML; a syntax error is a `ProjectError` that quotes none of it."""
    try:
        return yaml.safe_load(text)
    except UNREADABLE as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}" if mark else ""
        raise ProjectError(f"must be valid YAML; there is an error{place}. Correct it.") from None


def _check_edit(edited: str, expected: Any, path: Keys, value: Any) -> str:
    try:
        after = yaml.safe_load(edited)
    except yaml.YAMLError:
        after = None
    if expected is None or after != expected:
        raise ProjectError(
            "must be plain YAML to be added to; something is in the way. Write by hand, under "
            f"{'.'.join(map(str, path))}:\n{_block(value, 0)}"
        )
    return edited


def _block(value: Any, indent: int, text: str = "", dash: str = "") -> str:
    """Return a value as block YAML with the line ends of a text."""
    end = newline_of(text)
    lines = (line for line in block_yaml(value).splitlines() if line != "...")
    return "".join(f"{' ' * indent}{dash}{line}{end}" for line in lines)


def newline_of(text: str) -> str:
    """Return the line end of a text."""
    return "\r\n" if "\r\n" in text else "\n"


class _Indented(yaml.SafeDumper):
    """Indents lists below their key, as dbt's own files do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def block_yaml(value: Any) -> str:
    r"""Return YAML over several lines.

    Examples
    --------
    >>> block_yaml({"packages": [{"local": "a"}]})
    'packages:\n  - local: a\n'
    """
    return str(
        yaml.dump(value, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=1_000_000)
    )


def _flow(value: Any) -> str:
    text = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, width=1_000_000, default_flow_style=True
    )
    return text.removesuffix("...\n").strip()
