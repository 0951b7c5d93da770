"""A frozen recoding: everybody keeps her labels, and new records get what the seed says."""

from __future__ import annotations

import graphlib
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import Hierarchy
from dbt_anonymize.verify.recomputation.labels import Generalization
from dbt_anonymize.verify.recomputation.tables import Tables
from tests.extensions.recoding.compilation import (
    CASES,
    CELL_CASES,
    LEVELS,
    LOCAL_CASES,
    PAID_CASES,
    Case,
    exact,
    frozen_statements,
)
from tests.extensions.recoding.oracle import Cell, Record, World
from tests.extensions.recoding.world import PROPERTY, Warehouse, quote, worlds
from tests.oracle.generalization import IntervalHierarchy
from tests.sampling import examples

pytestmark = [pytest.mark.sampled_tests(2), pytest.mark.needs("second_month")]

each_case = pytest.mark.parametrize(
    "case", [*CASES, *LOCAL_CASES, *PAID_CASES, *CELL_CASES], ids=lambda case: str(case.name)
)
Row = tuple[Any, ...]


class Built:
    """Stands for the warehouse after a build: macros by name, and the rows of their queries."""

    def __init__(self, case: Case, connection: duckdb.DuckDBPyConnection) -> None:
        self.case, self.connection = case, connection

    def relation_of_ref(self, name: str) -> str:
        """Return the name itself."""
        return name

    def macro(self, name: str, **arguments: Any) -> str:
        """Return the query of a macro."""
        if name == "_ordered_leaves":
            name += f"_{arguments['quasi_identifier']['hierarchy'].rpartition('_')[2]}"
        return frozen_statements()[f"{self.case.name}{name}"]

    def rows(self, sql: str) -> list[Row]:
        """Return the rows of a query."""
        return self.connection.execute(sql).fetchall()


def freeze(case: Case, warehouse: Warehouse, shown: Mapping[int, Sequence[Cell]]) -> list[Row]:
    """Return what is committed of the classes that are not suppressed: those of two and more."""
    classes = defaultdict[tuple[str, ...], list[int]](list)
    for key, cells in shown.items():
        classes[tuple(cell.label for cell in cells)].append(key)
    rows = []
    for key, cells in shown.items():
        labels = tuple(cell.label for cell in cells)
        row: list[Any] = [key, repr(labels), len(classes[labels]) < case.required_k]
        for cell in cells:
            row += [cell.label, cell.lower, cell.upper, cell.level]
        rows.append(row)
    columns = {quote(case.record_key): "int", "equivalence_class": "text", "is_suppressed": "bool"}
    for quasi in case.quasi_identifiers:
        bounds = quasi.sql_type if quasi.kind == "interval" else "int"
        columns[quote(quasi.name)] = "text"
        columns |= {quote(f"{quasi.name}_{end}"): bounds for end in ("lower", "upper")}
        columns[quote(f"{quasi.name}_level")] = "int"
    store(warehouse.connection, f"{case.name}_effort", columns, rows)
    trees = {
        quasi.name: SimpleNamespace(kind=quasi.kind, levels=LEVELS, ref=case.hierarchy(place))
        for place, quasi in enumerate(case.quasi_identifiers)
    }
    effort = SimpleNamespace(exact=lambda _: exact(case), kind=case.name)
    spec = SimpleNamespace(
        name=case.name,
        record_key=case.record_key,
        quasi_identifiers=trees,
        numbered_efforts={1: effort},
    )
    from dbt_anonymize.extensions.second_month.freezing import class_rows

    return list(class_rows(Built(case, warehouse.connection), spec, 1))  # type: ignore[arg-type]


