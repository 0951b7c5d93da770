"""An ordinary profile, read as dbt reads it: importing dbt takes two seconds.

Ordinary is one with keys that `Plain` of its engine has, and no Jinja but `env_var`. Anything else,
and anything that is wrong, is left to dbt.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from os import environ
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dbt_anonymize.project.engines import known_engine
from dbt_anonymize.project.engines.plain import Credentials
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


class _NotOrdinaryError(Exception):
    """Something that dbt itself must read."""


@dataclass(frozen=True)
class PlainProfile:
    """A profile of the file in a folder, and one of its targets.

    ``default_target`` is used where none is named; None where it is not written out.
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


def _credentials(output: dict[str, Any]) -> Credentials:
    kind = output["type"]
    engine = known_engine(kind)
    if engine is None or engine.PLAIN is None:
        raise _NotOrdinaryError
    plain = engine.PLAIN
    named = {plain.aliases.get(key, key): value for key, value in output.items()}
    if len(named) < len(output):
        raise _NotOrdinaryError
    version(f"dbt-{kind}")
    content = json.dumps(plain.completed(named))
    credentials: Credentials = TypeAdapter[Any](plain.credentials).validate_json(content)
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
