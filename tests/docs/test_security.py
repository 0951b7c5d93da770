"""Every promise of SECURITY.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.extension import extensions
from tests.projects import REPOSITORY

PROMISE = re.compile(r"^\| (?P<promise>[^|]+) \| (?P<tests>.*tests/.*) \|$", re.MULTILINE)
NAMED = re.compile(r"`((?:tests/|test_)[\w/.]+)(?:::(\w+))?`")


def promises() -> dict[str, str]:
    text = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    section = text.split("## Promises, and the tests that show them")[1].split("\n## ")[0]
    return {found["promise"]: found["tests"] for found in PROMISE.finditer(section)}


def test_promises_are_found() -> None:
    assert len(promises()) > 10


def is_of_another_extension(path: Path) -> bool:
    """Tell whether a test is of an extension that is not here."""
    place = path.relative_to(REPOSITORY).parts
    here = {one.name for one in extensions()}
    folder, name = place[:2], Path(*place[2:3])
    return folder == ("tests", "extensions") and not name.suffix and str(name) not in here


@pytest.mark.parametrize("promise", promises())
def test_a_promise_names_tests_that_exist(promise: str) -> None:
    folder = REPOSITORY
    named = NAMED.findall(promises()[promise])
    assert named
    for name, function in named:
        # A file without a folder is beside the one before it.
        path = REPOSITORY / name if name.startswith("tests/") else folder / name
        if is_of_another_extension(path):
            pytest.skip("its extension is not here")
        assert path.exists(), name
        folder = path.parent
        assert not function or f"def {function}(" in path.read_text(encoding="utf-8"), function
