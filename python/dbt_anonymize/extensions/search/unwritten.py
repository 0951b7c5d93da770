"""Hierarchies that a search needs and nobody wrote yet, with the commands that write them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.errors import AnonymizeError, SearchError
from dbt_anonymize.extensions.search.source import rebuild
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec.hierarchy_levels import command_for

if TYPE_CHECKING:
    from dbt_anonymize.cli.place import Place
    from dbt_anonymize.spec import Spec

# Whole numbers of so few values are leaves of their own, as in drafts.
_FEW_INTEGERS = 13
_NUMBERS = re.compile(r"int|decimal|numeric|float|double|real|number", re.IGNORECASE)
_DATES = re.compile(r"date|timestamp", re.IGNORECASE)


def check_written(place: Place, spec: Spec, path: Path, unwritten: Mapping[str, str]) -> None:
    """Raise a `SearchError` that says how to write the seeds, by column, and what comes then."""
    if not unwritten:
        return
    noted = {name: command_for(path, ref) for name, ref in unwritten.items()}
    builders = {} if all(noted.values()) else _builders(place, spec, unwritten)
    folder = place.relative_name(place.project.seeds)
    lines = []
    for name, ref in unwritten.items():
        built = noted[name] or (
            f"dbt-anonymize hierarchy {builders[name]} {_relation(spec)} "
            f"--column {shlex.quote(name)} -o {folder}/{ref}.csv"
            if name in builders
            else None
        )
        how = f"Run `{built}`." if built else "`dbt-anonymize hierarchy --help` lists ways."
        lines.append(
            f"- {folder}/{ref}.csv, the hierarchy of {name}, must be written; there is none. {how}"
        )
    raise SearchError(
        "\n".join(
            [
                f"{spec.name}: a search must have every hierarchy and the frequencies by it:",
                *lines,
                f"- {spec.name}_frequencies must be built with "
                f"{'it' if len(unwritten) == 1 else 'them'}. {rebuild(spec)}",
                f"Then run `dbt-anonymize search {spec.name}` again.",
            ]
        )
    )


def _relation(spec: Spec) -> str:
    """Return the option of commands that names the source."""
    source = spec.source
    return f"--ref {source.ref}" if source.ref else f"--source {'.'.join(source.source or ())}"


def _builders(place: Place, spec: Spec, unwritten: Mapping[str, str]) -> dict[str, str]:
    """Return the builder of the hierarchy of each column whose type fits one."""
    found = {}
    try:
        with place.reading() as warehouse:
            relation = warehouse.relation_of(spec.source)
            types = dict(warehouse.columns(relation))
            for name in unwritten:
                kind = types.get(name, "")
                tree = spec.columns[name].hierarchy
                is_interval = tree is not None and tree.kind == "interval"
                if is_interval and _NUMBERS.search(kind):
                    sql = f"select count(distinct {quote_name(name)}) from {relation}"  # noqa: S608
                    is_whole = "int" in kind.lower()
                    is_few = is_whole and int(warehouse.rows(sql)[0][0]) <= _FEW_INTEGERS
                    words = "growing --whole" if is_whole else "growing"
                    found[name] = "integers" if is_few else words
                elif is_interval and _DATES.search(kind):
                    found[name] = "dates"
                elif kind and tree is not None and not is_interval:
                    found[name] = "others"
    except AnonymizeError:
        return found  # without the source there is no type
    return found
