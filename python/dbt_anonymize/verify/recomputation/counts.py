"""Counting people by class and value: of the release, and of the source that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.models import Distribution
from dbt_anonymize.verify.relations import Released, as_text, quoted, source_relation

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Numbers(Protocol):
    def numbers(self, sql: str) -> dict[str, NDArray[Any]]: ...


@dataclass(frozen=True)
class Totals:
    """The values of an attribute in the whole source, in the order of its data type, NULL last.

    Parameters
    ----------
    people : int array, one per value
        Who has it.
    texts : tuple of str or None
        The values as text; empty where no guarantee of the attribute needs them.
    """

    people: NDArray[Any]
    texts: tuple[str | None, ...]


@dataclass(frozen=True)
class People:
    """Rows with the class that they are in and, where a subject is declared, whose they are.

    Parameters
    ----------
    place : Released or Warehouse
        What answers queries: the warehouse, and the release attached to it.
    relation : str
        The rows, as SQL: a table or a subquery.
    keys : sequence of str
        What tells the classes, as SQL expressions.
    counted : str
        Aggregate that counts people.
    """

    place: _Numbers
    relation: str
    keys: tuple[str, ...]
    counted: str = "count(*)"

    def sizes(self) -> NDArray[Any]:
        """Return the people of each class, ordered by what tells the classes."""
        keys = ", ".join(self.keys)
        sql = (
            f"select {self.counted} as people from {self.relation} group by {keys} order by {keys}"  # noqa: S608
        )
        return self.place.numbers(sql)["people"]

    def distribution(
        self,
        warehouse: Warehouse,
        spec: Spec,
        attribute: str,
        sizes: NDArray[Any],
        totals: Totals,
    ) -> Distribution:
        """Return how the values of an attribute are distributed in the classes and the table.

        Values get their numbers in the database; a value that the table does not have gets the
        number after all others.
        """
        names = [f"key_{number}" for number in range(len(self.keys))]
        keyed = ", ".join(f"{key} as {name}" for key, name in zip(self.keys, names, strict=True))
        group, value = ", ".join(self.keys), f"encode({as_text(quote_name(attribute))})"
        found = self.place.numbers(
            "select counted.class, "  # noqa: S608
            f"coalesce(totals.number, {len(totals.people)}) as value, counted.people from "
            f"(select dense_rank() over (order by {', '.join(names)}) - 1 as class, found, people "
            f"from (select {keyed}, {value} as found, {self.counted} as people "
            f"from {self.relation} group by {group}, {value}) as cells) as counted "
            "left join (select encode(found) as found, place - 1 as number "
            f"from ({_totals(warehouse, spec, attribute)}) as ranked) as totals "
            "on counted.found is not distinct from totals.found order by class, value"
        )
        return Distribution(
            sizes, found["class"], found["value"], found["people"], totals.people, totals.texts
        )


def read_totals(warehouse: Warehouse, spec: Spec, attribute: str) -> Totals:
    """Count the values of a sensitive attribute in the source, also of suppressed records."""
    totals = _totals(warehouse, spec, attribute)
    people = warehouse.numbers(f"select people from ({totals}) as totals order by place")  # noqa: S608
    texts: tuple[str | None, ...] = ()
    if _needs_texts(spec, attribute):
        rows = warehouse.rows(f"select found from ({totals}) as totals order by place")  # noqa: S608
        texts = tuple(row[0] for row in rows)
    return Totals(people["people"], texts)


def _needs_texts(spec: Spec, attribute: str) -> bool:
    """Tell whether a guarantee names values of an attribute, or looks them up in a hierarchy."""
    return any(
        guarantee.get("attribute") == attribute
        and ("values" in guarantee or guarantee.get("distance") == "hierarchical")
        for guarantee in spec.guarantees.resolved
    )


def _totals(warehouse: Warehouse, spec: Spec, attribute: str) -> str:
    """Query of the values in the source: ``found`` (text), ``people``, ``place`` (to order by)."""
    column = quoted(warehouse, attribute)
    text, counted = as_text(column), counted_in_source(warehouse, spec)
    return (
        f"select {text} as found, {counted} as people, "  # noqa: S608
        f"row_number() over (order by case when {text} is null then 1 else 0 end, min({column}), "
        f"{text}) as place from {source_relation(warehouse, spec.source)} group by {text}"
    )


def counted_in_source(warehouse: Warehouse, spec: Spec) -> str:
    """Return the aggregate that counts people in the source."""
    return f"count(distinct {quoted(warehouse, spec.subject)})" if spec.subject else "count(*)"


def people_of_release(released: Released, spec: Spec) -> People:
    """Return the released rows, by every label and bound: a record each, and a person each."""
    return People(
        place=released,
        relation=released.relation,
        keys=tuple(map(released.bytes_of, spec.generalized_columns)),
    )


def people_of_vault(warehouse: Warehouse, spec: Spec) -> People:
    """Return the released rows as vault and source know them: by ``cqi``, and whose they are.

    Only where every group of the vault has been proved to be a group of the release.
    """
    key = quoted(warehouse, spec.record_key)
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    source = source_relation(warehouse, spec.source)
    needed = dict.fromkeys([str(spec.subject), *spec.sensitive])
    columns = ", ".join(f"source.{quoted(warehouse, name)}" for name in needed)
    return People(
        place=warehouse,
        relation=(
            f"(select vault.cqi, {columns} from {vault} as vault inner join {source} as source "  # noqa: S608
            f"on vault.{key} = source.{key} where vault.cqi is not null) as traced"
        ),
        keys=("encode(cqi)",),
        counted=counted_in_source(warehouse, spec),
    )
