"""CONTRIBUTING names what there is: folders, files, targets of the Makefile, tests to run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from dbt_anonymize.extension import extensions
from tests.projects import REPOSITORY

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = ("macros", "python/dbt_anonymize")
EXTENSIONS = {one.name for one in extensions()}


def _is_expected(path: str) -> bool:
    """Tell whether a path is of the core or of an extension that is there."""
    found = re.search(r"extensions/(\w+)(?:/|$)", path)
    return found is None or found[1] in EXTENSIONS


PATHS = filter(_is_expected, re.findall(r"`((?:macros|python|tests|docs|scripts)/[\w./]+)`", PAGE))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_tables_name_each_folder(folder: str) -> None:
    (table,) = re.findall(rf"^\| `{folder}/` \| \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.M)
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    folders = {path.name for path in (REPOSITORY / folder).iterdir() if path.is_dir()}
    assert named == folders - {"__pycache__"}


@pytest.mark.parametrize("path", dict.fromkeys(PATHS))
def test_a_path_exists(path: str) -> None:
    assert (REPOSITORY / path).exists()


def test_targets_are_those_of_the_makefile() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.M))
    named = set(re.findall(r"^make ([\w-]+)|`make ([\w-]+)`", PAGE, re.M))
    assert {one or other for one, other in named} <= targets


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", range(3))
def test_a_command_for_one_test_finds_tests(number: int) -> None:
    commands = re.findall(r"^\.venv/bin/pytest (.*?) *#", PAGE, re.M)
    assert len(commands) == 3
    arguments = ["-m", "pytest", "--collect-only", *shlex.split(commands[number])]
    done = subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, check=False)
    assert done.returncode == 0, commands[number]
