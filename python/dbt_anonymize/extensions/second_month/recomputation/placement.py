"""Labels of a frozen recoding, from the committed seed and the values of the source alone.

Every value is compared with every label of its quasi-identifier, and every combination of values
with the classes in the order of the seed: it belongs to the first one that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.verify.recomputation.labels import ROOT, Generalization, Lookup
from dbt_anonymize.verify.recomputation.tables import Tables

# For each class: its label of one quasi-identifier, the level as text, and the bounds as text.
_Labels = list[tuple[str, str | None, str | None, str | None]]


@dataclass(frozen=True)
class Placement:
    """Placement of records in classes: temporary tables, and the lookup of labels in them."""

    created: tuple[str, ...]
    labels: Lookup


def place_records(
    tables: Tables, generalizations: Mapping[str, Generalization], source: str, prefix: str
) -> Placement:
    """Place every combination of values of ``source``, and return how to look up its labels."""
    classes = _classes(tables, generalizations)
    created, joins, columns = list[str](), list[str](), dict[str, str]()
    holds, of_class = list[NDArray[Any]](), list[NDArray[Any]]()
    for number, (name, generalization) in enumerate(generalizations.items()):
        values, labels = f"{prefix}_values_{number}", f"{prefix}_labels_{number}"
        created += [values, labels]
        tables.connection.execute(
            f"create temp table {values} as select row_number() over () - 1 as place, value "  # noqa: S608
            f"from (select distinct {quote_name(name)} as value from {source} as rows_)"
        )
        distinct = list(dict.fromkeys(classes[name]))
        _store_labels(tables, generalization, labels, distinct)
        holds.append(_membership(tables, generalization, values, labels, len(distinct)))
        places = {label: place for place, label in enumerate(distinct)}
        of_class.append(np.array([places[label] for label in classes[name]]))
        joins.append(
            f"left join {values} as value_{number} "
            f"on rows_.{quote_name(name)} is not distinct from value_{number}.value"
        )
        columns |= _columns(generalization, f"label_{number}", f"value_{number}.value")
    codes = tables.numbers(
        f"select distinct {', '.join(f'value_{n}.place as value_{n}' for n in range(len(holds)))} "  # noqa: S608
        f"from {source} as rows_ {' '.join(joins)}"
    )
    first = _first_classes(list(codes.values()), holds, of_class)
    placed = f"{prefix}_placed"
    created.append(placed)
    _store(tables, placed, codes | {f"label_{n}": own[first] for n, own in enumerate(of_class)})
    same = (f"placed.value_{n} = value_{n}.place" for n in range(len(holds)))
    joins.append(f"left join {placed} as placed on {' and '.join(same)}")
    joins += [
        f"left join {prefix}_labels_{n} as label_{n} on placed.label_{n} = label_{n}.place"
        for n in range(len(holds))
    ]
    return Placement(tuple(created), Lookup(" ".join(joins), columns))


def _classes(tables: Tables, generalizations: Mapping[str, Generalization]) -> dict[str, _Labels]:
    """Read the labels of the classes in order, by quasi-identifier."""
    classes: dict[str, _Labels] = {name: [] for name in generalizations}
    numbers = dict[str, list[int]]()
    for name, labels in classes.items():
        rows = tables.rows(
            "select class_number, coalesce(label, ''), "  # noqa: S608
            "cast(level as varchar), leaf, upper_bound "
            f"from {tables.frozen} where attribute = {quote_text(name)} "
            "and class_number is not null order by class_number"
        )
        numbers[name] = [row[0] for row in rows]
        labels += [tuple(row[1:]) for row in rows]
    (first, *others) = numbers.values()
    is_last = all({label for label, *_ in labels[-1:]} == {ROOT} for labels in classes.values())
    if not is_last or len(set(first)) < len(first) or any(n != first for n in others):
        raise VerificationError(
            f"{tables.frozen}: every class must have one label of every quasi-identifier, and the "
            "last one must hold everything; it is not so. Restore the seed and build again."
        )
    return classes


def _membership(
    tables: Tables, tree: Generalization, values: str, labels: str, count: int
) -> NDArray[Any]:
    """Return a matrix of values and labels: whether the label holds the value."""
    text = tree.text("value")
    if tree.is_interval:
        condition = (
            f"(label = {quote_text(ROOT)} and lower is null) or (value >= lower and value < upper) "
            f"or (level = '0' and {text} = label)"
        )
    else:
        above = " union all ".join(
            f"select {tree.text('value')}, {quote_text(str(level))}, {tree.text(f'level_{level}')} "  # noqa: S608
            f"from {tree.relation}"
            for level in range(1, tree.hierarchy.levels + 1)
        )
        condition = (
            f"(label = {quote_text(ROOT)} and value is null) or (level = '0' and {text} = label) "
            f"or (value is not null and ({text}, level, label) in ({above}))"
        )
    pairs = tables.numbers(
        f"select values_.place as value, labels.place as label from {values} as values_ "  # noqa: S608
        f"inner join {labels} as labels on {condition}"
    )
    ((size,),) = tables.rows(f"select count(*) from {values}")  # noqa: S608
    is_member = np.zeros((size, count), dtype=bool)
    is_member[pairs["value"], pairs["label"]] = True
    return is_member


def _first_classes(
    codes: list[NDArray[Any]], memberships: list[NDArray[Any]], of_class: list[NDArray[Any]]
) -> NDArray[Any]:
    """Return the first class of each combination of values."""
    first = np.zeros(len(codes[0]), dtype=np.int64)
    rest = np.arange(len(first))
    for place, labels in enumerate(zip(*of_class, strict=True)):
        is_held = np.ones(len(rest), dtype=bool)
        for code, is_member, label in zip(codes, memberships, labels, strict=True):
            is_held &= is_member[code[rest], label]
        first[rest[is_held]] = place
        rest = rest[~is_held]
        if not len(rest):
            return first
    raise VerificationError(
        f"{len(rest):,} combinations of values are held by no class of the frozen labels. Restore "
        "the seed and build again."
    )


def _columns(tree: Generalization, row: str, value: str) -> dict[str, str]:
    """Return SQL of a label and its bounds; those of the root are the whole range."""
    columns = {tree.name: f"{row}.label"}
    if tree.is_interval:
        ends = (("lower", "min(lower_bound)"), ("upper", "max(upper_bound)"))
        is_root = f"{row}.label = {quote_text(ROOT)} and {row}.lower is null"
        for name, (end, whole) in zip(tree.columns[1:], ends, strict=True):
            columns[name] = (
                f"case when {is_root} then (select {whole} from {tree.relation}) "  # noqa: S608
                f"when {row}.level = '0' then {value} else {row}.{end} end"
            )
    return columns


def _store_labels(tables: Tables, tree: Generalization, name: str, labels: _Labels) -> None:
    """Store labels with their places, and bounds of the type of the hierarchy."""
    kind = "varchar"
    if tree.is_interval:
        kind = tables.types(f"select lower_bound from {tree.relation}")["lower_bound"]  # noqa: S608
    bounds = ", ".join(f"cast({end} as {kind}) as {end}" for end in ("lower", "upper"))
    bounds += ", cast(level as varchar) as level"
    names = ("label", "level", "lower", "upper")
    columns = dict(zip(names, zip(*labels, strict=True), strict=True))
    _store(tables, name, {"place": range(len(labels)), **columns}, f"* replace ({bounds})")


def _store(tables: Tables, name: str, columns: Mapping[str, Any], selected: str = "*") -> None:
    """Store columns as a temporary table."""
    import pandas as pd  # noqa: PLC0415 (keeps other commands fast)

    tables.connection.register(f"{name}_frame", pd.DataFrame(dict(columns)))
    tables.connection.execute(
        f"create temp table {name} as select {selected} from {name}_frame"  # noqa: S608
    )
    tables.connection.unregister(f"{name}_frame")
