"""The spec of a search, whose efforts and new hierarchies need not be there yet.

A change of roles or guarantees outdates efforts that a search would replace anyway, so they do not
stop it. What no search finds stays: efforts of other kinds, and all of a frozen release.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.search.declared import with_outdated_efforts
from dbt_anonymize.project_file import project_folder
from dbt_anonymize.spec import Spec, load_spec
from dbt_anonymize.spec.draft import items, mapping, text
from dbt_anonymize.spec.efforts import is_shorthand
from dbt_anonymize.validation import MOST_LEVELS

# Keys of efforts that searches write: levels, also of linked tables, or rounds of them.
_LEVELS, _ROUNDS = frozenset({"levels", "linked", "k"}), frozenset({"recoding", "rounds", "k"})
# Folders with copies of the files of a project.
_COPIES = frozenset({"target", "dbt_packages"})


@dataclass(frozen=True)
class Unwritten:
    """A hierarchy of which the seed, or the key of the column, is not written yet."""

    ref: str
    is_declared: bool = True
    has_seed: bool = False


@dataclass(frozen=True)
class Searched:
    """A spec to search, and by column the hierarchies that nobody wrote yet."""

    spec: Spec
    unwritten: Mapping[str, Unwritten] = field(default_factory=dict)


def load_to_search(path: Path) -> Searched:
    """Return the spec of a file, without efforts that would stop the search that replaces them.

    Everything else that is wrong is a `SpecError`, and so are efforts that no search finds again.
    """
    try:
        return Searched(load_spec(path))
    except SpecError as error:
        every_problem = error
    changed = _Changed(path)
    with contextlib.suppress(SpecError):
        return Searched(load_spec(path, changed.without_seeds), changed.unwritten)
    with contextlib.suppress(SpecError):
        spec = load_spec(path, lambda raw: changed.without_seeds(changed.without_efforts(raw)))
        return Searched(with_outdated_efforts(spec), changed.unwritten)
    if not changed.keeps_efforts:  # else their numbers would be wrong
        load_spec(path, changed.without_efforts)
    raise every_problem


def is_found_by_searches(effort: object) -> bool:
    """Tell whether an effort, as a spec writes it, has nothing that only people decide.

    Examples
    --------
    >>> is_found_by_searches({"age": 2}), is_found_by_searches({"levels": {"age": 2}, "k": 9})
    (True, True)
    >>> is_found_by_searches({"recoding": "clustering"})
    False
    >>> is_found_by_searches({"age": {"level": 2, "show": "mean"}})
    False
    """
    content = mapping(effort)
    if is_shorthand(content):
        return bool(content) and not any(isinstance(level, Mapping) for level in content.values())
    if content.get("recoding") == "local":
        return content.keys() <= _ROUNDS
    return content.keys() <= _LEVELS and is_found_by_searches(content.get("levels"))


class _Changed:
    """Changes of the content of a spec, with what they left out."""

    def __init__(self, path: Path) -> None:
        self._root = project_folder(path.resolve().parent)
        self.keeps_efforts = False
        self.unwritten: dict[str, Unwritten] = {}

    def without_efforts(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return the content without the efforts that a search replaces."""
        efforts = items(raw.get("efforts"))
        is_frozen = raw.get("freeze") is True
        kept = [one for one in efforts if is_frozen or not is_found_by_searches(one)]
        self.keeps_efforts = bool(kept)
        changed = {**raw, "efforts": kept}
        if kept and kept != efforts:
            # A number is that of an effort of the whole list; writing looks for it there.
            changed["release"] = {**mapping(raw.get("release")), "effort": "auto"}
        return changed

    def without_seeds(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return the content with levels for hierarchies that nobody wrote yet."""
        columns = dict(mapping(raw.get("columns")))
        for name, column in columns.items():
            tree = mapping(mapping(column).get("hierarchy"))
            ref = text(tree.get("ref"))
            if ref and tree.get("levels") is None and self._is_unwritten(ref):
                self.unwritten[str(name)] = Unwritten(ref)
            elif not tree and mapping(column).get("role") == "quasi_identifier":
                plain = re.sub(r"[^a-z0-9]+", "_", str(name).lower()).strip("_")
                ref = f"{raw.get('name')}_hierarchy_{plain}"
                has_seed = not self._is_unwritten(ref)
                self.unwritten[str(name)] = Unwritten(ref, is_declared=False, has_seed=has_seed)
                # A name of no seed, whose levels would count.
                tree, ref = {"kind": "interval"}, f"{ref}_undeclared"
            else:
                continue
            columns[name] = {**column, "hierarchy": {**tree, "ref": ref, "levels": MOST_LEVELS}}
        return {**raw, "columns": columns} if self.unwritten else raw

    def _is_unwritten(self, ref: str) -> bool:
        """Tell whether no file of the project is a seed or model of that name."""
        if self._root is None:
            return False
        root = self._root
        files = (path for kind in ("csv", "sql", "py") for path in root.rglob(f"{ref}.{kind}"))
        return all(_COPIES & {*path.relative_to(root).parts} for path in files)
