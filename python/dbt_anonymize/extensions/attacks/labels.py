"""Raw values that a released label can stand for: the part of an attack that reads labels.

An attacker who sees ``[28, 32)`` keeps everybody of that age, one who sees ``*`` keeps everybody,
NULL included, and one who sees ``01***`` looks it up in the hierarchy, which is public.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Hierarchy, Spec

Kind = Literal["bounds", "interval_text", "category", "raw"]
_TEXT = "VARCHAR"


@dataclass(frozen=True)
class Label:
    """Released form of one quasi-identifier of the attacked anonymization.

    Its raw values are ``v_<number>`` of the knowledge, from 1. ``columns`` of the release hold the
    label: bounds (after the text, if there is one), an interval as text, a label of ``hierarchy``
    (a relation with ``levels``), or the value itself.
    """

    number: int
    name: str
    kind: Kind
    columns: tuple[str, ...]
    hierarchy: str | None = None
    levels: int = 0

    @property
    def shown(self) -> str:
        """SQL for the label as text; ``*`` covers every value."""
        return f"cast({quote_name(self.columns[0])} as varchar)"


def find_labels(
    session: Session, columns: Mapping[str, str], attacked: Spec, published: Spec | None
) -> list[Label]:
    """Return the labels of a release for the quasi-identifiers of an attacked anonymization.

    ``columns`` are the types of its columns, ``published`` is its own spec, if known. A hierarchy
    that is not in the warehouse is a `WarehouseError`.
    """
    labels = []
    for number, (name, own) in enumerate(attacked.quasi_identifiers.items(), 1):
        if published is None:
            label = _undeclared_label(session, columns, number, name, own)
        else:
            label = _declared_label(session, columns, number, name, published)
        if label is not None:
            labels.append(label)
    return labels


def _declared_label(
    session: Session, columns: Mapping[str, str], number: int, name: str, published: Spec
) -> Label | None:
    """Read a label as the spec of its release declares it."""
    if name not in columns:
        return None
    if name not in published.quasi_identifiers:
        return Label(number, name, "raw", (name,))
    tree = published.quasi_identifiers[name]
    if tree.kind == "interval":
        return Label(number, name, "bounds", (name, f"{name}_lower", f"{name}_upper"))
    return _hierarchy_label(session, number, name, tree, "category")


def _undeclared_label(
    session: Session, columns: Mapping[str, str], number: int, name: str, own: Hierarchy
) -> Label | None:
    """Read a label of a release without a spec: by its columns, and our hierarchies."""
    bounds = (f"{name}_lower", f"{name}_upper")
    if name not in columns:
        if all(column in columns for column in bounds):
            return Label(number, name, "bounds", bounds)
        return None
    if own.kind == "categorical":
        return _hierarchy_label(session, number, name, own, "category")
    if all(column in columns for column in bounds):
        return Label(number, name, "bounds", (name, *bounds))
    if columns[name] != _TEXT:
        return Label(number, name, "raw", (name,))
    return _hierarchy_label(session, number, name, own, "interval_text")


def _hierarchy_label(
    session: Session, number: int, name: str, tree: Hierarchy, kind: Kind
) -> Label:
    relation = str(session.warehouse.relation_of_ref(tree.ref))
    return Label(number, name, kind, (name,), relation, tree.levels)


def label_table(session: Session, relation: str, label: Label) -> str:
    """List the labels of a release: ``label`` (a number), ``c_1``, .. (its columns), ``shown``."""
    columns = ", ".join(
        f"{quote_name(name)} as c_{place}" for place, name in enumerate(label.columns, 1)
    )
    order = ", ".join(f"c_{place}" for place in range(1, len(label.columns) + 1))
    return session.table(
        f"labels_{label.number}",
        f"select row_number() over (order by {order}) as label, * from (select distinct {columns}, "
        f"{label.shown} as shown from {relation})",
    )


def value_map(session: Session, label: Label, labels: str, values: str, release: str) -> str:
    """Return a table of the raw values that each label can stand for: ``code``, ``label``.

    NULL is a value. A label that cannot be interpreted is a `VerificationError`.
    """
    readers = {"bounds": _bounds, "interval_text": _texts, "category": _categories, "raw": _raw}
    readable, select = readers[label.kind](label, labels, values)
    (unknown,) = session.row(f"select count(*) from {labels} as l where not ({readable})")
    if unknown:
        raise VerificationError(
            f"{release}: every label of {label.name} must be `*`, an interval with bounds, or a "
            f"label of its hierarchy; {unknown} labels are none of these, so it cannot be said "
            "whom they cover. Give the release of a build of this project, and build it with the "
            "present hierarchies."
        )
    return session.table(f"map_{label.number}", select)


def _anybody(labels: str, values: str) -> str:
    return f"select k.code, l.label from {labels} as l cross join {values} as k where l.shown = '*'"


def _between(labels: str, values: str, lower: str, upper: str) -> str:
    """Return SQL for values within bounds; a raw value is its own lower and upper bound."""
    # Two joins: the engine can sort for the first and hash for the second.
    return (
        f"select k.code, l.label from {labels} as l inner join {values} as k "
        f"on k.value >= l.{lower} and k.value < l.{upper} where l.shown is distinct from '*' "
        f"union all select k.code, l.label from {labels} as l inner join {values} as k "
        f"on k.value = l.{lower} where l.{lower} = l.{upper} and l.shown is distinct from '*'"
    )


def _bounds(label: Label, labels: str, values: str) -> tuple[str, str]:
    lower, upper = ("c_2", "c_3") if len(label.columns) == 3 else ("c_1", "c_2")
    between = _between(labels, values, lower, upper)
    bounded = f"l.{lower} is not null and l.{upper} is not null"
    if len(label.columns) == 2:  # without a text, no label can stand for NULL
        return bounded, between
    readable = f"coalesce(l.shown = '*', false) or ({bounded})"
    return readable, f"{_anybody(labels, values)} union all {between}"


def _tree(label: Label, extra: str) -> str:
    """Return SQL of a hierarchy with one row per leaf and level: ``shown`` and further columns."""
    levels = (
        f"select cast(level_{level} as varchar) as shown, {extra} from {label.hierarchy}"
        for level in range(1, label.levels + 1)
    )
    return f"({' union '.join(levels)})"


def _texts(label: Label, labels: str, values: str) -> tuple[str, str]:
    leaves = _tree(label, "lower_bound, upper_bound")
    spans = (
        f"(select l.label, l.shown, t.lower_bound, t.upper_bound from {labels} as l "
        f"inner join {leaves} as t on l.shown = t.shown)"
    )
    itself = (
        f"select k.code, l.label from {labels} as l inner join {values} as k "
        "on l.shown = cast(k.value as varchar)"
    )
    readable = (
        f"l.shown = '*' or l.shown in (select shown from {leaves}) "
        f"or l.shown in (select cast(value as varchar) from {values})"
    )
    between = _between(spans, values, "lower_bound", "upper_bound")
    select = f"{_anybody(labels, values)} union {between} union {itself}"
    return f"coalesce({readable}, false)", select


def _categories(label: Label, labels: str, values: str) -> tuple[str, str]:
    leaf_column = "cast(value as varchar) as leaf"
    itself = f"select cast(value as varchar) as shown, {leaf_column} from {label.hierarchy}"
    leaves = f"({_tree(label, leaf_column)} union {itself})"
    covered = (
        f"select k.code, l.label from {labels} as l inner join {leaves} as t "
        f"on l.shown = t.shown inner join {values} as k on cast(k.value as varchar) = t.leaf"
    )
    readable = f"l.shown = '*' or l.shown in (select shown from {leaves} as t)"
    return f"coalesce({readable}, false)", f"{_anybody(labels, values)} union {covered}"


def _raw(label: Label, labels: str, values: str) -> tuple[str, str]:
    # The same column of the same source may be text in one release and a number in another.
    same = "cast(k.value as varchar) is not distinct from l.shown"
    select = f"select k.code, l.label from {labels} as l inner join {values} as k on {same}"
    return "true", select
