"""Copies of the project without an extension and those that need it, or without any."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from dbt_anonymize.extension import extensions
from dbt_anonymize.relations import MODELS
from scripts.make_index import DOCS, needed
from tests.projects import REPOSITORY

REGISTRY = Path("python") / "dbt_anonymize" / "extension.py"
UNIT_TESTS = Path("tests") / "consumer_project" / "models" / "unit_tests.yml"
PLACES = (
    "python/dbt_anonymize/extensions",
    "macros/extensions",
    "tests/extensions",
    "docs/extensions",
)


def with_dependents(name: str) -> set[str]:
    """Return an extension and those that need it.

    Examples
    --------
    >>> with_dependents("nobody_needs_it")
    {'nobody_needs_it'}
    """
    found = {name}
    while more := {one.name for one in extensions() if found & {*one.needs}} - found:
        found |= more
    return found


def with_needs(name: str) -> set[str]:
    """Return an extension and those that it needs.

    Examples
    --------
    >>> with_needs("needs_nobody")
    {'needs_nobody'}
    """
    found, waiting = {name}, [name]
    while waiting:
        needed = {more for one in extensions() if one.name == waiting[0] for more in one.needs}
        waiting = [*waiting[1:], *(needed - found)]
        found |= needed
    return found


def separating_sets() -> list[set[str]]:
    """Return sets of extensions to be pulled out together, each with those that need it.

    Of any two extensions the one is in a set without the other, unless the other needs it: so each
    is once there without each. Of the sets that are left, the next separates the most pairs.
    """
    closed = {one.name: with_dependents(one.name) for one in extensions()}
    pairs = {(gone, there) for gone in closed for there in closed if there not in closed[gone]}
    found: list[set[str]] = []
    while pairs:
        chosen: set[str] = set()
        while True:
            larger = [chosen | of for of in closed.values()]
            best = max(larger, key=lambda one: _separated(pairs, one))
            if _separated(pairs, best) <= _separated(pairs, chosen):
                break
            chosen = best
        found.append(chosen)
        pairs = {(gone, there) for gone, there in pairs if gone not in chosen or there in chosen}
    return found


def _separated(pairs: Collection[tuple[str, str]], chosen: Collection[str]) -> int:
    return sum(gone in chosen and there not in chosen for gone, there in pairs)


def keys_of(gone: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys that extensions add to a spec: their part of it, and their name."""
    for one in (one for one in extensions() if one.name in gone):
        for part, model in one.keys.items():
            yield from ((part, key) for key in one.load(model).model_fields)
        yield from (("guarantees.", name) for name in one.privacy_models)


def remove_keys(keys: Collection[str], folder: Path) -> None:
    """Take keys out of all specs of a copy, and specs that release nothing then, with their models.

    Their seeds stay: they need no extension.
    """
    for file in folder.rglob("anonymizations/*.yml"):
        text = file.read_text("utf-8")
        content = yaml.safe_load(text)
        kept = {key: value for key, value in content.items() if key not in keys}
        if kept != content and "guarantees" not in kept:
            file.unlink()
            shutil.rmtree(file.parents[1] / "models" / file.stem)
        elif kept != content:
            # The rest stays as it is written: tests edit it.
            removed = "|".join(map(re.escape, content.keys() - kept.keys()))
            text = re.sub(rf"^(?:{removed}):.*\n(?:[ -].*\n)*", "", text, flags=re.MULTILINE)
            assert yaml.safe_load(text) == kept
            file.write_text(text, encoding="utf-8")


def remove_unit_tests(gone: Collection[str], folder: Path) -> None:
    """Take unit tests of relations of extensions out of a copy, and what others give for these."""
    refs = {f"ref('customers_{name}')" for name, of in MODELS.items() if of.extension in gone}
    file = folder / UNIT_TESTS
    content = yaml.safe_load(file.read_text("utf-8"))
    content["unit_tests"] = [
        {**one, "given": [given for given in one["given"] if given["input"] not in refs]}
        for one in content["unit_tests"]
        if f"ref('{one['model']}')" not in refs
    ]
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


@dataclass(frozen=True)
class PulledOut:
    """A copy in which some extensions are gone."""

    folder: Path
    gone: Collection[str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python on the copy, as if by hand."""
        # Byte code is written once for all that run; tests of the copy take samples.
        dropped = {"PYTHONDONTWRITEBYTECODE", "DBT_ANONYMIZE_FULL"}
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTEST_") and name not in dropped
        }
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment | {"PYTHONPATH": str(self.folder / "python")},
            capture_output=True,
            text=True,
            check=False,
        )


def pull_out(gone: Collection[str], folder: Path) -> PulledOut:
    """Copy what git knows, and delete folders, registry lines, and pages that go with them."""
    pages = {page for page in DOCS.rglob("*.md") if needed(page) & gone}
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for path in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / path).is_file() and REPOSITORY / path not in pages:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / path, folder / path)
    for place in PLACES:
        for one in gone:
            shutil.rmtree(folder / place / one, ignore_errors=True)
    remove_keys({f"{part}{key}" for part, key in keys_of(gone)}, folder)
    remove_unit_tests(gone, folder)
    registry = folder / REGISTRY
    lines = "|".join(f'    "{one}",\n' for one in gone)
    registry.write_text(re.sub(lines, "", registry.read_text("utf-8")), encoding="utf-8")
    return PulledOut(folder, gone)
