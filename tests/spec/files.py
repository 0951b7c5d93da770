"""Spec files of tests."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import load_spec
from tests.spec.declarations import SPEC as SOUND

# Key path, wrong value (REMOVED: without the key), where the message points, what it must contain.
REMOVED = object()


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the sound spec with one key changed or removed, or several at its top."""
    spec = copy.deepcopy(SOUND)
    if not path and isinstance(value, dict):
        return spec | copy.deepcopy(value)
    *parents, last = path.split(".")
    inner = spec
    for key in parents:
        inner = inner[key]
    if value is REMOVED:
        del inner[last]
    else:
        inner[last] = value
    return spec


def errors_of(path: Path) -> list[str]:
    with pytest.raises(SpecError) as error:
        load_spec(path)
    return str(error.value).splitlines()
