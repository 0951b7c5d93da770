"""Planted leaks: edits of honest models, each with the check that finds it.

An edit is a list of replacements in the compiled SQL of models. All are valid SQL of DuckDB; what
they leak is shown by building two clinics that differ in that secret alone.
"""

# ruff: noqa: E501 (SQL reads best on one line)
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

EFFORTS = ("effort_0", "effort_1", "effort_2")
IDENTIFIER, RECORD_KEY, QUASI = "identifier", "record key", "quasi-identifier"
PEOPLE = '"clinic"."main"."people"'
REGISTRY = '"clinic"."main"."registry"'
# Another relation about the same people, with keys and identifiers of its own.
CRM = '"clinic"."main"."crm"'
VAULT = '"vault"."main"."visits_identifiers"'
RELEASED = "where not effort.is_suppressed"
Edit = Callable[[str], str]
# Who finds it.
PROVENANCE, RECOMPUTATION = "provenance", "recomputation"
# Why nobody has to. Nothing here changes the data of a release against its source.
CHOSEN = "a filter or join upstream chooses who is in the source"
DECIDED = "a filter, join or group upstream decides a value that is made of nothing secret"
STORED_ORDER = "the order in which rows are stored upstream decides a value"
UNCHANGED = "the release is what it must be"
STOPS = "the build stops, and nothing is released"


@dataclass(frozen=True)
class Leak:
    """One planted leak.

    Parameters
    ----------
    name : str
        What is done.
    secret : str
        What the release then depends on; empty for one that DuckDB runs, but that needs no secret
        of the clinic to be wrong.
    edits : mapping
        Model to the edit of its compiled SQL.
    found_by : str, default "recomputation"
        The check that finds it, or why none has to.
    healed : tuple of str
        Models that are honest again when the release is verified.
    """

    name: str
    secret: str
    edits: Mapping[str, Edit]
    found_by: str = RECOMPUTATION
    healed: tuple[str, ...] = ()


def swap(*pairs: tuple[str, str]) -> Edit:
    """Return an edit that replaces texts, each of which must be there."""

    def edit(sql: str) -> str:
        for old, new in pairs:
            assert old in sql, f"the edit has nothing to replace: {old}"
            sql = sql.replace(old, new)
        return sql

    return edit


def add(text: str) -> Edit:
    return lambda sql: f"{sql}\n{text}"


def source_smoker(expression: str) -> Edit:
    """Return an edit of the microdata that puts something else in the place of a kept column."""
    return swap(('source."smoker"', f'{expression} as "smoker"'))


def source_from(relation: str) -> Edit:
    return swap((f"select * from {PEOPLE}", relation))


def with_step(step: str, smoker: str, join: str = "") -> Edit:
    """Return an edit of the microdata with one common table more."""
    return swap(
        ("values_1 as (", f"step as ({step}),\n\nvalues_1 as ("),
        ('source."smoker"', f'{smoker} as "smoker"'),
        ("from source\nleft join leaves_1", f"from source\n{join}\nleft join leaves_1"),
    )


def released_smoker(expression: str, join: str = "") -> Edit:
    """Return an edit of the release that puts something else in the place of a kept column."""
    return swap(
        ('effort."smoker",\n    effort."diagnosis",\n    effort.equivalence_class',
         f'{expression} as "smoker",\n    effort."diagnosis",\n    effort.equivalence_class'),
        (RELEASED, f"{join}\n{RELEASED}"),
        ('class_order.class_number,\n    effort."smoker",\n    effort."diagnosis"', "1, 2, 3, 4, 5, 6, 7"),
    )  # fmt: skip


def label_zip(expression: str) -> Edit:
    """Return an edit of an effort that gives another label than the one its classes are made of."""
    return swap(
        ('generalized."zip",', 'generalized.other as "zip",'),
        ('microdata."smoker",', f'microdata."smoker", {expression} as other,'),
    )


def where(condition: str, join: str = "") -> Edit:
    """Return an edit of the release with one condition more."""
    return swap(
        (RELEASED, f"{join}\n{RELEASED} and {condition}"),
    )  # fmt: skip


def in_microdata(name: str, expression: str, found_by: str = RECOMPUTATION) -> Leak:
    return Leak(name, IDENTIFIER, {"microdata": source_smoker(expression)}, found_by)


PERSON = "person.visit_id = effort.visit_id"

ZIPS, AGES = '"clinic"."main"."zips"', '"clinic"."main"."ages"'
MICRODATA = '"clinic"."main"."visits_microdata"'
COUNTED = "rows between current row and current row"
FIVE_COLUMNS = "visit_id, name, ssn, age, zip"


def marked(step: str, on: str) -> Edit:
    """Return an edit of an effort that marks the records which a join finds."""
    return swap(
        ("left join hierarchy_2", f"left join ({step}) as step on {on}\n    left join hierarchy_2"),
        ('microdata."smoker",', 'coalesce(step.mark, microdata.smoker) as "smoker",'),
    )


def with_part(smoker: str) -> Edit:
    """Return an edit of the microdata in which a column of its source is a unit of time."""
    return swap(
        (f"select * from {PEOPLE}",
         f"select *, case when ssn > '5' then 'month' else 'year' end as part from {PEOPLE}"),
        ('source."smoker"', f'{smoker} as "smoker"'),
    )  # fmt: skip


SUM = "sum(1 / cast(ssn as double)) over (partition by diagnosis order by {by} rows between unbounded preceding and unbounded following)"
