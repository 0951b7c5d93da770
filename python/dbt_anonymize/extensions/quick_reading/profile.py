"""An ordinary profile, read as dbt reads it: importing dbt takes two seconds.

An ordinary profile has only keys of the `Plain` of its engine, and no Jinja but `env_var`. Others,
and malformed ones, are left to dbt.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from os import environ
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter

from dbt_anonymize.extensions.quick_reading.plain_duckdb import DUCKDB, PLAIN
from dbt_anonymize.project.engines import find_server
from dbt_anonymize.project.engines.plain import Plain
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.yaml_file import read_yaml

_JINJA = re.compile(r"\{[{%#]")
# A default is a word without quotes, braces and backslashes; `| int` makes a whole value a number.
_ENV_VAR = re.compile(
    r"\{\{ *env_var\( *(?P<quote>['\"])(?P<name>\w+)(?P=quote)"
    r" *(?:, *(?P<by>['\"])(?P<default>[^'\"{}\\\n]*)(?P=by) *)?\) *"
    r"(?P<number>\| *(?:int|as_number) *)?\}\}"
)
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)


class Credentials(Protocol):
    """Part that the credentials of all engines share."""

    @property
    def type(self) -> str:
        """The type of the adapter."""

    @property
    def database(self) -> str:
        """Database of relations that have none of their own."""

    @property
    def schema(self) -> str:
        """Schema of relations that have none of their own."""


class _NotOrdinaryError(Exception):
    """Something that dbt itself must read."""


@dataclass(frozen=True)
class PlainProfile:
    """A profile of the file in a folder, and one of its targets.

    ``default_target`` is used where none is named; None if Jinja computes it.
    """

    folder: Path
    profile_name: str
    target_name: str
    default_target: str | None
    credentials: Credentials


def plain_profile(
    root: Path, folder: Path, profile: str | None, target: str | None
) -> PlainProfile | None:
    """Return a target of a profile as dbt reads it from a folder; None where dbt must read it.

    ``profile`` is that of dbt_project.yml by default, ``target`` that of the profile.
    """
    try:
        name = profile or _render(_yaml(root / "dbt_project.yml")["profile"])
        declared = _yaml(folder / "profiles.yml")[name]
        default = declared.get("target", "default")
        chosen = target or _render(default)
        output = _render(declared["outputs"][chosen])
        credentials = _credentials(output)
        return PlainProfile(
            folder=folder,
            profile_name=name,
            target_name=chosen,
            default_target=None if _JINJA.search(default) else default,
            credentials=credentials,
        )
    except (
        _NotOrdinaryError, ValueError, KeyError, TypeError, AttributeError, PackageNotFoundError,
    ):  # fmt: skip
        return None


def plain_of(kind: str) -> Plain:
    """Return the reader of an engine; an error where it has none."""
    if kind == DUCKDB:
        return PLAIN
    server = find_server(kind)
    if server is None or server.PLAIN is None:
        raise _NotOrdinaryError
    return server.PLAIN


def _yaml(file: Path) -> dict[str, Any]:
    content, problems = read_yaml(file)
    if problems:
        raise _NotOrdinaryError
    return dict(mapping(content))


def _credentials(output: dict[str, Any]) -> Credentials:
    kind = output["type"]
    plain = plain_of(kind)
    keys = {plain.aliases.get(key, key): value for key, value in output.items()}
    if len(keys) < len(output):
        raise _NotOrdinaryError
    version(f"dbt-{kind}")
    content = json.dumps(plain.completed(keys))
    credentials: Credentials = TypeAdapter[Any](plain.credentials).validate_json(content)
    return credentials


def _render(value: Any) -> Any:
    """Return a value as dbt renders it, with environment variables."""
    if isinstance(value, dict):
        return {key: _render(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_render(item) for item in value]
    if not isinstance(value, str):
        return value
    # Jinja removes a trailing line break.
    if "\n" in value or _JINJA.search(_ENV_VAR.sub("", value)):
        raise _NotOrdinaryError
    if (match := _ENV_VAR.fullmatch(value)) and match["number"]:
        if not _WHOLE_NUMBER.fullmatch(_variable(match)):
            raise _NotOrdinaryError
        return int(_variable(match))
    return _ENV_VAR.sub(_variable, value)


def _variable(match: re.Match[str]) -> str:
    if match["number"] and match[0] != match.string:
        raise _NotOrdinaryError
    text = environ.get(match["name"], match["default"])
    if text is None:
        raise _NotOrdinaryError
    return text
