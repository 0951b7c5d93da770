"""Composition of two linked releases: whoever has both files subtracts one from the other.

People whose rows are the same in both cancel out. Among those who remain, in the later release who
joined or has other records, in the earlier one who left or had others, fewer than k may match what
is known of somebody, though k do in each whole release. Other records are also those that a build
leaves out because of others: the files do not say which is which, neither to an attacker.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dbt_anonymize.extensions.linked.declared import SUBJECTS, TOKEN, released_key
from dbt_anonymize.extensions.linked.found import found_subjects
from dbt_anonymize.extensions.linked.graph import Rows, read_graph
from dbt_anonymize.extensions.linked.scratch import Scratch
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def is_comparable(engine: DuckDBPyConnection, database: str, given: Mapping[str, Any]) -> bool:
    """Tell whether a database holds the people of a linked release, with tokens."""
    with Scratch(engine) as scratch:
        return SUBJECTS in _read(scratch, database, given["tables"])


def compare(
    engine: DuckDBPyConnection, earlier: str, later: str, k: int, given: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what the difference of two linked releases tells, in words; nothing if all is well.

    People cancel out whose rows are the same by all columns that both releases share, then those
    whose kept columns are, since other records are raised and hidden each time; beside these their
    own labels, or not, for the case that others were chosen. The worse counts.

    Parameters
    ----------
    engine : duckdb connection
        It gets temporary tables.
    earlier, later : str
        Attached databases whose schema ``main`` holds each release.
    k : int
        Fewest people who must match.
    given : mapping
        ``known_records``, ``known_count`` and ``tables``, of the people first: ``name``,
        ``relation``, ``columns`` of labels and, of linked ones, ``over`` and ``parent``.
    """
    with Scratch(engine) as scratch:
        both = [_read(scratch, database, given["tables"]) for database in (earlier, later)]
        both[0] = _with_labels_of(*both)
        if not all(SUBJECTS in tables for tables in both):
            return  # one before had no linked tables, nor tokens: people are compared as always
        left, joined = max(
            _differences(scratch, both, k, given),
            key=lambda differences: sum(one.found for one in differences),
        )
    if left.found or joined.found:
        yield (
            f"fewer than {k} people match what is known of {joined.found:,} of the "
            f"{pluralized(joined.people, 'person', 'people')} who joined or have other records "
            f"now, and of {left.found:,} of the {left.people:,} who left or had other records"
        )


@dataclass(frozen=True)
class _Difference:
    """Number of people who are in one release alone, and of those of them who are found."""

    people: int
    found: int


@dataclass(frozen=True)
class _Table:
    """A table of a release, its ``columns`` with their types; ``labels`` are known of somebody."""

    relation: str
    columns: Mapping[str, str]
    labels: Sequence[str]
    over: str
    parent: str


def _read(
    scratch: Scratch, database: str, declared: Sequence[Mapping[str, Any]]
) -> dict[str, _Table]:
    """Return the declared tables that a release has; one before may have others."""
    tables: dict[str, _Table] = {}
    for one in declared:
        name, over, parent = one["name"], one.get("over", ""), one.get("parent", "")
        columns = {
            str(column): str(kind)
            for column, kind in scratch.rows(
                "select column_name, data_type from duckdb_columns() where schema_name = 'main' "
                f"and database_name = {quote_text(database)} "
                f"and table_name = {quote_text(one['relation'])} order by column_index"
            )
        }
        keys = {TOKEN} if name == SUBJECTS else {released_key(name), parent}
        if keys <= {*columns} and (name == SUBJECTS or over in tables):
            relation = f"{quote_name(database)}.main.{quote_name(one['relation'])}"
            labels = [column for column in one["columns"] if column in columns]
            tables[name] = _Table(relation, columns, labels, over, parent)
    return tables


def _with_labels_of(tables: Mapping[str, _Table], later: Mapping[str, _Table]) -> dict[str, _Table]:
    """Return the tables of the earlier release without labels that have another type in the later.

    What was kept and is generalized since was no label.
    """
    labelled = {}
    for name, table in tables.items():
        types = later[name].columns if name in later else {}
        labels = [one for one in table.labels if types.get(one) in {None, table.columns[one]}]
        labelled[name] = replace(table, labels=labels)
    return labelled


def _differences(
    scratch: Scratch, both: Sequence[Mapping[str, _Table]], k: int, given: Mapping[str, Any]
) -> Iterator[list[_Difference]]:
    """Count of each release the people whom the other has not, and those who are found."""
    one, other = both
    compared = {
        name: _compared(name, table, other[name]) for name, table in one.items() if name in other
    }
    people = [_people(scratch, tables, compared) for tables in both]
    rest = [
        scratch.table("rest", _rest(mine, theirs))
        for mine, theirs in zip(people, people[::-1], strict=True)
    ]
    for alike in ("kept_alike", "kept_and_own_alike"):
        differences = []
        for tables, mine, theirs in zip(both, rest, rest[::-1], strict=True):
            remainder = scratch.table("remainder", _remainder(mine, theirs, alike))
            (number,) = scratch.row(f"select count(*) from {remainder}")
            found = _found(scratch, tables, remainder, k, given) if number else 0
            differences.append(_Difference(number, found))
        yield differences