def store(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Make a table."""
    described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    connection.execute(f"create or replace table {name} ({described})")
    lists = [[row[place] for row in rows] for place in range(len(columns))]
    selected = ", ".join(f"unnest(cast(? as {kind}[]))" for kind in columns.values())
    connection.execute(f"insert into {name} select {selected}", lists)


def store_labels(case: Case, warehouse: Warehouse, rows: Sequence[Row]) -> None:
    """Load the seed as dbt does, for which an empty text is NULL."""
    names = ("attribute", "level", "leaf", "upper_bound", "label")
    columns = {**dict.fromkeys(names, "text"), "class_number": "int"}
    loaded = [[None if cell in {"", None} else str(cell) for cell in row] for row in rows]
    store(warehouse.connection, f"{case.name}_labels", columns, loaded)


def held(world: World, classes: Sequence[Sequence[Row]], record: Record) -> list[Row]:
    """Return the labels of the first class that holds a record, by comparing its raw values."""
    for labels in classes:
        rows = zip(world.hierarchies, labels, record.quasi_identifiers, strict=True)
        if all(itertools.starmap(holds, rows)):
            return list(labels)
    raise AssertionError("the last class must hold everything")


def holds(hierarchy: Any, label: Row, value: Any) -> bool:
    _, level, lower, upper, text, _ = label
    if not isinstance(hierarchy, IntervalHierarchy):
        if value is None or level == 0:
            return bool(text == ("*" if value is None else value))
        return bool(text == hierarchy.labels[level - 1][hierarchy.leaf(value)])
    if text == "*" and lower is None:
        return True
    if value is None:
        return False
    if level == 0:
        return bool(text == str(value))
    if isinstance(lower, str):
        kind: Any = date.fromisoformat if isinstance(value, date) else float
        lower, upper = kind(lower), kind(upper)
    return bool(lower <= value < upper)


def as_row(hierarchy: Any, cell: Cell) -> Row:
    """Return a released label as the seed has it, with typed bounds."""
    is_whole = isinstance(hierarchy, IntervalHierarchy) and (cell.lower, cell.upper) == (
        hierarchy.breaks[0],
        hierarchy.breaks[-1],
    )
    bounds = (None, None) if cell.label == "*" and is_whole else (cell.lower, cell.upper)
    return (None, cell.level, *bounds, cell.label, None)


def is_ambiguous(case: Case, shown: Mapping[int, Sequence[Cell]]) -> bool:
    """Tell whether a label stands for several intervals or levels, of which builds stop."""
    for place in range(len(case.quasi_identifiers)):
        cells = {(c[place].label, c[place].lower, c[place].upper) for c in shown.values()}
        if len({label for label, *_ in cells}) < len(cells):
            return True
    return False


def has_order(case: Case, world: World, shown: Mapping[int, Sequence[Cell]]) -> bool:
    """Tell whether in some order of the classes the first that holds a record is its own."""
    own = {key: tuple(cell.label for cell in cells) for key, cells in shown.items()}
    sizes = Counter(own.values())
    highest = dict[tuple[str, ...], Sequence[Cell]]()
    for key, cells in shown.items():
        if sizes[own[key]] >= case.required_k:
            pairs = zip(cells, highest.get(own[key], cells), strict=True)
            highest[own[key]] = [max(pair, key=lambda cell: cell.level or 0) for pair in pairs]
    classes = {name: list(map(as_row, world.hierarchies, cells)) for name, cells in highest.items()}
    before = {name: set[tuple[str, ...]]() for name in classes}
    for key, record in enumerate(world.records):
        for name, labels in classes.items() if own[key] in classes else ():
            rows = zip(world.hierarchies, labels, record.quasi_identifiers, strict=True)
            if name != own[key] and all(itertools.starmap(holds, rows)):
                before[name].add(own[key])
    try:
        graphlib.TopologicalSorter(before).prepare()
    except graphlib.CycleError:
        return False
    return True


def next_month(world: World, chance: random.Random) -> World:
    """Return other records of the same hierarchies: known ones, mixed ones, inside of leaves."""
    columns = list(zip(*(r.quasi_identifiers for r in world.records), strict=True))
    columns = columns or [()] * len(world.hierarchies)
    records = list(chance.sample(world.records, len(world.records) // 2))
    for _ in range(40):
        values: list[Any] = []
        for hierarchy, known in zip(world.hierarchies, columns, strict=True):
            leaf = chance.randrange(len(hierarchy.labels[0]))
            if known and chance.random() < 0.6:
                values.append(chance.choice(known))
            elif not isinstance(hierarchy, IntervalHierarchy):
                values.append(hierarchy.values[leaf])
            else:
                lower, upper = hierarchy.breaks[leaf : leaf + 2]
                inside = lower + (upper - lower) / 2 if chance.random() < 0.5 else lower
                values.append(inside)
        records.append(Record(tuple(values), chance.choice("abc"), chance.randrange(60)))
    return World(world.hierarchies, tuple(records))


def verified(case: Case, warehouse: Warehouse) -> dict[int, list[Any]]:
    """Return label and bounds of every record as `verify` computes them."""
    tables = Tables(warehouse.connection, case.microdata, {}, frozen=f"{case.name}_labels")
    generalizations = {
        quasi.name: Generalization(
            quasi.name,
            Hierarchy(ref=case.hierarchy(place), kind=quasi.kind, levels=LEVELS),
            case.hierarchy(place),
            tables.text,
        )
        for place, quasi in enumerate(case.quasi_identifiers)
    }
    from dbt_anonymize.extensions.second_month.recomputation import place_records

    found = place_records(tables, generalizations, case.microdata, "verified")
    columns = ", ".join(found.labels.columns.values())
    rows = warehouse.connection.execute(
        f"select rows_.{quote(case.record_key)}, {columns} from {case.microdata} as rows_ "
        f"{found.labels.join}"
    ).fetchall()
    for table in found.created:
        warehouse.connection.execute(f"drop table {table}")
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: list(row[1:]) for row in rows}


@each_case
@given(data=st.data())
@examples(PROPERTY, 15, 6)
def test_labels_are_those_of_the_first_class_that_holds_a_record(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world)
    shown = warehouse.recode(case)
    assume(not is_ambiguous(case, shown))
    if not has_order(case, world, shown):
        with pytest.raises(SpecError, match="no order of them gives every record its own"):
            freeze(case, warehouse, shown)
        return
    rows = freeze(case, warehouse, shown)
    store_labels(case, warehouse, rows)
    frozen = frozen_statements()[f"{case.name}_frozen_rows"]
    sizes = defaultdict[tuple[str, ...], int](int)
    for cells in shown.values():
        sizes[tuple(cell.label for cell in cells)] += 1
    for key, cells in warehouse.shown(case, frozen).items():
        if sizes[tuple(cell.label for cell in shown[key])] >= case.required_k:
            assert [c.label for c in cells] == [c.label for c in shown[key]]
            assert [(c.lower, c.upper) for c in cells] == [(c.lower, c.upper) for c in shown[key]]
            assert [c.share for c in cells] == pytest.approx([c.share for c in shown[key]])
    numbers = defaultdict[int, list[Row]](list)
    for row in rows:
        if row[-1] is not None:
            numbers[row[-1]].append(row)
    classes = [numbers[number] for number in sorted(numbers)]
    later = next_month(world, random.Random(len(rows)))
    warehouse.load(case, later)
    found = warehouse.shown(case, frozen)
    assert sorted(found) == list(range(len(later.records)))
    assert len(classes[-1]) == len(case.quasi_identifiers)
    recomputed = verified(case, warehouse)
    for key, record in enumerate(later.records):
        expected = held(world, classes, record)
        assert [cell.label for cell in found[key]] == [label[4] for label in expected]
        assert [cell.level for cell in found[key]] == [label[1] for label in expected]
        bounds: list[Any] = []
        for cell, quasi in zip(found[key], case.quasi_identifiers, strict=True):
            bounds += [cell.label]
            bounds += [cell.lower, cell.upper] if quasi.kind == "interval" else []
        assert recomputed[key] == bounds
