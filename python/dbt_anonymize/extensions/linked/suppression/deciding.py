"""The body of ``<n>_linked_decisions_<i>``: what becomes of the linked records of an effort."""

# ruff: noqa: S608 (names and texts are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.evaluation.data.relations import SOURCE, query
from dbt_anonymize.extensions.linked.declared import SUBJECTS
from dbt_anonymize.extensions.linked.suppression.kernel import LEFT_OUT, STATUSES, Suppression
from dbt_anonymize.extensions.linked.suppression.memory import memory_of
from dbt_anonymize.extensions.linked.suppression.records import LinkError, Links, random_keys
from dbt_anonymize.extensions.linked.suppression.sensitive import Sensitive, sensitive_of
from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import pandas as pd

COLUMN_TYPES = {"linked_table": "str", "record": "str", "status": "str", "released_key": "Int64"}


@dataclass(frozen=True)
class _Records:
    """All linked records, by table and key.

    ``parent`` and ``subject`` are places, of a record and of a subject of the effort, to which it
    leads itself; -1 where it leads to the other.
    """

    key: NDArray[np.object_]
    table: Ints
    value: Ints
    raised: Ints
    parent: Ints
    subject: Ints


def decide(given: Mapping[str, Any]) -> pd.DataFrame:
    """Decide what becomes of the linked records of an effort; called by a generated model.

    All subjects that the effort releases are kept. Records of others take no part, nor do those of
    classes that own values alone give away: an effort with such classes does not qualify, and
    ``<n>_linked_risk`` counts everybody before publishing.

    Parameters
    ----------
    given : mapping
        ``effort``, a DuckDB relation with a row per subject: the column of her key, whose name is
        ``record_key``, ``equivalence_class`` and ``is_suppressed``. ``values``, one with a row per
        linked record: the texts ``linked_table``, ``record`` (its key), ``parent`` (the key to
        which it leads), ``value`` (its labels; NULL where all are roots, as of a hidden one) and
        ``raised_value`` (its labels one level up). ``tables``: the table that each leads over by
        its name, or ``subjects``, each behind that. ``k``: subjects who must match, >= 2.
        ``known_records``: most records that are known of a subject, >= 1, or ``all``, and that
        there are no others. ``known_count``: True where the number of her records in each table is
        known as well. ``l``, if no sensitive value may be held by more than a share of 1 / l of
        those who match: with ``sensitive``, columns of ``effort``, and columns of ``values`` whose
        names begin with ``sensitive_``, NULL where a table has fewer.

    Returns
    -------
    pandas.DataFrame
        A row per record of a released subject: ``linked_table``, ``record`` (its key), ``status``
        (released, raised, hidden or left out) and ``released_key``, a new one, at random, NULL
        where it is left out.

    Raises
    ------
    LinkError
        For keys that are missing, repeated or lead nowhere, and where combinations do not fit into
        the memory of DuckDB.
    """
    tables = dict(given["tables"])
    _check_order(tables)
    own = _read_subjects(given)
    records = _read_records(given, tables)
    links, place = _released_links(own, records, tables)
    suppression = Suppression(
        links,
        given["k"],
        given["known_records"],
        known_count=given["known_count"],
        memory=memory_of(given["effort"]),
        sensitive=_read_sensitive(given, tables, links, place) if given.get("l") else None,
    )
    suppression.run()
    names = np.array([*tables], dtype=object)
    return _frame(names[links.table], records.key[place], suppression.status)


def _check_order(tables: Mapping[str, str]) -> None:
    """Require that each table leads over one before it."""
    before = {SUBJECTS}
    for name, over in tables.items():
        if over not in before:
            raise LinkError(f"{name} must lead over a table before it; got {over}. Reorder tables.")
        before.add(name)


