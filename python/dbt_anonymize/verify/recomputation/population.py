"""Count the records of the population with the labels of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.recomputation.counts import Classes
from dbt_anonymize.verify.recomputation.labels import Generalization


def population_of_classes(
    classes: Classes, generalizations: Mapping[str, Generalization], levels: Mapping[str, int]
) -> NDArray[Any]:
    """Count the population by the labels of an effort, in the order of the classes.

    The population of ``classes.tables`` has raw values, one row per person.
    """
    values = ", ".join(
        f"{generalization.null_if_unknown(quote_name(name))} as {quote_name(name)}"
        for name, generalization in generalizations.items()
    )
    population = f"(select {values} from {classes.tables.population})"  # noqa: S608
    lookups = [
        generalization.label(population, f"rows_.{quote_name(name)}", levels[name], f"label_{n}")
        for n, (name, generalization) in enumerate(generalizations.items())
    ]
    labels = ", ".join(map(quote_name, generalizations))
    labelled = ", ".join(
        f"{lookup.columns[name]} as {quote_name(name)}"
        for name, lookup in zip(generalizations, lookups, strict=True)
    )
    keys = ", ".join(classes.keys)
    keyed = ", ".join(f"{key} as key_{number}" for number, key in enumerate(classes.keys))
    order = ", ".join(f"key_{number}" for number in range(len(classes.keys)))
    minima = ", ".join(f"min({quote_name(name)}) as {quote_name(name)}" for name in generalizations)
    same = " and ".join(
        f"classes.{quote_name(name)} is not distinct from counted.{quote_name(name)}"
        for name in generalizations
    )
    return classes.tables.numbers(
        "select coalesce(counted.records, 0) as counted from "  # noqa: S608
        f"(select {keyed}, {minima} from {classes.relation} group by {keys}) as classes "
        f"left join (select {labels}, count(*) as records from (select {labelled} "
        f"from {population} as rows_ {' '.join(lookup.join for lookup in lookups)}) as labelled "
        f"group by {labels}) as counted on {same} order by {order}"
    )["counted"]
