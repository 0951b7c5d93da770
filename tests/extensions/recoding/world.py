"""Random tables to recode, and the warehouse that recodes them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from unittest import mock

import duckdb
from hypothesis import Phase, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.recoding.kernels import (
    Source,
    cell_suppression,
    grouped_recoding,
    local_recoding,
    multidimensional_recoding,
    payout_recoding,
)
from dbt_anonymize.extensions.recoding.records import Records
from tests.extensions.recoding.compilation import LEVELS, Case
from tests.extensions.recoding.oracle import Cell, Record, World
from tests.oracle.generalization import IntervalHierarchy
from tests.sampling import examples
from tests.worlds.hierarchies import categorical_hierarchies, interval_hierarchies

# Without shrinking: a failing table runs through all its rounds for each of hundreds of variants.
PROPERTY = examples(
    settings(
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
    ),
    6,
    3,
)


@st.composite
def worlds(draw: st.DrawFn, case: Case, *, has_nulls: bool = True) -> World:
    """Draw hierarchies and a table: few or many records, skewed, with NULLs and repetition."""
    hierarchies = tuple(
        draw(
            interval_hierarchies(q.sql_type, min_leaves=4)
            if q.kind == "interval"
            else categorical_hierarchies(min_leaves=3)
        )
        for q in case.quasi_identifiers
    )
    # Records by a seed: hypothesis draws single values far too slowly for tables of this size.
    chance = random.Random(draw(st.integers(0, 2**32)))
    skew = draw(st.sampled_from([0.3, 1.0, 3.0]))
    nulls = draw(st.sampled_from([0.0, 0.05, 0.3])) if has_nulls else 0.0
    records = []
    for _ in range(draw(st.sampled_from([0, 1, 3, 20, 60, 150]))):
        values = []
        for hierarchy in hierarchies:
            size = len(hierarchy.labels[0])
            leaf = min(int(chance.random() ** skew * size), size - 1)
            is_interval = isinstance(hierarchy, IntervalHierarchy)
            value: Any = hierarchy.breaks[leaf] if is_interval else hierarchy.values[leaf]
            values.append(None if chance.random() < nulls else value)
        sensitive = chance.choice("aaabbc")
        records.append(Record(tuple(values), sensitive, chance.randrange(60)))
    return World(hierarchies, tuple(records))


def quote(name: str) -> str:
    """Return a quoted name."""
    return '"' + name.replace('"', '""') + '"'


class Warehouse:
    """A connection with the tables of a case."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def load(self, case: Case, world: World, *, order: int = 0) -> None:
        """Create the microdata and the hierarchies, in an order that must not count."""
        chance = random.Random(order)
        for position, hierarchy in enumerate(world.hierarchies):
            sql_type = case.quasi_identifiers[position].sql_type
            is_interval = isinstance(hierarchy, IntervalHierarchy)
            leaf = (
                {"lower_bound": sql_type, "upper_bound": sql_type}
                if is_interval
                else {"value": "varchar"}
            )
            labels = {f"level_{level}": "varchar" for level in range(1, LEVELS + 1)}
            self._create(case.hierarchy(position), {**leaf, **labels}, hierarchy.rows, chance)
        columns = {case.record_key: "integer", case.sensitive: "varchar", "subject": "integer"}
        for quasi in case.quasi_identifiers:
            columns[quasi.name] = columns[f"{quasi.name}_leaf"] = quasi.sql_type
        rows = []
        for key, record in enumerate(world.records):
            cells: list[Any] = [key, record.sensitive, record.subject]
            for value, hierarchy in zip(record.quasi_identifiers, world.hierarchies, strict=True):
                cells += [value, None if value is None else hierarchy.leaf_name(value)]
            rows.append(cells)
        self._create(case.microdata, columns, rows, chance)

    def _create(
        self,
        name: str,
        columns: Mapping[str, str],
        rows: Sequence[Sequence[Any]],
        chance: random.Random,
    ) -> None:
        shuffled = chance.sample(list(rows), len(rows))
        values = list(zip(*shuffled, strict=True)) or [()] * len(columns)
        selected = ", ".join(
            f"unnest(cast(? as {sql_type}[])) as {quote(column)}"
            for column, sql_type in columns.items()
        )
        self.connection.execute(
            f"create or replace table {quote(name)} as select {selected}", [list(v) for v in values]
        )

    def recode(self, case: Case, *, k: int | None = None) -> dict[int, tuple[Cell, ...]]:
        """Run the recoding of a case as dbt does; return what is shown of every record.

        Groups have ``k`` records.
        """
        # Random hierarchies have labels of several meanings, which a build refuses.
        with mock.patch("dbt_anonymize.extensions.recoding.records.check_labels"):
            return self.shown(case, self.recoding(case, k=k))

    def recoding(self, case: Case, *, k: int | None = None) -> duckdb.DuckDBPyRelation:
        """Return what the model of a case returns."""
        source = self.source(case)
        if case.rounds:
            rounds = [dict(zip(source.names, levels, strict=True)) for levels in case.rounds]
            return (payout_recoding if case.is_paid else local_recoding)(source, rounds=rounds)
        if case.levels:
            levels = dict(zip(source.names, case.levels, strict=True))
            importance = dict(zip(source.names, case.importance, strict=False))
            return cell_suppression(source, levels=levels, importance=importance)
        if case.numbers:
            return grouped_recoding(
                source,
                method="mdav",
                least=k or case.required_k,
                numbers=case.numbers,
                categories=case.categories,
            )
        return multidimensional_recoding(source, strict=case.strict)

    def source(self, case: Case) -> Source:
        """Return what the recoding of a case reads."""
        return Source(
            session=self.connection,
            microdata=self.connection.table(quote(case.microdata)),
            record_key=case.record_key,
            quasi_identifiers=[
                {
                    "name": q.name,
                    "kind": q.kind,
                    "levels": LEVELS,
                    "hierarchy": self.connection.table(quote(case.hierarchy(place))),
                }
                for place, q in enumerate(case.quasi_identifiers)
            ],
            guarantees=case.guarantees,
            k=case.k,
            has_subject=case.has_subject,
        )

    def shown(
        self, case: Case, found: str | duckdb.DuckDBPyRelation
    ) -> dict[int, tuple[Cell, ...]]:
        """Return what a relation, or a select, shows of every record."""
        cursor = self.connection.execute(found) if isinstance(found, str) else found
        names = [column[0] for column in cursor.description or []]
        cells = {}
        rows = cursor.fetchall()
        for row in rows:
            record = dict(zip(names, row, strict=True))
            cells[record[case.record_key]] = tuple(
                Cell(
                    record[quasi.name],
                    record.get(f"{quasi.name}_lower"),
                    record.get(f"{quasi.name}_upper"),
                    record[f"{quasi.name}_level"],
                    record[f"{quasi.name}_share"],
                )
                for quasi in case.quasi_identifiers
            )
        assert len(cells) == len(rows)
        return cells


def values_of_rows(records: Records) -> list[tuple[Any, ...]]:
    """Return the quasi-identifiers of distinct rows: numbers where they have any, else leaves."""
    columns = [
        [
            None if code == 0 else leaves.texts[0][code - 1] if numbers is None else number
            for code, number in zip(codes, codes if numbers is None else numbers, strict=True)
        ]
        for leaves, codes, numbers in zip(
            records.leaves, records.codes, records.numbers, strict=True
        )
    ]
    return list(zip(*columns, strict=True))


def plain(bound: Any) -> Any:
    """Return a bound as dates and numbers compare."""
    return bound.toordinal() if isinstance(bound, date) else bound