def _subjects_sql(given: Mapping[str, Any], relation: str) -> str:
    """Return SQL of subjects, the released ones first, each with a ``place`` from 0.

    Keys are compared by bytes: a collation may treat different ones as equal. Sensitive values are
    texts ``held_<n>``; NULL is a value.
    """
    key = f"encode(cast({quote_name(given['record_key'])} as varchar))"
    sensitive = given["sensitive"] if given.get("l") else ()
    held = "".join(
        f", coalesce('v' || cast({quote_name(column)} as varchar), 'n') as held_{number}"
        for number, column in enumerate(sensitive)
    )
    holders = "".join(
        f", count(*) over (partition by own, is_suppressed, encode(held_{number})) "
        f"as holders_{number}"
        for number in range(len(sensitive))
    )
    told = "".join(
        f" or max(holders_{number}) over of_class * {given['l']} > count(*) over of_class"
        for number in range(len(sensitive))
    )
    return (
        "select *, row_number() over released_first - 1 as place, "
        "key is null or key is not distinct from lag(key) over (order by key) as is_wrong "
        f"from (select *, is_suppressed or count(*) over of_class < {given['k']}{told} "
        f"as is_left_out from (select *{holders} from (select {key} as key, "
        "encode(equivalence_class) as own, is_suppressed is distinct from false as is_suppressed"
        f"{held} from {relation}) as typed) as held_values "
        "window of_class as (partition by own, is_suppressed)) as subjects "
        "window released_first as (order by is_left_out, key)"
    )


def _read_subjects(given: Mapping[str, Any]) -> Ints:
    """Return a number for the class of each released subject, in their order."""
    sql = (
        f"with subjects as materialized ({_subjects_sql(given, SOURCE)}), "
        "classes as (select own, row_number() over (order by own) - 1 as code "
        "from subjects where not is_left_out group by own) "
        "select coalesce(code, -1) as code, is_wrong from subjects "
        "left join classes on not is_left_out and subjects.own is not distinct from classes.own "
        "order by place"
    )
    fetched = query(given["effort"], sql).fetchnumpy()
    _check_keys(SUBJECTS, fetched["is_wrong"])
    code = _integers(fetched["code"])
    return code[code >= 0]


def _read_records(given: Mapping[str, Any], tables: Mapping[str, str]) -> _Records:
    """Return all records, with what they lead to, in one scan."""
    subjects = _subjects_sql(given, f"({given['effort'].sql_query()})")
    fetched = query(given["values"], _records_sql(subjects, tables)).fetchnumpy()
    records = _Records(
        np.ma.getdata(fetched["record"]),
        *(_integers(fetched[name]) for name in ("number", "code", "raised", "parent", "subject")),
    )
    if unknown := int((records.table < 0).sum()):
        raise LinkError(
            f"each record must be of {', '.join(tables)}; {unknown} are of another table. "
            "Run `dbt-anonymize generate` and build again."
        )
    for number, (name, over) in enumerate(tables.items()):
        here = records.table == number
        _check_keys(name, fetched["is_wrong"][here])
        if lost := int((here & (records.parent < 0) & (records.subject < 0)).sum()):
            raise LinkError(
                f"{name} must lead to {over}; {lost} records lead nowhere. Leave them out in a "
                "model before, or add whom they are of."
            )
    return records


def _records_sql(subjects: str, tables: Mapping[str, str]) -> str:
    """Return SQL of all records by table and key, as numbers."""
    numbers = {name: number for number, name in enumerate(tables)}
    declared = ", ".join(
        f"({number}, {quote_text(name)}, {numbers.get(tables[name], -1)})"
        for name, number in numbers.items()
    )
    return f"""
with subjects as ({subjects}),
declared(number, name, over_number) as (values {declared}),
records as materialized (
    select
        row_number() over by_key - 1 as place,
        number,
        over_number,
        record,
        encode(record) as key,
        encode(parent) as parent,
        encode(value) as value,
        encode(raised_value) as raised_value,
        record is null or (
            encode(record) is not distinct from lag(encode(record)) over by_key
            and number is not distinct from lag(number) over by_key
        ) as is_wrong
    from {SOURCE} left join declared on encode(linked_table) = encode(name)
    window by_key as (order by number, encode(record))
),
codes as (
    select value, row_number() over (order by value) as code
    from (select value from records union select raised_value from records) where value is not null
)
select
    records.record,
    coalesce(records.number, -1) as number,
    coalesce(codes.code, 0) as code,
    coalesce(raised_codes.code, 0) as raised,
    coalesce(parents.place, -1) as parent,
    coalesce(subjects.place, -1) as subject,
    records.is_wrong
from records
left join codes on records.value = codes.value
left join codes as raised_codes on records.raised_value = raised_codes.value
left join records as parents
    on records.over_number = parents.number and records.parent = parents.key
left join subjects on records.over_number = -1 and records.parent = subjects.key
order by records.place
"""


