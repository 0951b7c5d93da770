"""Write docs/reference: spec keys, macros, relations and commands, each from its own source.

Spec keys come from the JSON schema of the validated model, macros from the YAML beside them,
relations from their registry, commands from their help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer
import yaml

from dbt_anonymize.cli.main import app, commands
from dbt_anonymize.extension import extensions
from dbt_anonymize.project.properties import Column, describe, describe_all, description_context
from dbt_anonymize.project.steps import steps_of
from dbt_anonymize.relations import ALL, HISTORY, KEPT, SHARED, Relation
from dbt_anonymize.spec import Quality, Spec
from dbt_anonymize.spec.efforts import Effort, is_shorthand
from dbt_anonymize.spec.json_schema import json_schema

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/make_reference.py (`make reference`); edit what it reads. -->"


def page(title: str, introduction: str, parts: Iterable[str]) -> str:
    """Return a page that says that it is generated."""
    return "\n\n".join([f"# {title}", NOTE, introduction, *parts]) + "\n"


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell(text) for text in line)} |" for line in lines)


def cell(text: str) -> str:
    """Return a text that no cell ends within."""
    return " ".join(escaped(text).split()).replace("|", "\\|")


def escaped(text: str) -> str:
    """Return a text in which `<n>` outside of code is no tag, and a * is no mark."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"<(?=[a-z])", "&lt;", part).replace("*", "\\*")
        for part in parts
    )


def spec_page() -> str:
    """Return the keys of a spec, a section per mapping."""
    schema = json_schema()
    introduction = (
        "Every key of `anonymizations/<name>.yml`. Editors complete and check them by the schema "
        "that `dbt-anonymize init` writes beside the spec; `dbt-anonymize schema` prints it. "
        "[An example](../by_hand.md#4-declare) is among the steps by hand. A key without a default "
        "that is not required is left out, or `null`."
    )
    return page("Spec keys", introduction, _sections(schema))


def _sections(schema: dict[str, Any]) -> Iterator[str]:
    titles = _titles(schema)
    for definition, title in titles.items():
        content = schema["$defs"][definition] if definition else schema
        rows = [
            (
                f"`{key}`",
                _type(of_key, titles),
                _necessity(key, content) or _default(of_key),
                of_key.get("description") or _described(of_key, schema),
            )
            for key, of_key in content["properties"].items()
        ]
        body = table(("key", "type", "default", "effect"), rows)
        said = escaped(content["description"].replace("``", "`"))
        yield f"## {title}\n\n{said}\n\n{body}" if definition else f"## The spec\n\n{body}"


def _titles(schema: dict[str, Any]) -> dict[str, str]:
    """Return the heading of each mapping: its key, with that above where two have one name."""
    titles = {"": "The spec"}
    waiting = [""]
    while waiting:
        above = waiting.pop(0)
        content = schema["$defs"][above] if above else schema
        for key, of_key in content["properties"].items():
            named = list(_references(of_key))
            # What a mapping beside it has too is named by its key there.
            inner = {part for one in named for part in _references(schema["$defs"][one])}
            for found in named:
                if found not in titles and found not in inner:
                    taken = key in titles.values()
                    titles[found] = f"{key} of {titles[above]}" if taken else key
                    waiting.append(found)
    return titles


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        for item in node.values():
            yield from _references(item)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _described(node: dict[str, Any], schema: dict[str, Any]) -> str:
    found = next(_references(node), None)
    return schema["$defs"][found]["description"].split("\n\n")[0] if found else ""


def _type(node: dict[str, Any], titles: dict[str, str]) -> str:  # noqa: PLR0911 (a case each)
    if "$ref" in node:
        title = titles[node["$ref"].rpartition("/")[2]]
        return f"[{title}](#{title.replace(' ', '-')})"
    if "anyOf" in node:
        types = [_type(one, titles) for one in node["anyOf"] if one != {"type": "null"}]
        if "number" in types:
            types = [one for one in types if one != "whole number"]
        if types[1:] == [f"list of {types[0]}"]:
            return f"{types[0]}, or a list of them"
        return " or ".join(dict.fromkeys(types))
    if "enum" in node:
        return " · ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{str(node['const']).lower()}`"
    kind = node.get("type")
    if kind == "array":
        number = f"{node['minItems']} " if "maxItems" in node else ""
        return f"list of {number}{_type(node['items'], titles)}"
    if kind == "object":
        values = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
        return f"mapping of names to {_type(values[0], titles)}"
    names = {"string": "text", "integer": "whole number", "number": "number"}
    if kind not in names:
        return "true or false" if kind == "boolean" else "anything"
    return " ".join([names[kind], *_range(node)])


