"""Losses of clusters of adult and of the Wisconsin diagnostic data, counted from their values."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dbt_anonymize.extensions.hierarchy_builders.intervals import cut_intervals
from dbt_anonymize.extensions.recoding.grouping import groups_of
from dbt_anonymize.extensions.recoding.kernels import Source
from dbt_anonymize.extensions.recoding.records import Records
from dbt_anonymize.hierarchies import Hierarchy, IntervalHierarchy
from tests.case_studies.preparation import RECORD_KEY, Study, cell_suppression
from tests.extensions.recoding.world import values_of_rows

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


TABLES = {"adult": cell_suppression, "wdbc": wdbc}


@cache
def rows() -> list[dict[str, Any]]:
    """Return a row per table and cluster size: losses, gains and the smallest clusters."""
    return [row(name, size) for name in TABLES for size in SIZES]


@cache
def row(name: str, size: int) -> dict[str, Any]:
    """Return what each way loses on one table with one cluster size."""
    study, (records, people) = TABLES[name](), _read(name)
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
def _read(name: str) -> tuple[Records, pd.DataFrame]:
    """Return distinct records; and the quasi-identifiers of each record as text, with its `row`."""
    study = TABLES[name]()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        study.write(Path(folder))
        read = f"{folder}/{study.name}_"
        relations = {
            name: connection.sql(
                f"select * from read_csv('{read}hierarchy_{name}.csv', "
                f"all_varchar = {not isinstance(tree, IntervalHierarchy)})"
            )
            for name, tree in study.hierarchies.items()
        }
        people = connection.sql(f"select * from read_csv('{read}source.csv')")
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
