"""CPU time and memory of recodings, and how much they generalize.

usage: python benchmarks/recoding.py [--rows ROWS] [--k K] [--recoding RECODING] [--table TABLE]

Reads adult (8 quasi-identifiers) and survey where ``DBT_ANONYMIZE_DATA`` (by default
``../shared/data``) has them, and a seeded table of ROWS records in any case, most of which differ.
Prints the distinct rows; CPU seconds of the plain ``group by`` that is the floor, of the kernel,
and of all with reading, coding and writing labels; the most memory so far; and the normalized
certainty penalty: the mean share of the domain that a cell leaves open, 0 for a single value.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.extensions.recoding import cells, local, multidimensional, payouts
from dbt_anonymize.extensions.recoding.kernels import (
    Source,
    cell_suppression,
    grouped_recoding,
    local_recoding,
    multidimensional_recoding,
    payout_recoding,
)

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", REPOSITORY.parent / "shared" / "data"))
GAME = {
    "publisher_benefit": 1200,
    "publisher_loss": 300,
    "adversary_gain": 300,
    "adversary_cost": 4,
    "attacker": "prosecutor",
}
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
    connection: duckdb.DuckDBPyConnection, source: pd.DataFrame | str, columns: Sequence[Column]
) -> None:
    """Create the microdata: every quasi-identifier with its leaf."""
    if isinstance(source, str):
        connection.execute(f"create temporary view source as {source}")
    else:
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


def source_of(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[Column], arguments: argparse.Namespace
) -> Source:
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
        guarantees=[
            {"model": "k_anonymity", "k": arguments.k},
            *([{"model": "profitable", **GAME}] if arguments.recoding == "payouts" else []),
        ],
    )


def rounds(columns: Sequence[Column]) -> list[dict[str, int]]:
    """Return a chain of levels for all columns: fine, middle, and the root."""
    return [{column.name: min(level, column.levels) for column in columns} for level in (1, 2, 9)]


Recoding = Callable[[Source, Sequence[Column]], duckdb.DuckDBPyRelation]
# The recoding, and its kernel: a module and a function in it.
RECODINGS: dict[str, tuple[Recoding, Any, str]] = {
    "multidimensional": (lambda s, _: multidimensional_recoding(s), multidimensional, "mondrian"),
    "relaxed": (
        lambda s, _: multidimensional_recoding(s, strict=False),
        multidimensional,
        "mondrian",
    ),
    "means": (lambda s, _: grouped_recoding(s, method="mondrian"), multidimensional, "mondrian"),
    "local": (lambda s, c: local_recoding(s, rounds=rounds(c)), local, "rounds_of_rows"),
    "payouts": (lambda s, c: payout_recoding(s, rounds=rounds(c)), payouts._Game, "moves"),
    "cells": (lambda s, c: cell_suppression(s, levels=rounds(c)[0]), cells, "hidden_cells"),
}


@contextlib.contextmanager
def timed(place: Any, name: str) -> Iterator[list[float]]:
    """Give the CPU seconds of all calls of a function."""
    spent: list[float] = []
    kernel = getattr(place, name)

    @functools.wraps(kernel)
    def measured(*arguments: Any, **options: Any) -> Any:
        started = time.process_time()
        result = kernel(*arguments, **options)
        spent.append(time.process_time() - started)
        return result

    with mock.patch.object(place, name, measured):
        yield spent


def measure(
    name: str, source: pd.DataFrame | str, columns: Sequence[Column], arguments: argparse.Namespace
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
        counted = f"select count(*) from ({grouped})"  # noqa: S608
        ((distinct,),) = connection.execute(counted).fetchall()
        clock.append(time.process_time())
        recode, place, kernel = RECODINGS[arguments.recoding]
        source_of_table = source_of(connection, columns, arguments)
        with timed(place, kernel) as spent:
            recode(source_of_table, columns).create("recoding")
        clock.append(time.process_time())
        ncp = penalty(connection, columns)
        sizes = f"select count(*) as size from recoding group by {labels}"  # noqa: S608
        classes, smallest = connection.execute(
            f"select count(*), min(size) from ({sizes})"  # noqa: S608
        ).fetchall()[0]
    floor, whole = np.diff(clock)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{name:<10}{distinct:>11,} rows  group by {floor:6.2f} s  kernel {sum(spent):7.3f} s  "
        f"in all {whole:7.2f} s  {memory:5.2f} GB  classes {classes:>9,}  k {smallest}  "
        f"NCP {ncp:.2%}"
    )


def generated(rows: int) -> tuple[str, list[Column]]:
    """Return a select of a seeded table, most of whose rows differ, and its 8 columns."""
    ages = [
        [str(v), *(f"[{v // n * n}, {v // n * n + n})" for n in (5, 10)), "*"] for v in range(100)
    ]
    columns = [Column("age", ages)]
    sizes = {"sex": 2, "race": 5, "marital": 7, "work": 8, "education": 16, "job": 40}
    for name, size in (sizes | {"country": 200}).items():
        columns.append(Column(name, [[f"{v:03}", f"group {v // 4}", "*"] for v in range(size)]))
    drawn = []
    for place, column in enumerate(columns):
        # Skewed: small numbers are more frequent.
        share = f"pow(hash(i * 8 + {place}) / 18446744073709551616.0, 1.5)"
        code = f"cast(floor({share} * {len(column.hierarchy)}) as integer)"
        text = "" if column.kind == "interval" else f"lpad(cast({code} as varchar), 3, '0')"
        drawn.append(f"{text or code} as {column.name}")
    return f"select {', '.join(drawn)} from range({rows}) as numbers(i)", columns  # noqa: S608


def main() -> None:
    """Measure every table that there is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--recoding", choices=RECODINGS, default="multidimensional")
    parser.add_argument("--table", choices=["adult", "survey", "generated"], help="only this one")
    arguments = parser.parse_args()
    tables: dict[str, tuple[pd.DataFrame | str, list[Column]]] = {}
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