def _range(node: dict[str, Any]) -> Iterator[str]:
    words = {
        "minimum": ">=",
        "exclusiveMinimum": ">",
        "maximum": "<=",
        "exclusiveMaximum": "<",
    }
    if {"minimum", "maximum"} <= {*node}:
        yield f"{node['minimum']:,g} to {node['maximum']:,}"
        return
    limits = [f"{sign} {node[key]:g}" for key, sign in words.items() if key in node]
    if limits:
        yield ", ".join(limits)


def _necessity(key: str, content: dict[str, Any]) -> str:
    """Say that a key is required, or without which others; nothing of one that is not."""
    if key in content.get("required", ()):
        return "required"
    first, *others = content.get("anyOf", [{}])
    if key not in first.get("required", ()):
        return ""
    return (
        f"required without {', '.join(f'`{name}`' for one in others for name in one['required'])}"
    )


def _default(node: dict[str, Any]) -> str:
    value = node.get("default")
    # Those of a mapping are in its section.
    if value is None or value in ("", [], {}) or "$ref" in node:
        return ""
    written = yaml.safe_dump(value, default_flow_style=True).removesuffix("\n...\n").strip()
    return f"`{written}`"


# --- macros -----------------------------------------------------------------------------------

TOPICS = {
    "privacy": "Privacy models",
    "risk": "Risk",
    "information_loss": "Information loss",
    "hierarchies": "Hierarchies",
    "generalization": "Generalization",
    "recoding": "Recoding",
    "masks": "Masks",
    "results": "Results",
    "generic_tests": "dbt tests",
    "release": "Release",
    "vault": "Vault",
    "seeds": "Seeds",
    "relations": "Bodies of generated models",
    **{one.name: f"{one.name.capitalize()}, an extension" for one in extensions()},
}


def macros_page() -> str:
    """Return the public macros by topic."""
    introduction = (
        "What a model of yours can call as `{{ dbt_anonymize.<macro>(...) }}`, and the dbt tests "
        "of the package. Bodies of generated models take one mapping, which is written for you. "
        "Each privacy model has a [page](../models/README.md)."
    )
    files = {path: _macros(path) for path in sorted((ROOT / "macros").rglob("*.yml"))}
    known = {path.parent.name for path, macros in files.items() if macros}
    assert known <= {*TOPICS}, known - {*TOPICS}
    return page("Macros", introduction, _topics(files))


