"""CPU time and memory of recodings, and how much they generalize.

usage: python benchmarks/recoding.py [--rows ROWS] [--k K] [--recoding RECODING] [--table TABLE]

Reads adult (8 quasi-identifiers) and survey where ``DBT_ANONYMIZE_DATA`` (by default
``../shared/data``) has them, and a seeded table of ROWS records in any case, most of which differ.
Prints the distinct rows; the CPU seconds of the plain ``group by`` that is the floor, of reading
and coding, of the kernel, and of writing labels; the most memory so far; and the normalized
certainty penalty: the mean share of the domain that a cell leaves open, 0 for a single value.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.privacy.table import IntArray
from dbt_anonymize.recoding.labels import Labels
from dbt_anonymize.recoding.multidimensional import labels_of_parts, mondrian_parts
from dbt_anonymize.recoding.records import Records, Source

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", REPOSITORY.parent / "shared" / "data"))
INTERVALS = {"age", "AGE", "YEAR"}


@dataclass(frozen=True)
class Column:
    """A quasi-identifier and the rows of its hierarchy: value, level 1, ..., root."""

    name: str
    hierarchy: Sequence[Sequence[str]]

    @property
    def kind(self) -> str:
        """Return the kind of hierarchy; intervals are those of whole numbers."""
        return "interval" if self.name in INTERVALS else "categorical"

    @property
    def levels(self) -> int:
        """Return the number of levels above the raw value, the leaf intervals included."""
        return len(self.hierarchy[0]) - (self.kind == "categorical")


def hierarchy(path: Path) -> list[list[str]]:
    """Return the rows of a file without a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def load_hierarchy(connection: duckdb.DuckDBPyConnection, table: str, column: Column) -> None:
    """Create the table of a hierarchy; whole numbers become leaf intervals of width 1."""
    if column.kind == "interval":
        values = sorted(column.hierarchy, key=lambda row: int(row[0]))
        rows: Iterable[Sequence[Any]] = (
            (int(row[0]), int(row[0]) + 1, f"[{row[0]}, {int(row[0]) + 1})", *row[1:])
            for row in values
        )
        types = ["lower_bound integer", "upper_bound integer"]
    else:
        rows, types = column.hierarchy, ["value varchar"]
    types += [f"level_{level} varchar" for level in range(1, column.levels + 1)]
    connection.execute(f"create table {table} ({', '.join(types)})")
    places = ", ".join("?" * len(types))
    connection.executemany(f"insert into {table} values ({places})", rows)  # noqa: S608


def load_microdata(
    connection: duckdb.DuckDBPyConnection, source: pd.DataFrame, columns: Sequence[Column]
) -> None:
    """Create the microdata: every quasi-identifier with its leaf."""
    connection.register("source", source)
    listed = ", ".join(
        f"cast({c.name} as integer) as {c.name}, cast({c.name} as integer) as {c.name}_leaf"
        if c.kind == "interval"
        else f"{c.name}, {c.name} as {c.name}_leaf"
        for c in columns
    )
    selected = f"select row_number() over () as record_id, {listed} from source"  # noqa: S608
    connection.execute(f"create table microdata as {selected}")


def data_columns(folder: str, prefix: str, names: Sequence[str]) -> list[Column]:
    """Return the columns of a table in the data folder; SQL names have underscores."""
    files = {name: DATA / folder / f"{prefix}_hierarchy_{name}.csv" for name in names}
    return [Column(name.replace("-", "_"), hierarchy(file)) for name, file in files.items()]


def penalty(connection: duckdb.DuckDBPyConnection, columns: Sequence[Column]) -> float:
    """Return the normalized certainty penalty of the recoding."""
    terms = []
    for column in columns:
        name, share = column.name, f"{column.name}_share"
        if column.kind == "interval":
            # Width over the range of the data, as in the literature, not of the hierarchy.
            terms.append(f"least(1, ({name}_upper - {name}_lower - 1) / range_of_{name})")
        else:
            terms.append(
                f"case when {share} * {len(column.hierarchy)} < 1.5 then 0 else {share} end"
            )
    ranges = ", ".join(
        f"max({c.name}) - cast(min({c.name}) as double) as range_of_{c.name}"
        for c in columns
        if c.kind == "interval"
    )
    sql = (
        f"select avg(({' + '.join(terms)}) / {len(terms)}) "  # noqa: S608
        f"from recoding cross join (select {ranges} from microdata) as ranges"
    )
    return float(connection.execute(sql).fetchall()[0][0])


def source_of(connection: duckdb.DuckDBPyConnection, columns: Sequence[Column], k: int) -> Source:
    """Return what a recoding reads."""
    return Source(
        session=connection,
        microdata=connection.table("microdata"),
        record_key="record_id",
        quasi_identifiers=[
            {
                "name": column.name,
                "kind": column.kind,
                "levels": column.levels,
                "hierarchy": connection.table(f"h_{column.name}"),
            }
            for column in columns
        ],
        guarantees=[{"model": "k_anonymity", "k": k}],
    )


