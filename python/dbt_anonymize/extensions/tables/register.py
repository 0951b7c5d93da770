"""The register of released tables: figures of each release that are in the table, too."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from dbt_anonymize.project.results import OtherResults

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class RegisteredTable:
    """A release of a table, as ``<n>_table_register`` has it."""

    release: int
    released_at: str
    effort: int
    protection: str
    cells: int
    hidden_cells: int
    qf: float
    qnf: float
    q: float
    content: str


_COLUMNS = tuple(field.name for field in fields(RegisteredTable))

_SHOWN = ("release", "released_at", "cells", "hidden_cells", "qf", "qnf", "content")


def read_table_register(warehouse: Warehouse, name: str) -> list[RegisteredTable]:
    """Return the releases of a table, the first one first; a `WarehouseError` if not built."""
    beside = warehouse.relation_of_ref(f"{name}_table_results")
    relation = warehouse.find(beside.incorporate(path={"identifier": f"{name}_table_register"}))
    if relation is None:
        return []
    rows = warehouse.rows(
        f"select {', '.join(_COLUMNS)} from {relation} order by release"  # noqa: S608 (our own)
    )
    releases = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
    return [
        RegisteredTable(**{**row, "released_at": str(row["released_at"])[:19]}) for row in releases
    ]


def history(warehouse: Warehouse, spec: Spec) -> OtherResults:
    """Return a row per release of a table."""
    register = read_table_register(warehouse, spec.name)
    rows: list[dict[str, Any]] = [
        {name: getattr(release, name) for name in _COLUMNS} for release in register
    ]
    legend = "content: a digest of the released rows, the same where they are"
    ways = dict.fromkeys(release.protection for release in register)
    sentences = [f"released by {', '.join(ways)}" if ways else "nothing is in the register"]
    return OtherResults(_SHOWN, rows, sentences, legend)


def said_of(register: list[RegisteredTable]) -> str:
    """Return when the table was released, and how; empty where that is not known."""
    if not register:
        return ""
    first, last = register[0], register[-1]
    times = [f"first on {first.released_at[:10]}"]
    if last.released_at[:10] != first.released_at[:10]:
        times.append(f"last on {last.released_at[:10]}")
    return f"{', '.join(times)}, by {last.protection}"
