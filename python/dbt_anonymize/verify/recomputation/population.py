"""How many people of a population are like the people of each released class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import Released, quoted, source_relation, text_of

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
        Its release, attached to the warehouse.
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
    coded = ", ".join(f"{label} as label_{number}" for number, label in enumerate(labels))
    numbered = ", ".join(f"label_{number}" for number in range(len(names)))
    keys = ", ".join(map(released.bytes_of, spec.generalized_columns))
    aliased = ", ".join(
        f"{released.bytes_of(name)} as key_{number}"
        for number, name in enumerate(spec.generalized_columns)
    )
    shown = ", ".join(
        f"min({released.quoted(name)}) as label_{number}" for number, name in enumerate(names)
    )
    same = " and ".join(
        f"classes.label_{number} is not distinct from counted.label_{number}"
        for number in range(len(names))
    )
    order = ", ".join(f"key_{number}" for number in range(len(spec.generalized_columns)))
    found = released.numbers(
        f"select coalesce(counted.people, 0) as people from "  # noqa: S608
        f"(select {aliased}, {shown} from {released.relation} group by {keys}) as classes "
        f"left join (select {numbered}, count(*) as people from "
        f"(select {coded} from {population} as people {' '.join(joins)}) as labelled "
        f"group by {numbered}) as counted on {same} order by {order}"
    )
    return found["people"]


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