def _compared(name: str, one: _Table, other: _Table) -> tuple[list[str], list[str]]:
    """Return all columns by which rows of a table are the same, and those that are no labels.

    Keys are new each time.
    """
    keys = {TOKEN, "cqi", released_key(name), one.parent, other.parent}
    # The same value of another type may be another text, by which all rows would differ.
    shared = [
        column
        for column, kind in one.columns.items()
        if column not in keys and other.columns.get(column) == kind
    ]
    return shared, [name for name in shared if name not in {*one.labels, *other.labels}]


def _people(
    scratch: Scratch,
    tables: Mapping[str, _Table],
    compared: Mapping[str, tuple[Sequence[str], Sequence[str]]],
) -> str:
    """Return a table of the ``key`` of each person, and of hashes that she shares with her likes.

    ``alike`` is of her own row and all records, ``kept_alike`` of their kept columns, and
    ``kept_and_own_alike`` of these and her own labels. A hash has 64 bits, and the sum of those of
    records is the same in any order.
    """
    hashed: dict[str, str] = {}
    for name, columns in compared.items():
        table, is_first = tables[name], name == SUBJECTS
        key = TOKEN if is_first else released_key(name)
        subject = f"rows_.{TOKEN}" if is_first else "parents.subject"
        on = f"rows_.{quote_name(table.parent)} = parents.key"
        joined = "" if is_first else f" inner join {hashed[table.over]} as parents on {on}"
        # A record is the same with those that it leads over.
        leads_over = not is_first and table.over != SUBJECTS
        over = [[f"parents.{of}"] if leads_over else [] for of in ("whole", "kept")]
        whole, kept = (
            f"hash({', '.join([quote_text(name), *map(_text, shown), *of_parent])})"
            for shown, of_parent in zip(columns, over, strict=True)
        )
        hashed[name] = scratch.table(
            name,
            f"select rows_.{quote_name(key)} as key, {subject} as subject, {whole} as whole, "
            f"{kept} as kept from {table.relation} as rows_{joined}",
        )
    records = "".join(
        f" union all select subject, whole, kept from {table}"
        for name, table in hashed.items()
        if name != SUBJECTS
    )
    nothing = "select null as subject, null as whole, null as kept where false"
    sums = {name: f"sum(cast(records.{name} as hugeint))" for name in ("whole", "kept")}
    return scratch.table(
        "people",
        f"select people.key, hash(people.whole, {sums['whole']}) as alike, "
        f"hash(people.kept, {sums['kept']}) as kept_alike, "
        f"hash(people.whole, {sums['kept']}) as kept_and_own_alike "
        f"from {hashed[SUBJECTS]} as people left join ({nothing}{records}) as records "
        "on people.key = records.subject group by people.key, people.whole, people.kept",
    )


def _text(column: str) -> str:
    """Return SQL of a value as text, whatever its type in either release."""
    return f"cast(rows_.{quote_name(column)} as varchar)"


def _rest(mine: str, theirs: str) -> str:
    """Return SQL of the people who remain: of those who are alike, as many as the other lacks."""
    return (
        "select people.* exclude (place) from (select *, "
        f"row_number() over (partition by alike order by key) as place from {mine}) as people "
        f"left join (select alike, count(*) as number from {theirs} group by alike) as others "
        "using (alike) where place > coalesce(others.number, 0)"
    )


def _remainder(mine: str, theirs: str, alike: str) -> str:
    """Return SQL of the keys of people of whom the other release has fewer who are alike.

    Which of them these are nobody can tell, so that all remain.
    """
    return (
        f"select key from (select key, {alike}, count(*) over (partition by {alike}) as number "
        f"from {mine}) as people left join "
        f"(select {alike}, count(*) as number from {theirs} group by {alike}) as others "
        f"using ({alike}) where people.number > coalesce(others.number, 0)"
    )


def _found(
    scratch: Scratch,
    tables: Mapping[str, _Table],
    remainder: str,
    k: int,
    given: Mapping[str, Any],
) -> int:
    """Count the people of a remainder whom fewer than k of it match."""
    people = tables[SUBJECTS]
    alone = f"(select * from {people.relation} where {TOKEN} in (select key from {remainder}))"
    graph = read_graph(
        scratch,
        Rows(alone, TOKEN, people.labels),
        {
            name: Rows(
                table.relation,
                quote_name(released_key(name)),
                table.labels,
                quote_name(table.parent),
                None if table.over == SUBJECTS else table.over,
            )
            for name, table in tables.items()
            if name != SUBJECTS
        },
    )
    return found_subjects(graph, k, given["known_records"], known_count=given["known_count"])
