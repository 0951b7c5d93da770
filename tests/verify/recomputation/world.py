"""A small honest anonymization in memory, made record by record, easy to tamper with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.check import recompute
from dbt_anonymize.verify.recomputation.tables import Tables
from tests.extensions import with_known_keys
from tests.worlds import specs, visits

# 80 records. Those with the keys 3 and 9 are alone in their class at level 1.
SOURCE = """
select
    100 + i as visit,
    'Person ' || i || 'owsky' as name,
    case when i = 3 then null when i = 9 then 99 else 20 + i % 4 * 10 + i % 7 end as age,
    case when i % 2 = 0 then '01067' else '01097' end as zip,
    ['asthma', 'flu', 'lupus'][1 + i // 8 % 3] as diagnosis,
    case i % 5
        when 0 then '-0.0'::double when 1 then 'nan' when 2 then null else i / 7.0::double
    end as score,
    ['seen', 'Seen', 'seen ', ''][1 + i % 4] as note
from range(80) as numbers(i)
"""
COLUMNS: dict[str, Any] = {
    "name": specs.IDENTIFIER,
    "age": specs.intervals("ages", 3),
    "zip": specs.categories("zips", 2),
    "diagnosis": specs.SENSITIVE,
    "score": specs.INSENSITIVE,
    "note": specs.INSENSITIVE,
}
RECODINGS: dict[str, Any] = {
    "full_domain": {"age": 1, "zip": 0},
    "local": {"recoding": "local", "rounds": [{"age": 1, "zip": 0}, {"age": 3, "zip": 1}]},
    "multidimensional": {"recoding": "multidimensional"},
    "microaggregation": {"recoding": "microaggregation"},
    "medians": {"recoding": "microaggregation", "numbers": "median"},
    "modes": {"recoding": "microaggregation", "numbers": "interval", "categories": "mode"},
}
RECODINGS = {name: one for name, one in RECODINGS.items() if with_known_keys([one])}


def spec_of(*, mapping: str = "class", recoding: str = "full_domain", **changes: Any) -> Spec:
    """Return the spec of the world."""
    whole = specs.spec_of(
        "visits",
        COLUMNS,
        source={"ref": "source"},
        record_key="visit",
        target="diagnosis",
        features=["age"],
        efforts=[RECODINGS[recoding]],
        mapping=mapping,
    )
    return Spec.model_validate(whole | changes)


@dataclass(frozen=True)
class World:
    """Relations of one anonymization on a connection of their own."""

    connection: duckdb.DuckDBPyConnection
    tables: Tables
    spec: Spec

    def findings(self) -> list[Finding]:
        """Recompute what the world holds."""
        return recompute(self.tables, self.spec, effort=1)

    @contextmanager
    def changed(self, sql: str) -> Iterator[None]:
        """Change the world until the end of the block."""
        self.connection.execute(f"begin; {sql}")
        try:
            yield
        finally:
            self.connection.execute("rollback")

    def broken(self) -> set[str]:
        """Return the subjects of what does not hold."""
        return {finding.subject for finding in self.findings() if finding.holds is False}


Label = tuple[Any, ...]


@contextmanager
def open_world(
    spec: Spec,
    *,
    source: str = SOURCE,
    parameters: Sequence[Any] = (),
    hierarchies: Mapping[str, str] | None = None,
) -> Iterator[World]:
    """Build all relations of an anonymization from the query of a source."""
    trees = hierarchies or {"age": visits.AGES, "zip": visits.ZIPS}
    with duckdb.connect() as c:
        c.execute(f"create table source as {source}", list(parameters))
        for name, tree in trees.items():
            c.execute(f'create table "tree_{name}" as {tree}')
        _microdata(c, spec)
        _effort(c, spec)
        _release(c, spec)
        has_mapping, has_token = spec.mapping != "none", spec.mapping == "token"
        tables = Tables(
            connection=c,
            source="source",
            hierarchies={name: f'"tree_{name}"' for name in trees},
            microdata="microdata",
            effort="effort",
            anonymized="anonymized",
            release="release",
            identifiers="identifiers" if has_mapping else None,
            tokens="tokens" if has_token else None,
        )
        yield World(c, tables, spec)


def _clean(name: str, kind: str) -> str:
    """Return SQL of a value with one zero and one NaN."""
    if kind not in {"FLOAT", "DOUBLE"}:
        return f'"{name}"'
    return (
        f"case when \"{name}\" = 'nan' then 'nan'::{kind} when \"{name}\" = 0 then 0::{kind} "
        f'else "{name}" end as "{name}"'
    )


def _microdata(c: duckdb.DuckDBPyConnection, spec: Spec) -> None:
    kinds = {row[0]: row[1] for row in c.execute("describe source").fetchall()}
    columns = [f'"{spec.record_key}"']
    for name, hierarchy in spec.quasi_identifiers.items():
        leaf = (
            f'(select value::varchar from "tree_{name}" where value::varchar = "{name}"::varchar)'
        )
        if hierarchy.kind == "interval":
            leaf = (
                f'(select lower_bound from "tree_{name}" '
                f'where "{name}" >= lower_bound and "{name}" < upper_bound)'
            )
        columns += [_clean(name, kinds[name]), f'{leaf} as "{name}_leaf"']
    columns += [_clean(name, kinds[name]) for name in spec.kept_columns]
    if spec.subject:
        columns.append(f'dense_rank() over (order by "{spec.subject}") as subject')
    c.execute(f"create table microdata as select {', '.join(columns)} from source")


def _values(c: duckdb.DuckDBPyConnection, name: str, level: int) -> dict[Any, Label]:
    """Return the label of each record key at a level, by reading the hierarchy row by row."""
    tree = c.execute(f'from "tree_{name}"').fetchall()
    names = [row[0] for row in c.execute(f'describe "tree_{name}"').fetchall()]
    rows = c.execute(f'select visit, "{name}", "{name}"::varchar from microdata').fetchall()
    if "value" in names:
        labels = {str(row[0]): str(row[level]) for row in tree}
        return {
            key: ("*" if text is None else text if level == 0 else labels[text],)
            for key, _, text in rows
        }
    whole = (min(row[0] for row in tree), max(row[1] for row in tree))
    found: dict[Any, Label] = {}
    for key, value, text in rows:
        if value is None:
            found[key] = ("*", *whole)
        elif level == 0:
            found[key] = (text, value, value)
        else:
            (label,) = {row[1 + level] for row in tree if row[0] <= value < row[1]}
            inside = [row for row in tree if row[1 + level] == label]
            found[key] = (label, min(row[0] for row in inside), max(row[1] for row in inside))
    return found


def _at(c: duckdb.DuckDBPyConnection, levels: Mapping[str, int]) -> dict[Any, Label]:
    """Return all labels and bounds of each record key at some levels."""
    columns = [_values(c, name, level) for name, level in levels.items()]
    return {key: sum((column[key] for column in columns), ()) for key in columns[0]}


def _labels(c: duckdb.DuckDBPyConnection, spec: Spec) -> dict[Any, Label]:
    effort = spec.numbered_efforts[1]
    if effort.levels is not None:
        return _at(c, effort.levels)
    if effort.rounds is not None:
        found: dict[Any, Label] = {}
        for number, levels in enumerate(effort.rounds, start=1):
            rest = {key: row for key, row in _at(c, levels).items() if key not in found}
            sizes, is_last = Counter(rest.values()), number == len(effort.rounds)
            found |= {
                key: row for key, row in rest.items() if is_last or sizes[row] >= spec.largest_k
            }
        return found
    # Mondrian may give any union of neighbouring leaves.
    whole = ("*", 0, 100)
    rows = c.execute("select visit, age, zip from microdata").fetchall()
    cut = {
        key: (
            *(
                whole
                if age is None
                else ("[20, 40)", 20, 40)
                if age < 40
                else ("[40, 100)", 40, 100)
            ),
            zip_,
        )
        for key, age, zip_ in rows
    }
    if not spec.numbered_efforts[1].has_means:
        return cut
    ages = {key: age for key, age, _ in rows}
    return {
        key: row if row[0] == "*" else (_center(spec, cut, ages, row), *row[1:])
        for key, row in cut.items()
    }


def _center(spec: Spec, cut: Mapping[Any, Label], ages: Mapping[Any, Any], row: Label) -> str:
    """Return the mean or median of a group, to a tenth."""
    members = sorted(ages[key] for key, other in cut.items() if other == row)
    if spec.numbered_efforts[1].group_numbers == "median":
        return f"{members[(len(members) - 1) // 2]}.0"
    return str(round(sum(members) / len(members), 1))


def _effort(c: duckdb.DuckDBPyConnection, spec: Spec) -> None:
    labels = _labels(c, spec)
    interval = {n for n, tree in spec.quasi_identifiers.items() if tree.kind == "interval"}
    places = [spec.generalized_columns.index(name) for name in spec.quasi_identifiers]
    subjects = {key: key for key in labels}
    if spec.subject:
        subjects = dict(c.execute(f"select visit, {spec.subject} from source").fetchall())
    members: dict[Label, set[Any]] = {}
    for key, row in labels.items():
        members.setdefault(row, set()).add(subjects[key])
    small = {row for row, of_class in members.items() if len(of_class) < spec.largest_k}
    gone = [key for key, row in labels.items() if row in small]
    if len(gone) > spec.suppression_limit * len(labels):
        gone = []
    kinds = [
        kind
        for name in spec.quasi_identifiers
        for kind in (["varchar", *_bound_kinds(c, name)] if name in interval else ["varchar"])
    ]
    columns = ", ".join(
        f'"{n}" {kind}' for n, kind in zip(spec.generalized_columns, kinds, strict=True)
    )
    c.execute(
        f"create table labels (visit bigint, {columns}, equivalence_class varchar, "
        "class_size bigint, is_suppressed boolean)"
    )
    rows = []
    for key, row in labels.items():
        parts = (
            f"{'n' if name in interval else 't'}{len(row[place])}:{row[place]}"
            for name, place in zip(spec.quasi_identifiers, places, strict=True)
        )
        rows.append([key, *row, "|".join(parts), len(members[row]), key in set(gone)])
    c.executemany(f"insert into labels values ({', '.join('?' * len(rows[0]))})", rows)
    shown = ", ".join(f'labels."{name}"' for name in spec.generalized_columns)
    kept = ", ".join(f'microdata."{name}"' for name in spec.kept_columns)
    c.execute(
        f"create table effort as select microdata.visit, {shown}, {kept}, equivalence_class, "
        "class_size, is_suppressed from microdata inner join labels using (visit)"
    )


def _bound_kinds(c: duckdb.DuckDBPyConnection, name: str) -> Sequence[str]:
    found = c.execute(
        f'select typeof(coalesce(microdata."{name}", lower_bound)), typeof(lower_bound) '
        f'from microdata, "tree_{name}" limit 1'
    ).fetchone()
    assert found
    return [found[1]] * 2


def _release(c: duckdb.DuckDBPyConnection, spec: Spec) -> None:
    person = spec.person_column
    c.execute(
        f"create table tokens as select person, md5('salt' || person) as token, "
        f"'{person}' as identified_by from (select distinct \"{person}\" as person from source)"
    )
    mapped = {
        "class": "case when not is_suppressed then equivalence_class end as cqi",
        "token": "token",
        "none": "null as nothing",
    }[spec.mapping]
    names = "".join(f', source."{name}"' for name in spec.identifiers)
    c.execute(
        f"create table identifiers as select source.visit{names}, {mapped} from source "
        f'inner join effort using (visit) inner join tokens on source."{person}" = tokens.person'
    )
    columns = [f'effort."{name}"' for name in spec.released_labels + spec.kept_columns]
    columns += {"class": ["equivalence_class as cqi"], "token": ["token"], "none": []}[spec.mapping]
    c.execute(
        f"create table anonymized as select {', '.join(columns)} from effort "
        "inner join identifiers using (visit) where not is_suppressed order by all"
    )
    c.execute("create table release as from anonymized")
