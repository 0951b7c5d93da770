"""Hierarchies that a search needs and nobody wrote yet, with the commands that write them."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import AnonymizeError, SearchError
from dbt_anonymize.extensions.search.source import rebuild
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec.hierarchy_levels import command_for

if TYPE_CHECKING:
    from dbt_anonymize.cli.place import Place
    from dbt_anonymize.extensions.search.outdated import Unwritten
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

# Whole numbers of so few values are leaves of their own, as in drafts.
_FEW_INTEGERS = 13
_NUMBERS = re.compile(r"int|decimal|numeric|float|double|real|number", re.IGNORECASE)
_DATES = re.compile(r"date|timestamp", re.IGNORECASE)


@dataclass(frozen=True)
class _Way:
    """A kind of hierarchy that fits a column, and its builder."""

    kind: str
    builder: str


def check_written(place: Place, spec: Spec, path: Path, unwritten: Mapping[str, Unwritten]) -> None:
    """Raise a `SearchError` that says how to write the hierarchies, and what comes then."""
    if not unwritten:
        return
    ways = _ways(place, spec, unwritten)
    folder = place.relative_name(place.project.seeds)
    lines = []
    for name, one in unwritten.items():
        command, way = command_for(path, one.ref), ways.get(name)
        if command is None and way is not None:
            command = (
                f"dbt-anonymize hierarchy {way.builder} {_relation(spec)} "
                f"--column {shlex.quote(name)} -o {folder}/{one.ref}.csv"
            )
        steps = []
        if not one.is_declared:
            kind = way.kind if way else "interval or categorical"
            steps.append(f"add `hierarchy: {{ref: {one.ref}, kind: {kind}}}` to its column")
        if not one.has_seed:
            lists = f"write {folder}/{one.ref}.csv (`dbt-anonymize hierarchy --help` lists ways)"
            steps.append(f"run `{command}`" if command else lists)
        how = " and ".join(steps)
        lines.append(f"- {name} must have a hierarchy; there is none. {how[0].upper()}{how[1:]}.")
    them = "it" if len(unwritten) == 1 else "them"
    raise SearchError(
        "\n".join(
            [
                f"{spec.name}: a search must have every hierarchy, and the frequencies by it:",
                *lines,
                f"- {spec.name}_frequencies must be built with {them}. {rebuild(spec)}",
                f"Then run `dbt-anonymize search {spec.name}` again.",
            ]
        )
    )


def _relation(spec: Spec) -> str:
    """Return the option of commands that names the source."""
    source = spec.source
    return f"--ref {source.ref}" if source.ref else f"--source {'.'.join(source.source or ())}"


def _ways(place: Place, spec: Spec, unwritten: Mapping[str, Unwritten]) -> dict[str, _Way]:
    """Return the hierarchy of each column whose type says which; none without the source."""
    found: dict[str, _Way] = {}
    with contextlib.suppress(AnonymizeError), place.reading() as warehouse:
        relation = warehouse.relation_of(spec.source)
        types = dict(warehouse.columns(relation))
        for name, one in unwritten.items():
            tree = spec.columns[name].hierarchy
            if tree is None or name not in types:
                continue
            way = _way_of(warehouse, relation, name, types[name].lower())
            if one.is_declared and tree.kind == "categorical":
                way = _Way("categorical", "others")
            if not one.is_declared or way.kind == tree.kind:
                found[name] = way
    return found


def _way_of(warehouse: Warehouse, relation: Any, name: str, data_type: str) -> _Way:
    if _NUMBERS.search(data_type):
        if "int" not in data_type:
            return _Way("interval", "growing")
        sql = f"select count(distinct {quote_name(name)}) from {relation}"  # noqa: S608 (quoted)
        is_few = int(warehouse.rows(sql)[0][0]) <= _FEW_INTEGERS
        return _Way("interval", "integers" if is_few else "growing --whole")
    if _DATES.search(data_type):
        return _Way("interval", "dates")
    return _Way("categorical", "others")
