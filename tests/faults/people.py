"""A small warehouse with an old and a new table of the same shape, for publishing without dbt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

TABLE = "people_anonymized"
RELEASE = "release/people.duckdb"
WAREHOUSE = "warehouse.duckdb"
Rows = list[tuple[Any, ...]]


def write_people(folder: Path, warehouse: str = WAREHOUSE, records: int = 2000) -> dict[str, Rows]:
    """Write the tables `old` and `new`, which share no row, and return their rows."""
    with duckdb.connect(str(folder / warehouse)) as session:
        for table in ("old", "new"):
            session.execute(
                f"create table {table} as select '{table} ' || i as age, i % 7 as amh,"
                f" repeat('{table}', 20) || i as cqi from range({records}) as r(i)"
            )
        return {table: session.table(table).fetchall() for table in ("old", "new")}


def released(folder: Path) -> Rows:
    """Return the rows of the release, which must be a whole database file."""
    with duckdb.connect(str(folder / RELEASE), read_only=True) as reader:
        return reader.table(TABLE).fetchall()


def files_of_release(folder: Path) -> set[str]:
    """Name all that is in the folder of the release."""
    return {path.name for path in (folder / RELEASE).parent.iterdir()}


def other_people(text: str, year: int = 1) -> str:
    """Change the customers so that every record of release and vault can be told from before.

    Every year has other e-mails and another spending; the names stay.
    """
    header, *lines = text.splitlines()
    changed = [header]
    for number, line in enumerate(lines):
        cells = line.split(",")
        cells[2] = cells[2].replace("@example", f"@in-{year}-example")
        if number % 5 == 0 and year % 2:
            cells[5] = {"male": "female", "female": "male"}.get(cells[5], cells[5])
        cells[8] = f"{float(cells[8]) + 1000 * year:.2f}"
        changed.append(",".join(cells))
    return "\n".join(changed) + "\n"
