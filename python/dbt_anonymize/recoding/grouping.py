"""From microdata to the group of each distinct tuple of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dbt_anonymize.errors import RecodingError
from dbt_anonymize.evaluation.data.relations import (
    SOURCE,
    column_kind,
    number_sql,
    query,
    text_sql,
)
from dbt_anonymize.recoding.mdav import mdav
from dbt_anonymize.recoding.optimum import optimal_groups
from dbt_anonymize.recoding.systematic import systematic_clusters
from dbt_anonymize.recoding.tuples import Attribute, Category, Codes, Number, Tuples

if TYPE_CHECKING:
    import duckdb


def group_records(
    microdata: duckdb.DuckDBPyRelation,
    *,
    quasi_identifiers: Sequence[Mapping[str, Any]],
    method: str,
    k: int,
    passes: int = 1,
    halve: bool = False,
) -> pd.DataFrame:
    """Put records into groups of at least ``k``, by their quasi-identifiers alone.

    Called by a generated model. ``quasi_identifiers`` have ``name``, ``kind`` (interval or
    categorical) and ``hierarchy`` (a relation). ``method``: mdav; optimal for one interval; or
    systematic, which alone has ``passes`` and ``halve``, and with the latter groups of half of
    ``k``.

    Returns one row per distinct tuple: ``q_<i>``, the i-th quasi-identifier as text (from 1; NULL
    is a value of its own), and ``part``, the group, from 1. The same table gives the same groups:
    tuples are in the order of the quasi-identifiers, numbers ascending, categories by the labels of
    their hierarchy from the root down, NULL last. A value that is not in its hierarchy is a
    `RecodingError`.
    """
    names = [q["name"] for q in quasi_identifiers]
    columns = [f"{text_sql(name)} as q_{i}" for i, name in enumerate(names, 1)]
    for i, q in enumerate(quasi_identifiers, 1):
        if q["kind"] == "interval":
            number = number_sql(q["name"], column_kind(microdata, q["name"]))
            columns.append(f"any_value({number}) as n_{i}")
    keys = ", ".join(map(text_sql, names))
    sql = f"select {', '.join(columns)}, count(*) as records from {SOURCE} group by {keys}"  # noqa: S608
    rows = query(microdata, sql).df()
    attributes = [_attribute(i, q, rows) for i, q in enumerate(quasi_identifiers, 1)]
    order = np.lexsort([_rank(attribute) for attribute in reversed(attributes)])
    tuples = Tuples(attributes, rows["records"].to_numpy(dtype=np.int64)).take(order)
    frame = pd.DataFrame(
        {f"q_{i}": rows[f"q_{i}"].to_numpy()[order] for i in range(1, len(names) + 1)}, dtype="str"
    )
    if method == "systematic":
        parts = systematic_clusters(tuples, k, passes=passes, halve=halve)
    else:
        parts = _groups(tuples, method, k)
    return frame.assign(part=parts + 1)


def _groups(tuples: Tuples, method: str, k: int) -> Codes:
    if not len(tuples):
        return np.zeros(0, dtype=np.int64)
    (number, *others) = tuples.attributes
    if method != "optimal":
        return mdav(tuples, k)
    if others or not isinstance(number, Number):
        raise RecodingError(
            "method optimal must have one quasi-identifier, a number or a date; got "
            f"{1 + len(others)}. Use mdav."
        )
    known = ~np.isnan(number.numbers)
    groups = np.zeros(len(tuples), dtype=np.int64)
    if known.any():
        groups[known] = optimal_groups(number.numbers[known], tuples.counts[known], k)
    if tuples.counts[~known].sum() >= k:
        groups[~known] = groups[known].max(initial=-1) + 1
    return groups


def _rank(attribute: Attribute) -> np.ndarray[Any, Any]:
    return attribute.numbers if isinstance(attribute, Number) else attribute.leaves


def _attribute(i: int, q: Mapping[str, Any], rows: pd.DataFrame) -> Attribute:
    tree = q["hierarchy"]
    if q["kind"] == "interval":
        lower, upper = (
            number_sql(bound, column_kind(tree, bound)) for bound in ("lower_bound", "upper_bound")
        )
        (ends,) = query(tree, f"select min({lower}), max({upper}) from {SOURCE}").fetchall()  # noqa: S608
        if ends[0] is None:
            raise RecodingError(f"the hierarchy of {q['name']} must have intervals; it is empty.")
        values = rows[f"n_{i}"].to_numpy(dtype=np.float64, na_value=np.nan)
        return Number((values - ends[0]) / (ends[1] - ends[0]))
    return _category(q["name"], tree, rows[f"q_{i}"])


def _category(name: str, tree: duckdb.DuckDBPyRelation, texts: pd.Series[Any]) -> Category:
    levels = sum(column.lower().startswith("level_") for column in tree.columns)
    labels = [text_sql("value"), *(text_sql(f"level_{level}") for level in range(1, levels))]
    # By bytes, as everywhere: a collation may take different values for the same.
    order = ", ".join(f"encode({label})" for label in reversed(labels))
    found = query(
        tree,
        f"select {', '.join(f'{label} as l_{i}' for i, label in enumerate(labels))} "  # noqa: S608
        f"from {SOURCE} order by {order}",
    ).df()
    places = pd.Index(found["l_0"]).get_indexer(pd.Index(texts.fillna("")))
    is_null = texts.isna().to_numpy()
    if (places[~is_null] < 0).any():
        raise RecodingError(
            f"every value of {name} must be in its hierarchy; {int((places[~is_null] < 0).sum())} "
            "are not. Build again from the microdata on."
        )
    coded = np.array([pd.factorize(found[f"l_{i}"])[0] for i in range(levels)], dtype=np.int64)
    null = np.full((levels, 1), -1, dtype=np.int64)
    leaves = np.where(is_null, len(found), places).astype(np.int64)
    return Category(leaves, np.hstack([coded, null]))