def _read_sensitive(
    given: Mapping[str, Any], tables: Mapping[str, str], links: Links, place: Ints
) -> Sensitive:
    """Return the sensitive values of released subjects, and of their records at their places."""
    effort, values = given["effort"], given["values"]
    own = query(effort, _own_values_sql(given)).fetchnumpy()
    columns = [name for name in values.columns if name.startswith("sensitive_")]
    of_records = query(values, _held_values_sql(tables, columns)).fetchnumpy()
    all_places, codes = (_integers(of_records[name]) for name in ("place", "code"))
    record = np.searchsorted(place, all_places)
    is_there = np.append(place, -1)[record] == all_places
    record = record[is_there]
    own_subject, own_code = (_integers(own[name]) for name in ("place", "code"))
    own_values = (own_subject, np.full(len(own_subject), -1), own_code)
    return sensitive_of(given["l"], [own_values, (links.subject[record], record, codes[is_there])])


def _own_values_sql(given: Mapping[str, Any]) -> str:
    """Return SQL of the sensitive values of released subjects, at their places."""
    listed = " union all ".join(
        f"select place, {number} as attribute, encode(held_{number}) as held from subjects "
        "where not is_left_out"
        for number in range(len(given["sensitive"]))
    )
    return (
        f"with subjects as materialized ({_subjects_sql(given, SOURCE)}) "
        "select place, dense_rank() over (order by attribute, held) - 1 as code from "
        f"({listed or 'select 0 as place, 0 as attribute, 0 as held where false'})"
    )


def _held_values_sql(tables: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return SQL of the sensitive values of records, at the places of `_records_sql`."""
    declared = ", ".join(f"({n}, {quote_text(name)})" for n, name in enumerate(tables))
    listed = " union all ".join(
        f"select place, number, {n} as attribute, encode({quote_name(column)}) as held "
        f"from records where {quote_name(column)} is not null"
        for n, column in enumerate(columns)
    )
    nothing = "select 0 as place, 0 as number, 0 as attribute, 0 as held where false"
    return (
        f"with declared(number, name) as (values {declared}), records as materialized (select *, "
        f"row_number() over (order by number, encode(record)) - 1 as place from {SOURCE} "
        "left join declared on encode(linked_table) = encode(name)) "
        "select place, dense_rank() over (order by number, attribute, held) - 1 as code from "
        f"({listed or nothing})"
    )


def _check_keys(name: str, is_wrong: Bools) -> None:
    if wrong := int(is_wrong.sum()):
        raise LinkError(
            f"{name} must have a key in each row, once; {wrong} rows have none, or that of another "
            "row. Correct them."
        )


def _released_links(own: Ints, records: _Records, tables: Mapping[str, str]) -> tuple[Links, Ints]:
    """Return the records of released subjects, and the place of each among all."""
    subject = records.subject.copy()
    for number, over in enumerate(tables.values()):
        if over != SUBJECTS:
            here = records.table == number
            subject[here] = subject[records.parent[here]]
    is_released = subject < len(own)
    place = np.flatnonzero(is_released)
    new_place = np.append(np.cumsum(is_released) - 1, -1)  # the last for those without a parent
    links = Links(
        own,
        subject[place],
        records.table[place],
        records.value[place],
        records.raised[place],
        new_place[records.parent[place]],
    )
    return links, place


def _frame(table: NDArray[np.object_], record: NDArray[np.object_], status: Ints) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (a second, which other commands need not wait for)

    keys = pd.arrays.IntegerArray(random_keys(len(status)), status == LEFT_OUT)
    columns = (table, record, np.array(STATUSES, dtype=object)[status], keys)
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=kind)
            for (name, kind), values in zip(COLUMN_TYPES.items(), columns, strict=True)
        }
    )


def _integers(array: NDArray[Any]) -> Ints:
    return np.ma.getdata(array).astype(np.int64)
