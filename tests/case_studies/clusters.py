"""Losses of clusters of adult, KDD Cup 1998 and Wisconsin, counted from their values."""

from __future__ import annotations

import csv
import random
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dbt_anonymize.extensions.hierarchy_builders.arx import read_arx
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.recoding.grouping import groups_of
from dbt_anonymize.extensions.recoding.kernels import Source
from dbt_anonymize.extensions.recoding.records import Records
from dbt_anonymize.hierarchies import CategoricalHierarchy, Hierarchy, IntervalHierarchy
from tests.case_studies.preparation import RECORD_KEY, Study, cell_suppression, is_available
from tests.extensions.recoding.world import values_of_rows
from tests.projects import DATA

NAME = "clustering"
SIZES = (10, 20, 30, 40, 50)
# As a spec declares them; `half_size` is one pass with half of the cluster size.
WAYS: Mapping[str, Mapping[str, Any]] = {
    "one_pass": {},
    "two_passes": {"passes": 2},
    "halved": {"halve": True},
    "half_size": {},
}


def wdbc() -> Study:
    """Take the ten means of scikit-learn's data; the range of a hierarchy is that of the values."""
    data = load_breast_cancer()
    names = [str(name).replace(" ", "_") for name in data.feature_names[:10]]
    cells = [[f"{value:.10g}" for value in row[:10]] for row in data.data]
    trees: dict[str, Hierarchy] = {}
    for name, values in zip(names, np.array(cells, dtype=float).T, strict=True):
        # The upper bound is above every value.
        bounds = np.linspace(values.min(), np.nextafter(values.max(), np.inf), 9)
        trees[name] = cut_intervals([repr(float(bound)) for bound in bounds], merge=[2, 2])
    return Study("wdbc", [dict(zip(names, row, strict=True)) for row in cells], trees)


def cup() -> Study:
    """Draw 20,000 records of KDD Cup 1998; counts are numbers, from 0 to what the hierarchy has."""
    with (DATA / "cup" / "cup.csv").open(encoding="utf-8") as file:
        drawn = random.Random(1).sample(list(csv.DictReader(file, delimiter=";")), 20_000)
    rows = [{name.lower(): value for name, value in line.items()} for line in drawn]
    counts = {"age": (100, 5), "ramntall": (5680, 40), "ngiftall": (240, 5), "minramnt": (455, 5)}
    trees: dict[str, Hierarchy] = {}
    for name in rows[0]:
        if name in counts:
            end, width = counts[name]
            trees[name] = equal_width_intervals(0, end, [width])
        else:
            trees[name] = _of_values(
                read_arx(DATA / "cup" / f"cup_hierarchy_{name.upper()}.csv"),
                {row[name] for row in rows},
            )
    return Study("cup", rows, trees, texts=["zip", "income"])


def _of_values(tree: CategoricalHierarchy, values: set[str]) -> CategoricalHierarchy:
    """Leave out the values that no record has: of 100,000 codes the loss is the same."""
    kept = [value in values for value in tree.values]  # noqa: PD011 (of a hierarchy)
    labels = tuple(tuple(compress(level, kept)) for level in tree.labels)
    return CategoricalHierarchy(tuple(compress(tree.values, kept)), labels)


ARE_AVAILABLE = is_available("cell_suppression") and (DATA / "cup").is_dir()
TABLES = {"adult": cell_suppression, "cup": cup, "wdbc": wdbc}


@cache
def rows() -> list[dict[str, Any]]:
    """Return a row per table and cluster size: losses, gains and the smallest clusters."""
    return [row(name, size) for name in TABLES for size in SIZES]


@cache
def row(name: str, size: int) -> dict[str, Any]:
    """Return what each way loses on one table with one cluster size."""
    study, (records, people) = TABLES[name](), read(name)
    found: dict[str, Any] = {"table": name, "cluster_size": size}
    for way, options in WAYS.items():
        size_of_way = size // 2 if way == "half_size" else size
        parts = groups_of(records, "systematic", size_of_way, **options)
        clusters = people.assign(part=parts[people["row"]] + 1)
        found[way] = round(lost(clusters, study.hierarchies))
        found[f"{way}_smallest"] = int(clusters["part"].value_counts().min())
    for way in ("two_passes", "halved", "half_size"):
        found[f"{way}_gain"] = found["one_pass"] / found[way]
    return found


