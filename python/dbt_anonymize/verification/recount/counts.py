"""Counting people by class and value: of the release, and of the source that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dbt_anonymize.spec import Spec
from dbt_anonymize.verification.recount.models import Distribution
from dbt_anonymize.verification.relations import Released, quoted, source_relation, text_of
from dbt_anonymize.warehouse import Warehouse

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Rows(Protocol):
    def rows(self, sql: str) -> list[tuple[Any, ...]]: ...


def generalized_columns(spec: Spec) -> list[str]:
    """Return the columns that make a class: of each quasi-identifier the label and its bounds."""
    columns = []
    for name, hierarchy in spec.quasi_identifiers.items():
        columns.append(name)
        if hierarchy.kind == "interval":
            columns += [f"{name}_lower", f"{name}_upper"]
    return columns


@dataclass(frozen=True)
class People:
    """Rows with the class that they are in and, where a subject is declared, whose they are.

    Parameters
    ----------
    place : Released or Warehouse
        What answers queries.
    relation : str
        The rows, as SQL: a table or a subquery.
    keys : sequence of str
        What tells the classes, as SQL expressions.
    values : mapping
        SQL of each sensitive attribute as text.
    counted : str
        Aggregate that counts people.
    """

    place: _Rows
    relation: str
    keys: tuple[str, ...]
    values: dict[str, str]
    counted: str = "count(*)"

    def sizes(self) -> NDArray[Any]:
        """Return the people of each class, ordered by what tells the classes."""
        keys = ", ".join(self.keys)
        sql = (
            f"select {self.counted} as people from {self.relation} group by {keys} order by {keys}"  # noqa: S608
        )
        return np.array([row[0] for row in self.place.rows(sql)], dtype=np.int64)

    def distribution(self, attribute: str, sizes: NDArray[Any], table: Totals) -> Distribution:
        """Return how the values of an attribute are distributed in the classes and the table."""
        names = [f"key_{number}" for number in range(len(self.keys))]
        keyed = ", ".join(f"{key} as {name}" for key, name in zip(self.keys, names, strict=True))
        group, value = ", ".join(self.keys), self.values[attribute]
        rows = self.place.rows(
            f"select dense_rank() over (order by {', '.join(names)}) - 1 as class, found, people "  # noqa: S608
            f"from (select {keyed}, {value} as found, {self.counted} as people "
            f"from {self.relation} group by {group}, {value}) as counted"
        )
        number_of = {text: number for number, text in enumerate(table.texts)}
        unknown: dict[Any, int] = {}
        class_of = np.array([row[0] for row in rows], dtype=np.int64)
        value_of = np.array(
            [
                number_of[text]
                if (text := _text(row[1])) in number_of
                else len(number_of) + unknown.setdefault(text, len(unknown))
                for row in rows
            ],
            dtype=np.int64,
        )
        people = np.array([row[2] for row in rows], dtype=np.int64)
        order = np.lexsort((value_of, class_of))
        return Distribution(
            sizes, class_of[order], value_of[order], people[order], table.people, table.texts
        )


@dataclass(frozen=True)
class Totals:
    """The values of an attribute in the whole source, NULL last, and who has them."""

    texts: tuple[str | None, ...]
    people: NDArray[Any]


def read_totals(warehouse: Warehouse, spec: Spec, attribute: str) -> Totals:
    """Count the values of a sensitive attribute in the source, also of suppressed records.

    They are in the order of the data type of the source.
    """
    column, text = quoted(warehouse, attribute), text_of(warehouse, attribute)
    counted = counted_in_source(warehouse, spec)
    rows = warehouse.rows(
        f"select found, people from (select {text} as found, min({column}) as first, "  # noqa: S608
        f"{counted} as people from {source_relation(warehouse, spec.source)} group by {text}) "
        "as counted order by case when found is null then 1 else 0 end, first, found"
    )
    return Totals(tuple(_text(row[0]) for row in rows), np.array([row[1] for row in rows]))


def counted_in_source(warehouse: Warehouse, spec: Spec) -> str:
    """Return the aggregate that counts people in the source."""
    return f"count(distinct {quoted(warehouse, spec.subject)})" if spec.subject else "count(*)"


def people_of_release(released: Released, spec: Spec) -> People:
    """Return the released rows, by every label and bound: a record each, and a person each."""
    return People(
        place=released,
        relation=released.relation,
        keys=tuple(map(released.bytes_of, generalized_columns(spec))),
        values={name: released.bytes_of(name) for name in spec.sensitive},
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
        keys=(str(warehouse.macro("_as_bytes", expression="cqi")),),
        values={name: text_of(warehouse, name) for name in spec.sensitive},
        counted=counted_in_source(warehouse, spec),
    )


def _text(found: Any) -> str | None:
    if isinstance(found, (bytes, bytearray, memoryview)):
        return bytes(found).decode("utf-8", "surrogatepass")
    return None if found is None else str(found)
