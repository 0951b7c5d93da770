"""Linked tables of a built project, for `dbt-anonymize search`."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.linked.declared import SUBJECTS, LinkedTable, keys_of
from dbt_anonymize.extensions.linked.graph import as_bytes
from dbt_anonymize.extensions.linked.levels.coded import Aim, CodedTables, Node, code_tables
from dbt_anonymize.extensions.linked.levels.search import LevelSearch
from dbt_anonymize.hierarchies.model import ROOT
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.label_shares import shares_of_labels, width
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Hierarchy, Spec


@dataclass(frozen=True)
class SearchedTables:
    """The linked tables of a spec, read for a search: see `search.beside.Beside`."""

    tables: CodedTables
    aim: Aim
    key: str = "linked"

    @property
    def columns(self) -> dict[str, list[str]]:
        """The quasi-identifiers of each table."""
        return {name: [*table.columns] for name, table in self.tables.by_name.items()}

    @property
    def size(self) -> int:
        """Number of combinations of levels."""
        return self.tables.size

    @property
    def is_large(self) -> bool:
        """Tell whether there are too many to search through them."""
        return self.tables.is_large

    def search(self, classes: Ints, k: int) -> LevelSearch:
        """Return a search of levels beside classes of the subjects, -1 of those left out."""
        aim = replace(self.aim, k=max(k, self.aim.k))
        return LevelSearch(self.tables, classes, aim)

    def levels(self, nodes: Sequence[Node]) -> dict[str, dict[str, int]]:
        """Return levels as an effort declares them."""
        by_table = zip(self.columns.items(), nodes, strict=True)
        return {name: dict(zip(columns, node, strict=True)) for (name, columns), node in by_table}


def read_searched(warehouse: Warehouse, spec: Spec) -> SearchedTables | None:
    """Read the working copies of linked tables; None of a spec without any.

    Subjects and records are in the order of the bytes of their keys, as a build takes them.
    """
    linked = keys_of(spec).linked
    if linked is None:
        return None
    if not warehouse.is_duckdb:
        raise SearchError(
            f"levels of linked tables must be searched in DuckDB; got {warehouse.kind}. Search on "
            "such a target, with a copy of the tables, or write the efforts by hand."
        )
    remedy = (
        f"Run `dbt-anonymize generate {spec.name}` and "
        f"`dbt build --select +{spec.name}_frequencies +{spec.name}_linked_table_*`."
    )
    microdata = warehouse.relation_of_ref(f"{spec.name}_microdata", remedy=remedy)
    ends = {SUBJECTS: (microdata, spec.record_key)}
    ((subjects,),) = warehouse.rows(f"select count(*) from {microdata}")
    tables = {}
    for name, table in keys_of(spec).linked_tables.items():
        relation = warehouse.relation_of_ref(f"{spec.name}_linked_table_{name}", remedy=remedy)
        sensitive = table.sensitive if linked.l else []
        tables[name] = _read_table(warehouse, table, sensitive, relation, ends[table.over]) | {
            "over": "" if table.over == SUBJECTS else table.over,
            "most_lost": keys_of(spec).limit_of(name),
        }
        ends[name] = (relation, table.key)
    own = _sensitive_of(warehouse, spec, microdata) if linked.l and spec.sensitive else []
    loss = spec.information_loss
    aim = Aim(
        k=spec.largest_k,
        known_records=linked.known_records,
        known_count=linked.known_count,
        aggregate=loss.aggregate,
        generalization_suppression_factor=loss.generalization_suppression_factor,
        diversity=linked.l,
    )
    return SearchedTables(code_tables(np.arange(subjects), tables, own), aim)


def _read_table(
    warehouse: Warehouse,
    table: LinkedTable,
    sensitive: Sequence[str],
    relation: Any,
    over: tuple[Any, str],
) -> dict[str, Any]:
    parents, parent_key = over
    trees = table.quasi_identifiers
    codes = "".join(
        f", dense_rank() over (order by {quote_name(name)} nulls last) - 1 as c{place}"
        for place, name in enumerate(trees)
    )
    added = "".join(f", s{place}" for place in range(len(sensitive)))
    arrays = warehouse.numbers(
        f"with parents as ({_numbered(parents, parent_key)}), records as (select "
        f"{_bytes(table.parent)} as link, row_number() over (order by {_bytes(table.key)}) - 1 "
        f"as number{codes}{_codes_sql(sensitive)} from {relation}) "
        "select records.number, parents.number as parent"
        f"{''.join(f', c{place}' for place in range(len(trees)))}{added} "
        "from records inner join parents on records.link = parents.link order by records.number"
    )
    names = ["number", "parent", *trees]
    numbers = [array.astype(np.int64, copy=False) for array in arrays.values()]
    read: dict[str, Any] = {
        "rows": dict(zip(names, numbers, strict=False)),
        "sensitive": numbers[len(names) :],
        "labels": {},
        "shares": {},
        "smallest": {},
    }
    for name, tree in trees.items():
        labels, shares, smallest = _levels_of(warehouse, relation, name, tree)
        read["labels"][name], read["shares"][name] = labels, shares
        read["smallest"][name] = smallest
    return read


def _sensitive_of(warehouse: Warehouse, spec: Spec, microdata: Any) -> list[Ints]:
    """Return the codes of each sensitive column of the subjects."""
    arrays = warehouse.numbers(
        f"select * exclude (number) from (select row_number() over (order by "
        f"{_bytes(spec.record_key)}) as number{_codes_sql(spec.sensitive)} from {microdata}) "
        "order by number"
    )
    return [array.astype(np.int64, copy=False) for array in arrays.values()]


def _codes_sql(columns: Sequence[str]) -> str:
    """Return SQL of a number for the value of each column, of which NULL is one."""
    return "".join(
        f", dense_rank() over (order by {_bytes(column)}) - 1 as s{place}"
        for place, column in enumerate(columns)
    )


def _numbered(relation: Any, key: str) -> str:
    """Return SQL of the keys of a relation and the place of each."""
    return (
        f"select {_bytes(key)} as link, row_number() over (order by {_bytes(key)}) - 1 as number "
        f"from {relation}"
    )


def _bytes(column: str) -> str:
    return as_bytes(quote_name(column))


def _levels_of(
    warehouse: Warehouse, relation: Any, name: str, tree: Hierarchy
) -> tuple[list[list[str]], list[Floats], float]:
    """Return label and share of each value that occurs, by level, and the share of a raw one."""
    if not tree.nested:
        raise SearchError(
            f"hierarchies must be nested to be searched; that of {name} is not. Write the efforts "
            "by hand, or make it nested."
        )
    hierarchy = warehouse.relation_of_ref(tree.ref)
    is_interval = tree.kind == "interval"
    leaf = "lower_bound" if is_interval else "cast(value as varchar)"
    bounds = "min(lower_bound), max(upper_bound)" if is_interval else "0, 0"
    listed = ", ".join(f"min(cast(level_{n} as varchar))" for n in range(1, tree.levels + 1))
    leaves = warehouse.rows(
        f"select cast({leaf} as varchar), {bounds}, {listed} from {hierarchy} group by {leaf}"
    )
    column, of_leaf = quote_name(name), quote_name(f"{name}_leaf")
    values = warehouse.rows(
        f"select cast({column} as varchar), cast(min({of_leaf}) as varchar) from {relation} "
        f"group by {column} order by {column} nulls last"
    )
    place = {row[0]: number for number, row in enumerate(leaves)}
    # The last is that of NULL, which is everything.
    places = np.array([place.get(of, -1) for _, of in values], dtype=np.int64)
    if any(at < 0 and value is not None for at, (value, _) in zip(places, values, strict=True)):
        raise SearchError(
            f"the hierarchy of {name} must be the one that the working copies were built with. "
            "Build them again."
        )
    smallest = 0.0 if is_interval else 1.0 / len(leaves)
    raw = [ROOT if value is None else str(value) for value, _ in values]
    shares = [np.where(places < 0, 1.0, smallest)]
    labels = [raw]
    relative = _relative_bounds(leaves) if is_interval else None
    for level in range(1, tree.levels + 1):
        texts = [str(row[2 + level]) for row in leaves]
        labels.append([ROOT if at < 0 else texts[at] for at in places])
        covered = np.append(_shares(texts, relative), 1.0)
        shares.append(covered[places])
    return labels, shares, smallest


def _shares(texts: Sequence[str], bounds: tuple[Floats, Floats] | None) -> Floats:
    """Return the share of a hierarchy that the label of each leaf covers."""
    distinct, codes = np.unique(np.array(texts), return_inverse=True)
    of_labels = shares_of_labels(codes.reshape(-1), bounds)
    covered: Floats = np.where(distinct == ROOT, 1.0, of_labels)[codes.reshape(-1)]
    return covered


def _relative_bounds(leaves: Sequence[Sequence[Any]]) -> tuple[Floats, Floats]:
    """Return start and end of each leaf, relative to the first start."""
    start = min(row[1] for row in leaves)
    lower, upper = (np.array([width(row[at] - start) for row in leaves]) for at in (1, 2))
    return lower, upper
