"""The JSON schema of a spec: editors complete keys with it, explain them and mark mistakes.

It accepts every spec that `load_spec` accepts, but knows no rules between keys.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import json
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema

from dbt_anonymize.spec.loading import FOLDER
from dbt_anonymize.spec.models import Spec

# Beside the specs, so that an editor finds it without a connection.
SCHEMA_FILE = "spec.schema.json"
# The comment by which editors with a YAML language server find it.
MODELINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
# The draft that the YAML language server reads.
_DIALECT = "http://json-schema.org/draft-07/schema#"


class _WithDescriptions(GenerateJsonSchema):
    """Describes keys by the docstrings below them."""

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        json_schema = super().model_schema(schema)
        described = {
            name: text
            for kind in reversed(schema["cls"].__mro__)
            for name, text in _docstrings(kind)
        }
        for name, field in schema["cls"].model_fields.items():
            key = field.alias or name
            if name in described and key in json_schema.get("properties", {}):
                json_schema["properties"][key]["description"] = described[name]
        return json_schema


@functools.cache
def _docstrings(kind: type) -> tuple[tuple[str, str], ...]:
    """Return the attributes that a class itself declares, with their docstrings."""
    docstrings = []
    with contextlib.suppress(OSError, TypeError):  # class without source code
        (declared,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        assert isinstance(declared, ast.ClassDef)
        for statement, below in pairwise(declared.body):
            match statement, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    docstrings.append((name, inspect.cleandoc(text)))
    return tuple(docstrings)


def json_schema() -> dict[str, Any]:
    """Return the schema of a spec, with a description of every key.

    Examples
    --------
    >>> json_schema()["properties"]["choose"]["default"]
    'max_q'
    """
    schema: dict[str, Any] = _plain(
        Spec.model_json_schema(mode="validation", schema_generator=_WithDescriptions)
    )
    # What an extension fills in where one of its keys stands is needed only without that key.
    spared: dict[str, tuple[str, ...]] = {}
    for kind in Spec.__mro__:
        spared |= vars(kind).get("SPARED", {})
    filled_in = {name for names in spared.values() for name in names}
    if needed := [name for name in schema["required"] if name in filled_in]:
        schema["required"] = [name for name in schema["required"] if name not in needed]
        schema["anyOf"] = [{"required": needed}, *({"required": [key]} for key in spared)]
    return {"$schema": _DIALECT, "title": "Spec of dbt-anonymize", **schema}


def schema_text() -> str:
    """Return the schema as it is written into a project."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def write_schema(root: Path) -> Path:
    """Write the schema beside the specs of a project, and return where it is."""
    path = root / FOLDER / SCHEMA_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(schema_text(), encoding="utf-8", newline="\n")
    return path.relative_to(root)


def _plain(node: Any, *, are_names: bool = False) -> Any:
    """Return a schema without titles, which repeat keys, and without absent defaults.

    Keys of a mapping of names are words of users, not of JSON schema.
    """
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if are_names:
        return {name: _plain(item) for name, item in node.items()}
    plain = {
        key: _plain(item, are_names=key in {"properties", "$defs"})
        for key, item in node.items()
        if key != "title" and not (key == "default" and item is None)
    }
    if "description" in plain:
        plain["description"] = _description(plain["description"])
    # Draft 7 has another word for tuples; ours are of one type.
    for item in plain.pop("prefixItems", [])[:1]:
        plain["items"] = item
    return plain


def _description(docstring: str) -> str:
    paragraphs = docstring.partition("\n\nExamples\n")[0].split("\n\n")
    return "\n\n".join(" ".join(text.split()) for text in paragraphs).replace("``", "`")
