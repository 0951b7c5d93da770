"""An ordinary profile, read as dbt reads it: importing dbt takes two seconds.

Ordinary is one of DuckDB (a local file) or Postgres with the keys below and no Jinja but `env_var`.
Anything else, and anything that is wrong, is left to dbt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from os import environ
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

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
_ALIASES = {"postgres": {"dbname": "database", "pass": "password"}}


class _NotOrdinaryError(Exception):
    """Something that dbt itself must read."""


# With a colon it is a URL, a drive or in memory; what follows ? or # belongs to a URL.
_LocalFile = Annotated[str, Field(pattern=r"^[^:?#\n]+$")]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Scalar = str | int | bool
# dbt-duckdb writes others, and what is in quotes, in its own way.
_Option = Literal["storage_version", "encryption_key", "encryption_cipher", "block_size"]
_Unquoted = Annotated[str, Field(pattern=r"^[^'\"]*$")] | int
_STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_STRICT)
class Attachment:
    """A file of DuckDB beside the warehouse."""

    path: _LocalFile
    alias: _Word | None = None
    type: None = None
    read_only: bool = False
    options: Mapping[_Option, _Unquoted] | None = None


@dataclass(frozen=True, config=_STRICT)
class DuckDB:
    """Credentials of dbt-duckdb."""

    type: Literal["duckdb"]
    # Of other names than <word>.<suffix>, versions of dbt-duckdb make different databases.
    path: Annotated[_LocalFile, Field(pattern=r"(^|/)\w[\w -]*(\.\w+)?$")]
    database: str
    schema: str = "main"
    threads: int = 1
    attach: tuple[Attachment, ...] | None = None
    config_options: Mapping[str, _Scalar] | None = None
    settings: Mapping[_Word, _Scalar] | None = None


@dataclass(frozen=True, config=_STRICT)
class Postgres:
    """Credentials of dbt-postgres."""

    type: Literal["postgres"]
    host: str
    port: Annotated[int, Field(ge=0, le=65535)]
    user: str
    password: str
    database: str
    schema: str
    threads: int = 1
    connect_timeout: int = 10
    keepalives_idle: int = 0
    sslmode: str | None = None


@dataclass(frozen=True)
class PlainProfile:
    """A profile of the file in a folder, and one of its targets.

    ``default_target`` is used where none is named; None where it is not written out.
    """

    folder: Path
    profile_name: str
    target_name: str
    default_target: str | None
    credentials: DuckDB | Postgres


_KINDS: Mapping[str, type[DuckDB | Postgres]] = {"duckdb": DuckDB, "postgres": Postgres}


def plain_profile(
    root: Path, folder: Path, profile: str | None, target: str | None
) -> PlainProfile | None:
    """Return a target of a profile as dbt reads it from a folder; None where dbt must read it.

    ``profile`` is that of dbt_project.yml by default, ``target`` that of the profile.
    """
    try:
        name = profile or _rendered(_yaml(root / "dbt_project.yml")["profile"])
        declared = _yaml(folder / "profiles.yml")[name]
        default = declared.get("target", "default")
        chosen = target or _rendered(default)
        output = _rendered(declared["outputs"][chosen])
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


def _yaml(file: Path) -> dict[str, Any]:
    content, problems = read_yaml(file)
    if problems:
        raise _NotOrdinaryError
    return dict(mapping(content))


def _credentials(output: dict[str, Any]) -> DuckDB | Postgres:
    aliases = _ALIASES.get(output["type"], {})
    named = {aliases.get(key, key): value for key, value in output.items()}
    if len(named) < len(output):
        raise _NotOrdinaryError
    if named["type"] == "duckdb":
        database = Path(named["path"]).name.split(".")[0]
        if named.setdefault("database", database) != database:
            raise _NotOrdinaryError
    version(f"dbt-{named['type']}")
    kind = _KINDS[named["type"]]
    credentials: DuckDB | Postgres = TypeAdapter[Any](kind).validate_json(json.dumps(named))
    return credentials


def _rendered(value: Any) -> Any:
    """Return what dbt makes of a value, with its environment variables."""
    if isinstance(value, dict):
        return {key: _rendered(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rendered(one) for one in value]
    if not isinstance(value, str):
        return value
    # Jinja takes a last line break away.
    if "\n" in value or _JINJA.search(_ENV_VAR.sub("", value)):
        raise _NotOrdinaryError
    if (whole := _ENV_VAR.fullmatch(value)) and whole["number"]:
        if not _WHOLE_NUMBER.fullmatch(_variable(whole)):
            raise _NotOrdinaryError
        return int(_variable(whole))
    return _ENV_VAR.sub(_variable, value)


def _variable(found: re.Match[str]) -> str:
    if found["number"] and found[0] != found.string:
        raise _NotOrdinaryError
    text = environ.get(found["name"], found["default"])
    if text is None:
        raise _NotOrdinaryError
    return text
