"""Tables for the benchmarks of the search: read from files, or drawn with a seed.

A coded table is a DuckDB table ``coded`` with one integer column per attribute, the leaf, and one
row per record; `CodedTable.grouped` makes the search's table of it.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table

# Drawn tables: name, number of leaves, leaves per label of each level below the root, skew.
DRAWN = (
    ("year", 16, (2, 4, 8), 0.0),
    ("quarter", 4, (2,), 0.0),
    ("region", 50, (5, 10), 0.5),
    ("age", 100, (5, 10, 20), 0.3),
    ("household", 24, (2, 6), 1.5),
    ("status", 9, (3,), 1.0),
    ("sex", 2, (), 0.0),
    ("origin", 40, (8,), 1.7),
    ("education", 24, (4, 8), 0.8),
)


@dataclass(frozen=True)
class CodedTable:
    """A table in a DuckDB connection and the hierarchies of its columns."""

    connection: duckdb.DuckDBPyConnection
    attributes: tuple[Attribute, ...]

    @property
    def columns(self) -> str:
        """Names of the columns, for SQL."""
        return ", ".join(f"c{i}" for i in range(len(self.attributes)))

    def grouped(self, sensitive: str | None = None) -> Table:
        """Return the distinct rows with counts, in the order of first appearance.

        A sensitive column is no quasi-identifier, and the target of models.
        """
        counted = f"select {self.columns}, count(*) as records from coded"  # noqa: S608
        found = self.connection.execute(
            f"{counted} group by {self.columns} order by min(rowid)"
        ).fetchnumpy()
        columns = {
            attribute.name: found[f"c{position}"].astype(np.int64)
            for position, attribute in enumerate(self.attributes)
        }
        attributes = tuple(a for a in self.attributes if a.name != sensitive)
        leaves = np.stack([columns[a.name] for a in attributes], axis=1)
        records = found["records"].astype(np.int64)
        if sensitive is None:
            return Table(attributes, leaves, records)
        values = np.unique(columns[sensitive], return_inverse=True)[1]
        declared = SensitiveAttribute(sensitive, int(values.max()) + 1)
        return Table(attributes, leaves, records, ((declared, values),), targets=((values, 1.0),))


def read_table(table: Path, hierarchies: Path, prefix: str) -> CodedTable:
    """Read a `;`-separated table with a header, and its hierarchies without one.

    Parameters
    ----------
    table : Path
        One row per record.
    hierarchies : Path
        Folder with one file ``<prefix>_hierarchy_<column>.csv`` per column: value, then its label
        at each level.
    prefix : str
        Of those files.
    """
    connection = one_core()
    connection.execute(
        f"create table source as from read_csv('{table}', delim=';', header=true, all_varchar=true)"
    )
    names = [column[0] for column in connection.execute("from source limit 0").description or ()]
    attributes, leaves, joins = [], [], []
    for position, name in enumerate(names):
        with (hierarchies / f"{prefix}_hierarchy_{name}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.reader(file, delimiter=";") if row]
        attributes.append(_attribute(name, rows))
        values = {"value": [row[0] for row in rows], "leaf": list(range(len(rows)))}
        connection.execute(
            f"create table h{position} as select unnest($value) as value, unnest($leaf) as leaf",
            values,
        )
        leaves.append(f"h{position}.leaf as c{position}")
        joins.append(f'join h{position} on h{position}.value = source."{name}"')
    joined = f"select {', '.join(leaves)} from source {' '.join(joins)}"  # noqa: S608
    connection.execute(f"create table coded as {joined} order by source.rowid")
    return CodedTable(connection, tuple(attributes))


def draw_table(records: int, seed: int) -> CodedTable:
    """Draw a table of people with nine quasi-identifiers, up to ten million records and more.

    Parameters
    ----------
    records : int
        Rows.
    seed : int
        The same seed gives the same table.
    """
    random = np.random.default_rng(seed)
    connection = one_core()
    columns: dict[str, npt.NDArray[np.int64]] = {}
    attributes = []
    for position, (name, leaves, widths, skew) in enumerate(DRAWN):
        weights = 1.0 / np.arange(1, leaves + 1) ** skew
        drawn = random.choice(leaves, size=records, p=weights / weights.sum())
        columns[f"c{position}"] = drawn.astype(np.int64)
        labels = [np.arange(leaves) // width for width in (1, *widths, leaves)]
        attributes.append(_from_levels(name, labels, leaves))
    connection.register("drawn", columns)
    connection.execute("create table coded as from drawn")
    connection.unregister("drawn")
    return CodedTable(connection, tuple(attributes))


def one_core() -> duckdb.DuckDBPyConnection:
    """Return a connection that uses one core, as the search does."""
    return duckdb.connect(":memory:", config={"threads": 1})


def _attribute(name: str, rows: Sequence[Sequence[str]]) -> Attribute:
    levels = []
    for level in range(len(rows[0])):
        codes: dict[str, int] = {}
        labels = [codes.setdefault(row[level], len(codes)) for row in rows]
        levels.append(np.array(labels))
    return _from_levels(name, levels, len(rows))


def _from_levels(name: str, levels: Sequence[npt.NDArray[np.int64]], size: int) -> Attribute:
    shares = tuple(np.bincount(level) / size for level in levels)
    return Attribute(name, tuple(levels), shares, size, 1.0 / size)
