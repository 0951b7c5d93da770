"""A small table about people, as a build leaves it, with a table of another tool beside it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.evaluation.progress import logged_to
from dbt_anonymize.extensions.external_efforts.evaluation import evaluate_external
from dbt_anonymize.extensions.external_efforts.measuring import measure
from dbt_anonymize.spec import Spec
from tests.spec.declarations import SPEC, spec

QUALITY: Mapping[str, Any] = {
    **SPEC["quality"],
    "fit": "per_split",
    "outer_share": 0.4,
    "test_share": 0.5,
}
CITIES = {"Aarhus": "Jutland", "Billund": "Jutland", "Copenhagen": "Zealand", "Roskilde": "Zealand"}
COLUMNS = ["age", "city", "income", "ill"]
EXTERNAL = {"relation": {"ref": "synthetic"}, "name": "tool"}


def declared(**changes: Any) -> dict[str, Any]:
    """Return a spec with an effort of our own and the table of another tool."""
    fields: dict[str, Any] = {
        "quality": dict(QUALITY),
        "mapping": "none",
        "qnf": "1 - attack_rate",
        "efforts": [{"age": 1, "city": 1}, EXTERNAL],
        "guarantees": {"k_anonymity": {"k": 3}},
        "details": (),
    }
    return spec(**(fields | changes))


def people(number: int = 200, seed: int = 1) -> pd.DataFrame:
    """Return so many records; illness depends on age and city."""
    chance = np.random.default_rng(seed)
    age, city = chance.integers(0, 40, number), chance.choice(sorted(CITIES), number)
    chances = 0.1 + 0.5 * (age >= 20) + 0.2 * (city == "Aarhus")
    return pd.DataFrame(
        {
            "visit_id": np.arange(number),
            "age": age,
            "city": city,
            "income": chance.integers(0, 5, number) * 10,
            "ill": np.where(chance.random(number) < chances, "yes", "no"),
            "is_outer": chance.random(number) < 0.5,
        }
    )


@dataclass(frozen=True)
class World:
    """Relations by name, on one connection."""

    connection: duckdb.DuckDBPyConnection
    relations: Mapping[str, duckdb.DuckDBPyRelation]
    spec: Spec

    def measured(self) -> pd.DataFrame:
        """Attack every effort."""
        return measure(
            self.connection, self.spec.model_dump_json(exclude_unset=True), self.relations
        )

    def evaluated(self) -> pd.DataFrame:
        """Train a model on every effort, and score it on outer records."""
        quality, relations = self.spec.tests, self.relations
        with logged_to(logging.getLogger(__name__)):
            return evaluate_external(
                self.connection,
                {
                    "anonymization": "visits",
                    "efforts": [
                        {"effort": 0, "relation": relations["visits_effort_0"], "levels": {}},
                        {
                            "effort": 1,
                            "relation": relations["visits_effort_1"],
                            "levels": {"age": 1, "city": 1},
                        },
                    ],
                    "external": [{"effort": 2, "relation": relations["visits_effort_2"]}],
                    "record_key": "visit_id",
                    "features": [
                        {"name": "age", "kind": "interval", "hierarchy": relations["ages"]},
                        {"name": "city", "kind": "categorical", "hierarchy": relations["cities"]},
                        {"name": "income", "kind": "plain"},
                    ],
                    "targets": [{"name": "ill", "task": "classification", "positive": None}],
                    "models": [{"name": "bayes", "model": "naive_bayes", "parameters": {}}],
                    "splitting": {
                        "repetitions": quality.repetitions,
                        "test_share": quality.test_share,
                    },
                    "random_state": quality.random_state,
                    "reading": {"numbers": "by_model", "categories": "label"},
                    "suppressed": "left_out",
                    "fit": "per_split",
                    "sample": 100_000,
                    "tested": relations["visits_microdata"],
                    "guarantees": self.spec.guarantees.resolved,
                },
            )


def world_of(records: pd.DataFrame, foreign: pd.DataFrame, **changes: Any) -> World:
    """Build the relations of records, and of a foreign table with their columns.

    Ages of ``foreign`` are numbers, or labels of level 1.
    """
    connection = duckdb.connect(config={"threads": 1})
    connection.register("records", records)
    connection.register("foreign_rows", foreign)
    leaves = [
        (a, a + 5, f"[{a // 10 * 10}, {a // 10 * 10 + 10})", "young", "*") for a in range(0, 40, 5)
    ]
    connection.execute(
        "create table ages (lower_bound int, upper_bound int, level_1 text, level_2 text, "
        "level_3 text)"
    )
    connection.executemany("insert into ages values (?, ?, ?, ?, ?)", leaves)
    connection.execute("create table cities (value text, level_1 text, level_2 text)")
    connection.executemany("insert into cities values (?, ?, '*')", list(CITIES.items()))
    connection.execute(
        "create table visits_microdata as select visit_id, cast(age as int) as age, "
        "cast(age // 5 * 5 as int) as age_leaf, city, city as city_leaf, income, ill, is_outer "
        "from records"
    )
    _effort(connection, "visits_effort_0", 0, "visits_microdata as m", key="visit_id, ")
    _effort(connection, "visits_effort_1", 1, "visits_microdata as m", key="visit_id, ")
    has_labels = str(foreign["age"].dtype) in {"object", "str", "string"}
    if has_labels:
        connection.execute(
            "create table read_rows as select cast(substr(age, 2, instr(age, ',') - 2) as int) "
            "as age, city, income, ill from foreign_rows"
        )
    else:
        connection.execute("create table read_rows as select * from foreign_rows")
    _effort(connection, "visits_effort_2", int(has_labels), "read_rows as m", city_level=0)
    names = ["ages", "cities", "visits_microdata"] + [f"visits_effort_{n}" for n in range(3)]
    relations = {name: connection.table(name) for name in names}
    return World(connection, relations, Spec.model_validate(declared(**changes)))


def _effort(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    level: int,
    rows: str,
    *,
    key: str = "",
    city_level: int | None = None,
) -> None:
    city_level = level if city_level is None else city_level
    low = "age // 10 * 10" if level else "age"
    high = f"{low} + 10" if level else "age"
    label = f"'[' || ({low}) || ', ' || ({high}) || ')'" if level else "cast(age as text)"
    city = "(select level_1 from cities where value = m.city)" if city_level else "m.city"
    connection.execute(
        f"create table {name} as select *, age || city as equivalence_class, "
        "count(*) over (partition by age, city) as class_size, false as is_suppressed from "
        f"(select {key}{label} as age, cast({low} as int) as age_lower, "
        f"cast({high} as int) as age_upper, {level} as age_level, {city} as city, "
        f"{city_level} as city_level, income, ill from {rows})"
    )


def marginals(records: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Draw each column of the inner records by itself."""
    inner, chance = records[~records.is_outer], np.random.default_rng([seed, 7])
    return pd.DataFrame(
        {
            name: inner[name].sample(len(inner), replace=True, random_state=chance).to_numpy()
            for name in COLUMNS
        }
    )