def _macros(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["macros"]
    return found


def _topics(files: dict[Path, list[dict[str, Any]]]) -> Iterator[str]:
    for folder, title in TOPICS.items():
        macros = [m for path, found in files.items() if path.parent.name == folder for m in found]
        public = [macro for macro in macros if not macro["name"].startswith("_")]
        if public:
            yield f"## {title}"
            yield from map(_macro, public)


def _macro(macro: dict[str, Any]) -> str:
    name = macro["name"]
    is_test = name.startswith("test_")
    heading = f"### {name.removeprefix('test_')} (dbt test)" if is_test else f"### {name}"
    parts = [heading, escaped(" ".join(macro["description"].split()))]
    keys = macro.get("config", {}).get("meta", {}).get("keys")
    rows = [
        (f"`{one['name']}`", str(one.get("type", "")), one["description"])
        for one in keys or macro.get("arguments", [])
    ]
    if rows:
        parts.append(table(("key" if keys else "argument", "type", "meaning"), rows))
    return "\n\n".join(parts)


# --- relations --------------------------------------------------------------------------------

# A spec, and changes of it for what excludes each other.


def _is_known(effort: dict[str, Any]) -> bool:
    return is_shorthand(effort) or {*effort} <= {*Effort.model_fields}


def _known(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out the keys of extensions that are not here."""
    known = {key: value for key, value in content.items() if key in Spec.model_fields}
    if quality := known.get("quality"):
        known["quality"] = {k: v for k, v in quality.items() if k in Quality.model_fields}
    return known


_DECLARED, _VARIANTS = yaml.safe_load(
    (ROOT / "scripts" / "reference_example.yml").read_text(encoding="utf-8")
).values()
EXAMPLE = _known(_DECLARED)
VARIANTS = [_known(variant) for variant in _VARIANTS]
for _variant in VARIANTS:
    if "efforts" in _variant:
        _variant["efforts"] = [one for one in _variant["efforts"] if _is_known(one)]
# A key without a value is left out.
EXAMPLES = [
    {key: value for key, value in {**EXAMPLE, **variant}.items() if value is not None}
    for variant in VARIANTS
]
READERS = {"vault": "custodians", "release": "whoever reads the release"}


def relations_page() -> str:
    """Return the relations of the registry, with the columns that they have in any variant."""
    introduction = (
        "`<n>` is the name of an anonymization, `<i>` the number of an effort. Columns are those "
        "of an example: quasi-identifiers `age` (an interval) and `zip` (a category), the "
        "sensitive `diagnosis`, which is the target, the insensitive `income` and the masked "
        "`admitted`. Which relations there are depends on the spec; dbt docs show yours."
    )
    models = _models()
    rows = [
        (
            f"[`{_title(one)}`](#{one.name})" if one.name in models else f"`{_title(one)}`",
            _unnamed(models[one.name][0] if one.name in models else one.text),
            "custodians" if one.custodians is True else READERS.get(one.reader, "analysts"),
            ", ".join(one.built_from),
        )
        for one in (ALL | SHARED).values()
    ]
    overview = table(("relation", "content", "readers", "made from"), rows)
    parts = (_relation((ALL | SHARED)[name], *found) for name, found in models.items())
    return page("Relations", introduction, [overview, *parts])


def _models() -> dict[str, tuple[str, dict[str, Column]]]:
    """Return text and columns of each relation that has columns."""
    found: dict[str, tuple[str, dict[str, Column]]] = {}
    for spec in map(Spec.model_validate, EXAMPLES):
        context = description_context(spec)
        kept = (describe(one, name, context) for name, one in KEPT.items() if one.columns)
        history = describe(SHARED[HISTORY], HISTORY, {})
        for one in (*describe_all(spec, steps_of(spec)), *kept, history):
            if one.name != "example_effort_0":
                _, columns = found.setdefault(one.relation.name, (one.text, {}))
                for column in one.columns:
                    columns.setdefault(column.name, column)
    order = list(ALL | SHARED)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0])))


def _unnamed(text: str) -> str:
    text = re.sub(r"\bexample_(?=\w)|<< spec.name >>_", "<n>_", text)
    return re.sub(r"\bof example\b", "of `<n>`", text)


def _title(relation: Relation) -> str:
    own = relation.name if relation.name in SHARED else f"<n>_{relation.name}"
    return f"{own}_<i>" if relation.per else f"{own}_<table>" if relation.each else own


def _relation(relation: Relation, text: str, columns: dict[str, Column]) -> str:
    rows = [(f"`{one.name}`", one.type, _unnamed(one.text)) for one in columns.values()]
    heading = f"## {relation.name}\n\n`{_title(relation)}`: {escaped(_unnamed(text))}"
    return f"{heading}\n\n{table(('column', 'type', 'content'), rows)}"


def commands_page() -> str:
    """Return the commands with their arguments and options."""
    introduction = (
        "`dbt-anonymize <command> --help` shows the same. Exit codes: 0 fine, 1 a check failed, 2 "
        "bad input."
    )
    group: Any = typer.main.get_command(app)
    known = {name: group.get_command(None, name) for name in commands()}
    whole = {
        f"{name} {part}".strip(): command
        for name, found in known.items()
        for part, command in getattr(found, "commands", {"": found}).items()
    }
    return page("Commands", introduction, (_command(n, c) for n, c in whole.items()))


def _command(name: str, command: Any) -> str:
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    usage = " ".join([name, *(_placeholder(one) for one in arguments), "[OPTIONS]"])
    parts = [f"## {name}", f"```text\ndbt-anonymize {usage}\n```"]
    parts += [escaped(" ".join(text.split())) for text in command.help.split("\n\n")]
    rows = [
        (_written(one), _choices(one), _value(one.default), one.help or "")
        for one in command.params
        if not getattr(one, "hidden", False)
    ]
    parts.append(table(("argument or option", "values", "default", "effect"), rows))
    return "\n\n".join(parts)


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _written(parameter: Any) -> str:
    if not parameter.opts[0].startswith("-"):
        return f"`{_placeholder(parameter)}`"
    return ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _choices(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return " · ".join(f"`{one.value}`" for one in kind)
    return ""


def _value(default: object) -> str:
    value = default.value if isinstance(default, Enum) else default
    return "" if value is None or value is False or value == () else f"`{value}`"


PAGES: dict[str, Callable[[], str]] = {
    "spec.md": spec_page,
    "macros.md": macros_page,
    "relations.md": relations_page,
    "commands.md": commands_page,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, written in PAGES.items():
        (FOLDER / name).write_text(written(), encoding="utf-8", newline="\n")
