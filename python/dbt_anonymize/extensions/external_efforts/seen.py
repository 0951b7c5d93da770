"""Tests of whether another tool has seen the outer records, which only score its table.

Records are compared with rows in all released columns, at the level of each. All tests are
one-sided:

``more_than_inner``
    The share of outer records with an equal row is larger than that of inner ones (Fisher's exact
    test): a table of outer records.
``more_than_chance``
    More outer records have an equal row than have an equal inner record (exact McNemar test): a
    table of all records. Of a larger table as many rows count as there are inner records.
``closer_than_chance``
    More outer records are close to a row than to an inner record (exact McNemar test; see
    `nearness`): a table of all records with noise. In all columns, and with each left out.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from dbt_anonymize.evaluation.data.relations import kind_of_type, unmasked
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.extensions.external_efforts.nearness import Columns, close_alone
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec

# Outer records of which it is asked how near a row is, and rows and inner records that may be.
_RECORDS, _ROWS = 500, 500_000
# A synthesizer may crowd more than people do: more than a half may be close to a row; or vary more:
# so many outer records may be close to one where few people are.
_CHANCE, _SLACK = 0.55, 0.01


@dataclass(frozen=True)
class SeenTest:
    """A test: shares that are compared, as counts, and the probability of chance."""

    measure: str
    outer: tuple[int, int]
    compared: tuple[int, int]
    p_value: float
    left_out: str | None = None


def more_than_inner(outer: int, outer_records: int, inner: int, inner_records: int) -> float:
    """Return the one-sided p-value of Fisher's exact test.

    Examples
    --------
    >>> round(more_than_inner(5, 10, 0, 10), 4), more_than_inner(0, 10, 5, 10)
    (0.0163, 1.0)
    """
    hypergeometric = import_module("scipy.stats").hypergeom(
        outer_records + inner_records, outer + inner, outer_records
    )
    return min(1.0, float(hypergeometric.sf(outer - 1)))


def more_than_chance(row_alone: int, record_alone: int, chance: float = 0.5) -> float:
    """Return the one-sided p-value of the exact McNemar test.

    Examples
    --------
    >>> more_than_chance(7, 0), more_than_chance(0, 0)
    (0.0078125, 1.0)
    """
    binomial = import_module("scipy.stats").binom(row_alone + record_alone, chance)
    return min(1.0, float(binomial.sf(row_alone - 1)))


@dataclass(frozen=True)
class _Compared:
    """Tables of texts ``c_0``, ...; all but ``records`` without repetitions.

    ``records`` also has ``is_outer``; ``whole`` are the rows, ``table`` as many of them as there
    are inner records at most, and ``natural`` the inner records.
    """

    columns: str
    records: str
    whole: str
    table: str
    natural: str


def seen_tests(session: Session, spec: Spec, rows: str) -> Iterator[SeenTest]:
    """Yield all tests of a foreign table, given as the relation of its effort."""
    microdata = str(session.warehouse.relation_of_ref(f"{spec.name}_microdata"))
    names = [*spec.quasi_identifiers, *spec.kept_columns]
    highest = (f"max({quote_name(f'{name}_level')})" for name in spec.quasi_identifiers)
    levels = session.row(f"select {', '.join(highest)} from {rows}")
    columns = ", ".join(f"c_{place}" for place in range(len(names)))
    records = session.table("records", _records(session, spec, microdata, levels))
    shown = ", ".join(
        f"cast({quote_name(name)} as varchar) as c_{place}" for place, name in enumerate(names)
    )
    (inner,) = session.row(f"select count(*) from {records} where not is_outer")
    some = (
        f"(select * from (select {shown} from {rows}) "
        f"order by md5(cast(row({columns}) as varchar)) limit {inner})"
    )
    compared = _Compared(
        columns,
        records,
        session.table("whole", f"select distinct {columns} from (select {shown} from {rows})"),
        session.table("foreign", f"select distinct {columns} from {some}"),
        session.table("natural", f"select distinct {columns} from {records} where not is_outer"),
    )
    yield from _equal_tests(session, compared)
    values = _values(spec, session.columns(microdata), levels)
    yield from _nearness_tests(session, compared, values, names)


def _equal_tests(session: Session, compared: _Compared) -> Iterator[SeenTest]:
    def has(equal: str) -> str:
        same = " and ".join(f"e.{c} is not distinct from r.{c}" for c in columns)
        return f"exists (select 1 from {equal} as e where {same})"

    columns = compared.columns.split(", ")
    (outer, inner, outer_equal, inner_equal, row_alone, record_alone) = session.row(
        "select count(*) filter (is_outer), count(*) filter (not is_outer), "
        "count(*) filter (is_outer and in_whole), count(*) filter (not is_outer and in_whole), "
        "count(*) filter (is_outer and in_table and not is_natural), "
        "count(*) filter (is_outer and not in_table and is_natural) from (select r.is_outer, "
        f"{has(compared.whole)} as in_whole, {has(compared.table)} as in_table, "
        f"{has(compared.natural)} as is_natural from {compared.records} as r)"
    )
    yield SeenTest(
        "more_than_inner",
        (outer_equal, outer),
        (inner_equal, inner),
        more_than_inner(outer_equal, outer, inner_equal, inner),
    )
    yield SeenTest(
        "more_than_chance",
        (row_alone, outer),
        (record_alone, outer),
        more_than_chance(row_alone, record_alone),
    )


def _nearness_tests(
    session: Session, compared: _Compared, values: Sequence[str], names: Sequence[str]
) -> Iterator[SeenTest]:
    outer = f"(select {compared.columns} from {compared.records} where is_outer)"
    samples = [
        _sample(session, relation, values, most)
        for relation, most in (
            (outer, _RECORDS),
            (compared.table, _ROWS),
            (compared.natural, _ROWS),
        )
    ]
    number, *others = (len(sample[0]) for sample in samples)
    if not (number and all(others)):
        return
    for left_out, (row_alone, record_alone) in zip(
        [None, *names], close_alone(*samples), strict=False
    ):
        yield SeenTest(
            "closer_than_chance",
            (row_alone, number),
            (record_alone, number),
            more_than_chance(row_alone, record_alone + math.ceil(_SLACK * number), _CHANCE),
            left_out,
        )


def _values(spec: Spec, types: Mapping[str, str], levels: Sequence[int]) -> list[str]:
    """Return SQL of each column for distances: a number, or the hash of a label or text."""
    names = [*spec.quasi_identifiers, *spec.kept_columns]
    trees = list(spec.quasi_identifiers.values())
    labelled = [level or tree.kind != "interval" for tree, level in zip(trees, levels, strict=True)]
    values = [f"hash(c_{place})" for place in range(len(names))]
    for place, name in enumerate(names):
        if place < len(labelled) and labelled[place]:
            continue
        kind = kind_of_type(types[name])
        if kind == "date":
            values[place] = f"epoch(try_cast(c_{place} as {types[name]}))"
        elif kind == "number":
            values[place] = f"try_cast(c_{place} as double)"
    return values


def _sample(session: Session, relation: str, values: Sequence[str], most: int) -> Columns:
    """Read the values of at most so many rows, drawn by their digests."""
    listed = ", ".join(f"{value} as v_{place}" for place, value in enumerate(values))
    fetched = session.cursor.execute(
        f"select {listed} from {relation} as r order by md5(cast(r as varchar)) limit {most}"
    ).fetchnumpy()
    return [unmasked(array) for array in fetched.values()]


def _records(session: Session, spec: Spec, microdata: str, levels: Sequence[int]) -> str:
    """Return SQL of the records of the source at the levels of a foreign table."""
    columns, joins = [], []
    for place, ((name, tree), level) in enumerate(
        zip(spec.quasi_identifiers.items(), levels, strict=True)
    ):
        if not level:
            columns.append(f"coalesce(cast(m.{quote_name(name)} as varchar), '*') as c_{place}")
            continue
        hierarchy = session.warehouse.relation_of_ref(tree.ref)
        leaf = "lower_bound" if tree.kind == "interval" else "cast(value as varchar)"
        columns.append(f"coalesce(h_{place}.label, '*') as c_{place}")
        joins.append(
            f"left join (select {leaf} as leaf, min(cast(level_{level} as varchar)) as label "
            f"from {hierarchy} group by 1) as h_{place} "
            f"on m.{quote_name(f'{name}_leaf')} = h_{place}.leaf"
        )
    first = len(spec.quasi_identifiers)
    columns += [
        f"cast(m.{quote_name(name)} as varchar) as c_{place}"
        for place, name in enumerate(spec.kept_columns, first)
    ]
    return f"select m.is_outer, {', '.join(columns)} from {microdata} as m {' '.join(joins)}"
