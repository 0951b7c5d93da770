"""How many people of a population are like the people of each released class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.spec import Spec
from dbt_anonymize.verification.recount.counts import generalized_columns
from dbt_anonymize.verification.relations import (
    Released,
    quoted,
    source_relation,
    text_of,
)
from dbt_anonymize.warehouse import Warehouse

if TYPE_CHECKING:
    from numpy.typing import NDArray


def population_of_classes(
    warehouse: Warehouse, spec: Spec, released: Released, effort: int
) -> NDArray[Any]:
    """Count the population by the labels of an effort, in the order of the released classes.

    Parameters
    ----------
    warehouse : Warehouse
        With the population (raw values, one row per person) and the hierarchies.
    spec : Spec
        The anonymization, with a population relation.
    released : Released
        Its release.
    effort : int
        Number of an effort with levels.

    Returns
    -------
    int array, one per class
        0 for a class that nobody of the population is like.
    """
    levels = spec.numbered_efforts[effort].levels or {}
    names = list(spec.quasi_identifiers)
    joins, labels = [], []
    source = spec.population_relation
    assert source is not None
    population = source_relation(warehouse, source)
    for number, name in enumerate(names):
        join, label = _label(
            warehouse,
            spec,
            name,
            level=levels[name],
            alias=f"label_{number}",
            population=population,
        )
        joins.append(join)
        labels.append(label)
    listed = ", ".join(labels)
    counted = {
        tuple(row[:-1]): row[-1]
        for row in warehouse.rows(
            f"select {listed}, count(*) from {population} as people {' '.join(joins)} "  # noqa: S608
            f"group by {listed}"
        )
    }
    keys = ", ".join(map(released.bytes_of, generalized_columns(spec)))
    shown = ", ".join(f"min({released.quoted(name)})" for name in names)
    classes = released.rows(
        f"select {shown} from {released.relation} group by {keys} order by {keys}"  # noqa: S608
    )
    return np.array([counted.get(tuple(row), 0) for row in classes], dtype=np.int64)


def _label(
    warehouse: Warehouse, spec: Spec, name: str, *, level: int, alias: str, population: Any
) -> tuple[str, str]:
    """Return the join that finds the label of a person, and the label; `*` stands for NULL."""
    raw = f"people.{quoted(warehouse, name)}"
    if level == 0:
        shown = str(warehouse.macro("_as_text", expression=raw))
        return "", f"coalesce({shown}, '*')"
    hierarchy = spec.quasi_identifiers[name]
    tree = warehouse.relation_of_ref(hierarchy.ref)
    label = text_of(warehouse, f"level_{level}")
    if hierarchy.kind == "interval":
        # Each value is looked up once; people find theirs by equality.
        found = (
            f"select found.value, min({label}) as label "  # noqa: S608
            f"from (select distinct {quoted(warehouse, name)} as value from {population}) as found "
            f"inner join {tree} as tree on found.value >= tree.lower_bound "
            "and found.value < tree.upper_bound group by found.value"
        )
        return f"left join ({found}) as {alias} on {raw} = {alias}.value", (
            f"coalesce({alias}.label, '*')"
        )
    value = text_of(warehouse, "value")
    found = f"select {value} as value, min({label}) as label from {tree} group by {value}"  # noqa: S608
    shown = str(warehouse.macro("_as_text", expression=raw))
    return f"left join ({found}) as {alias} on {shown} = {alias}.value", (
        f"coalesce({alias}.label, '*')"
    )