def multidimensional(records: Records) -> Recoded:
    """Return the labels of strict Mondrian."""
    return labelled(records, mondrian_parts(records))


def relaxed(records: Records) -> Recoded:
    """Return the labels of relaxed Mondrian."""
    return labelled(records, mondrian_parts(records, is_strict=False))


def labelled(records: Records, parts: IntArray) -> Recoded:
    """Return the labels of parts."""
    labels = labels_of_parts(records, parts)
    return labels, [parts] * len(labels)


Recoded = tuple[Sequence[Labels], Sequence[IntArray]]
RECODINGS: dict[str, Callable[[Records], Recoded]] = {
    "multidimensional": multidimensional,
    "relaxed": relaxed,
}


def measure(
    name: str, source: pd.DataFrame, columns: Sequence[Column], arguments: argparse.Namespace
) -> None:
    """Recode one table and print a line."""
    with (
        tempfile.TemporaryDirectory() as folder,
        duckdb.connect(f"{folder}/bench.duckdb", config={"memory_limit": "2GB"}) as connection,
    ):
        load_microdata(connection, source, columns)
        for column in columns:
            load_hierarchy(connection, f"h_{column.name}", column)
        clock = [time.process_time()]
        labels = ", ".join(column.name for column in columns)
        grouped = f"select {labels} from microdata group by all"  # noqa: S608
        connection.execute(f"select count(*) from ({grouped})").fetchall()  # noqa: S608
        clock.append(time.process_time())
        records = Records.read(
            source_of(connection, columns, arguments.k), by_record=arguments.recoding == "relaxed"
        )
        clock.append(time.process_time())
        recoded = RECODINGS[arguments.recoding](records)
        clock.append(time.process_time())
        records.recoded(*recoded).create("recoding")
        clock.append(time.process_time())
        ncp = penalty(connection, columns)
        sizes = f"select count(*) as size from recoding group by {labels}"  # noqa: S608
        classes, smallest = connection.execute(
            f"select count(*), min(size) from ({sizes})"  # noqa: S608
        ).fetchall()[0]
    floor, read, kernel, written = np.diff(clock)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:<10}{len(records):>11,} rows  group by {floor:6.2f} s  read {read:6.2f} s  "
        f"kernel {kernel:7.3f} s  write {written:6.2f} s  {memory:5.2f} GB  "
        f"classes {classes:>9,}  k {smallest}  NCP {ncp:.2%}"
    )


def generated(rows: int) -> tuple[pd.DataFrame, list[Column]]:
    """Return a seeded table of 8 columns, skewed like a census, and their hierarchies."""
    ages = [
        [str(v), *(f"[{v // n * n}, {v // n * n + n})" for n in (5, 10)), "*"] for v in range(100)
    ]
    columns = [Column("age", ages)]
    sizes = {
        "sex": 2,
        "race": 5,
        "marital": 7,
        "work": 8,
        "education": 16,
        "job": 14,
        "country": 40,
    }
    for name, size in sizes.items():
        columns.append(Column(name, [[f"{v:02}", f"group {v // 4}", "*"] for v in range(size)]))
    draws = np.random.default_rng(1)
    frame = {"age": 17 + (draws.beta(1.3, 2.2, rows) * 73).astype(int)}
    for column in columns[1:]:
        size = len(column.hierarchy)
        weights = 1 / np.arange(1, size + 1) ** 1.3
        codes = draws.choice(size, rows, p=weights / weights.sum())
        frame[column.name] = np.array([f"{v:02}" for v in range(size)])[codes]
    return pd.DataFrame(frame), columns


def main() -> None:
    """Measure every table that there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--recoding", choices=RECODINGS, default="multidimensional")
    parser.add_argument("--table", choices=["adult", "survey", "generated"], help="only this one")
    arguments = parser.parse_args()
    tables: dict[str, tuple[pd.DataFrame, list[Column]]] = {}
    if (DATA / "adult").is_dir():
        names = [
            "sex",
            "age",
            "race",
            "marital-status",
            "education",
            "native-country",
            "workclass",
            "occupation",
        ]
        source = pd.read_csv(DATA / "adult" / "adult.csv", sep=";", dtype=str)[names]
        source.columns = source.columns.str.replace("-", "_")
        tables["adult"] = (source, data_columns("adult", "adult", names))
    survey = DATA / "survey_1m" / "survey.csv"
    if survey.is_file():
        names = ["YEAR", "REGION", "PERNUM", "AGE", "MARSTAT", "SEX", "RACEA", "EDUC"]
        source = pd.read_csv(survey, sep=";", dtype=str)[names].head(arguments.rows)
        tables["survey"] = (source, data_columns("survey_1m", "survey", names))
    tables["generated"] = generated(arguments.rows)
    for name, (source, columns) in tables.items():
        if arguments.table in (None, name):
            measure(name, source, columns, arguments)


if __name__ == "__main__":
    main()
