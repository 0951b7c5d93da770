"""Write efforts into the text of a spec; everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import TypeAdapter, ValidationError

from dbt_anonymize.errors import SpecError
from dbt_anonymize.literals import plain_yaml_text, printable
from dbt_anonymize.spec.draft import integer, items, mapping
from dbt_anonymize.spec.editing import flow_text, replace_text
from dbt_anonymize.spec.efforts import AnyEffort, Effort, as_yaml
from dbt_anonymize.spec.left_out import without_left_out
from dbt_anonymize.spec.yaml_text import newline_of, set_value

# Comments to stand behind efforts, by their content.
Notes = Mapping[Any, str]

_KEY = "efforts"
# A missing list is written below this key, which every spec has.
_BEFORE = "features"


def with_efforts(text: str, efforts: Sequence[Effort], reasons: Sequence[str] = ()) -> str:
    r"""Return the text of a spec with its efforts replaced.

    In a block, the reason of a new effort stands behind it as a comment.

    Block or flow style and line ends are kept; a missing or empty list becomes a block. An effort
    that stays keeps its text and comment; one that goes loses the comment behind it; comments on
    lines of their own stay. A list that cannot be replaced as text (for example with an anchor that
    is used below) is a `SpecError` with the lines to write.

    Examples
    --------
    >>> spec = "features: [age]\nefforts:\n  - {age: 1}  # weak\n  - {age: 3}\nalpha: 1\n"
    >>> one, two = (Effort(levels={"age": level}) for level in (1, 2))
    >>> print(with_efforts(spec, [one, two]), end="")
    features: [age]
    efforts:
      - {age: 1}  # weak
      - {age: 2}
    alpha: 1
    """
    contents = [as_yaml(effort) for effort in efforts]
    before = yaml.safe_load(text)
    notes = {
        # A comment with a control character could not be read again.
        _hashable(content): f"  # {printable(' '.join(reason.split()))}"
        for content, reason in zip(contents, reasons, strict=False)
    }
    edited = _replace_list(text, contents, notes)
    try:
        after = yaml.safe_load(edited)
    except yaml.YAMLError:
        after = None
    if after != {**before, _KEY: contents}:
        lines = "\n".join(f"  - {flow_text(content)}" for content in contents)
        raise SpecError(
            "efforts: must be a plain list to be replaced; anchors, aliases or tags are in the "
            f"way. Write them by hand:\n{_KEY}:\n{lines}"
        )
    return edited


@dataclass(frozen=True)
class Written:
    """A change of the file of a spec, if there was one, and its released effort before and now."""

    is_changed: bool
    before: int | Literal["auto"]
    now: int | Literal["auto"]


def write_efforts(path: Path, efforts: Sequence[Effort], reasons: Sequence[str] = ()) -> Written:
    """Replace the efforts in the file of a spec atomically.

    A number of the released effort stays with its effort, and becomes auto where that is gone.
    Efforts before need not be sound; a spec that is not sound afterwards is a `SpecError`, and the
    file is unchanged.
    """
    # Not read_text, which would turn the line ends of Windows into our own.
    text = path.read_bytes().decode("utf-8")
    edited = with_efforts(text, efforts, reasons)
    content = without_left_out(yaml.safe_load(text))
    before = integer(mapping(content.get("release")).get("effort"))
    now = _renumbered(before, items(content.get(_KEY)), efforts)
    if now != (before or "auto"):
        edited = set_value(edited, ["release", "effort"], now)
    return Written(replace_text(path, text, edited), before or "auto", now)


def _renumbered(
    number: int | None, before: Sequence[Any], efforts: Sequence[Effort]
) -> int | Literal["auto"]:
    """Return the number that the released effort has among new efforts, else auto."""
    if number is None or number < 1:
        return "auto"
    if len(efforts) == 1 == number:  # differential_privacy does not allow auto
        return number
    if number > len(before):
        return "auto" if efforts else number
    released = _as_yaml(before[number - 1])
    numbers = (n for n, effort in enumerate(efforts, start=1) if as_yaml(effort) == released)
    return next(numbers, "auto")


def _as_yaml(written: object) -> dict[str, Any] | None:
    """Return an effort of a file in its shortest written form, None if it is not sound."""
    try:
        effort: Effort = TypeAdapter(AnyEffort).validate_python(written)
    except ValidationError:
        return None
    return as_yaml(effort)


def _replace_list(text: str, contents: Sequence[Any], notes: Notes) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return text
    entries = {key.value: (key, value) for key, value in root.value}
    newline = newline_of(text)
    if _KEY not in entries:
        return _insert_list(text, root, entries[_BEFORE], contents, notes)
    key, value = entries[_KEY]
    if isinstance(value, yaml.SequenceNode) and value.value:
        if value.flow_style:
            return _replace_flow_items(text, value, contents, newline)
        return _replace_block_items(text, value, contents, notes)
    # An empty list, or nothing.
    start, end = value.start_mark.index, value.end_mark.index
    if root.flow_style:
        return f"{text[:start]}[{', '.join(map(flow_text, contents))}]{text[end:]}"
    start = text.index(":", key.end_mark.index) + 1
    column = key.start_mark.column
    line_end = _line_end(text, end)
    rest = text[end:line_end]
    # Text behind the list, perhaps a comment, stays behind the key.
    head = f"{text[:start]}{rest if rest.strip() else ''}"
    return f"{head}{_block(contents, notes, column + 2, newline)}{text[line_end:]}"


def _insert_list(
    text: str,
    root: yaml.MappingNode,
    entry: tuple[yaml.Node, yaml.Node],
    contents: Sequence[Any],
    notes: Notes,
) -> str:
    key, value = entry
    newline = newline_of(text)
    end = _end(value)
    if root.flow_style:
        listed = ", ".join(map(flow_text, contents))
        return f"{text[:end]}, {_KEY}: [{listed}]{text[end:]}"
    end = _line_end(text, end)
    # Comments that are indented belong to the entry.
    while comment := re.match(r"\r?\n[ \t]+#[^\r\n]*", text[end:]):
        end += comment.end()
    column = key.start_mark.column
    is_apart = re.match(r"\r?\n[ \t]*\r?\n", text[end:])
    gap = newline * (2 if is_apart else 1)
    block = _block(contents, notes, column + 2, newline)
    return f"{text[:end]}{gap}{' ' * column}{_KEY}:{block}{text[end:]}"


def _replace_flow_items(
    text: str, value: yaml.SequenceNode, contents: Sequence[Any], newline: str
) -> str:
    """Replace the items between brackets and keep their separators."""
    first, last = value.value[0], value.value[-1]
    start, end = first.start_mark.index, _end(last)
    opening = text[value.start_mark.index + 1 : start]
    between = f",{opening}" if newline in opening and not opening.strip() else ", "
    if len(value.value) > 1:
        separator = text[_end(first) : value.value[1].start_mark.index]
        between = separator if separator.strip() == "," else between
    old = {_hashable(item): text[item.start_mark.index : _end(item)] for item in value.value}
    items = [old.get(_hashable(content)) or flow_text(content) for content in contents]
    return f"{text[:start]}{between.join(items)}{text[end:]}"


def _replace_block_items(
    text: str, value: yaml.SequenceNode, contents: Sequence[Any], notes: Notes
) -> str:
    """Replace the items of a block; comments on lines of their own keep their position."""
    items, newline = value.value, newline_of(text)
    ends = [_line_end(text, _end(item)) for item in items]
    # From the dash of the first item; lines above it belong to the key.
    start = value.start_mark.index
    column = value.start_mark.column
    dashed = f"\n{' ' * column}-"
    old: dict[Any, str] = {}
    comments: list[str] = [""]
    for number, (item, end) in enumerate(zip(items, ends, strict=True)):
        # The first line that starts like an item; a comment may hold a dash too.
        dash = text.index(dashed, ends[number - 1]) + len(dashed) - 1 if number else start
        old.setdefault(_hashable(item), text[dash:end])
        if number:
            comments.append(_whole_lines(text[ends[number - 1] : dash]))
    in_flow = bool(getattr(items[0], "flow_style", True))
    indent = " " * column
    parts: list[str] = []
    for number, content in enumerate(contents):
        key = _hashable(content)
        new = f"- {_item(content, column + 2, in_flow, newline)}{notes.get(key, '')}"
        item = old.get(key) or new
        above = comments[number] if number < len(comments) else ""
        parts.append(f"{above}{indent if number else ''}{item}")
    left = "".join(comments[len(contents) :])
    below = f"{newline}{left}".rstrip("\r\n") if left else ""
    return f"{text[:start]}{newline.join(parts)}{below}{text[ends[-1] :]}"


def _whole_lines(between: str) -> str:
    """Return the whole lines between two items: comments and blank lines."""
    rest = between.partition("\n")[2]
    return rest[: rest.rfind("\n") + 1]


def _end(node: yaml.Node) -> int:
    """Return where a node ends; the mark of a block lies behind the comments below it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_end(text: str, start: int) -> int:
    match = re.compile(r"[^\r\n]*").match(text, start)
    return match.end() if match else len(text)


def _block(contents: Sequence[Any], notes: Notes, column: int, newline: str) -> str:
    return "".join(
        f"{newline}{' ' * column}- {flow_text(content)}{notes.get(_hashable(content), '')}"
        for content in contents
    )


def _item(content: Any, column: int, in_flow: bool, newline: str) -> str:
    """Return an effort in one line, or a line for each of its keys."""
    if in_flow:
        return flow_text(content)
    lines = [f"{plain_yaml_text(str(key))}: {flow_text(value)}" for key, value in content.items()]
    return f"{newline}{' ' * column}".join(lines)


def _hashable(item: Any) -> Any:
    """Return an effort, a YAML node or its content, as a hashable value."""
    if isinstance(item, yaml.Node):
        item = yaml.SafeLoader("").construct_document(item)
    if isinstance(item, Mapping):
        return tuple(sorted((str(key), _hashable(value)) for key, value in item.items()))
    if isinstance(item, (list, tuple)):
        return tuple(map(_hashable, item))
    return (type(item).__name__, str(item))