@cache
def read(name: str) -> tuple[Records, pd.DataFrame]:
    """Return distinct records; and the quasi-identifiers of each record as text, with its `row`."""
    study = TABLES[name]()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        study.write(Path(folder))
        read = f"{folder}/{study.name}_"
        types = dict.fromkeys(study.texts, "varchar")
        relations = {
            name: connection.sql(
                f"select * from read_csv('{read}hierarchy_{name}.csv', "
                f"all_varchar = {not isinstance(tree, IntervalHierarchy)})"
            )
            for name, tree in study.hierarchies.items()
        }
        people = connection.sql(f"select * from read_csv('{read}source.csv', types = {types})")
        people.create("people")
        leaves = ", ".join(
            f"(select max(lower_bound) from hierarchy_{name} where lower_bound <= people.{name}) "
            f"as {name}_leaf"
            if isinstance(tree, IntervalHierarchy)
            else f"cast({name} as varchar) as {name}_leaf"
            for name, tree in study.hierarchies.items()
        )
        for column, relation in relations.items():
            relation.create_view(f"hierarchy_{column}")
        connection.execute(f"create table microdata as select *, {leaves} from people")
        source = Source(
            session=connection,
            microdata=connection.table("microdata"),
            record_key=RECORD_KEY,
            quasi_identifiers=[
                {
                    "name": name,
                    "kind": "interval" if isinstance(tree, IntervalHierarchy) else "categorical",
                    "levels": len(tree.labels),
                    "hierarchy": relations[name],
                }
                for name, tree in study.hierarchies.items()
            ],
            guarantees=[],
        )
        rows = Records.read(source, by_value=source.names)
        found = pd.DataFrame(values_of_rows(rows), columns=list(study.hierarchies))
        texts = ", ".join(
            f"{name}"
            if isinstance(tree, IntervalHierarchy)
            else f"cast({name} as varchar) as {name}"
            for name, tree in study.hierarchies.items()
        )
        records = people.project(f"{RECORD_KEY}, {texts}").df()
    found = found.assign(row=range(len(found)))
    joined = records.merge(found, on=list(study.hierarchies), how="left")
    assert len(joined) == len(records)
    assert joined["row"].notna().all()
    return rows, joined


def lost(clusters: pd.DataFrame, hierarchies: Mapping[str, Hierarchy]) -> float:
    """Return the loss of the thesis: over clusters, records times ranges and heights.

    The range of a number in its cluster over that of the hierarchy; the level of the lowest common
    ancestor of a category over that of the root.
    """
    sizes = clusters.groupby("part").size()
    return float(
        sum(
            (sizes * _widths(clusters["part"], clusters[name], tree)).sum()
            for name, tree in hierarchies.items()
        )
    )


def _widths(parts: pd.Series[Any], values: pd.Series[Any], tree: Hierarchy) -> pd.Series[Any]:
    if isinstance(tree, IntervalHierarchy):
        numbers = values.astype(float).groupby(parts)
        lowest, highest = float(tree.lower_bounds[0]), float(tree.upper_bounds[-1])  # type: ignore[arg-type]
        return (numbers.max() - numbers.min()) / (highest - lowest)
    columns: Sequence[Sequence[str]] = (tree.values, *tree.labels)  # noqa: PD011 (of a hierarchy)
    apart = [
        values.map(dict(zip(tree.values, labels, strict=True))).groupby(parts).nunique() > 1  # noqa: PD101 (by group)
        for labels in columns
    ]
    # Nested: as many levels as still part the cluster, the values among them, are below.
    return pd.concat(apart, axis=1).sum(axis=1) / len(tree.labels)
