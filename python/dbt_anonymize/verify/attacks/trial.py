"""A trial anonymization: half of the subjects are anonymized as the release is, the others are not.

The same effort is applied to their records alone, by the code that recomputes releases: labels by
the hierarchies, suppression by the guarantees. Labels of a recoding are those of the build. The
release itself stays as it is.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbt_anonymize.literals import quote_name
from dbt_anonymize.verify.attacks.known import Known
from dbt_anonymize.verify.attacks.labels import find_labels, label_table, value_map
from dbt_anonymize.verify.attacks.released import code_labels
from dbt_anonymize.verify.recomputation.expected import Expected
from dbt_anonymize.verify.recomputation.guarantees import Recount
from dbt_anonymize.verify.recomputation.tables import Tables


@dataclass(frozen=True)
class Column:
    """A released column, and how it is compared with what is known of a person.

    It is ``l_<number>`` of released rows and ``p_<number>`` of people. ``fitting`` is a table of
    the known values (``found``) that a released one (``label``) can stand for; without one both
    must be equal.
    """

    name: str
    number: int
    is_sensitive: bool
    fitting: str | None = None

    @property
    def released(self) -> str:
        """Its name in released rows."""
        return f"l_{self.number}"

    def join(self, released: str, known: str) -> tuple[str, str]:
        """Return a join, or nothing, and the condition that a row can be that of a person.

        The relations are two aliases; ``released`` must come before the join, ``known`` may follow.
        """
        known = f"{known}.p_{self.number}"
        if self.fitting is None:
            return "", f"{known} is not distinct from {released}.{self.released}"
        join = f"inner join {self.fitting} as m_{self.number} "
        join += f"on m_{self.number}.label = {released}.{self.released}"
        return join, f"{known} is not distinct from m_{self.number}.found"


@dataclass(frozen=True)
class Trial:
    """What is known of everybody, and what an attacker reads of the half that was anonymized.

    ``people`` is a table of the records of the source: ``record_key``, ``person``, ``is_member``
    and ``p_1``, ..; ``rows`` one of the released rows: ``l_1``, ... ``records`` are the rows, of
    ``members`` subjects in the trial; ``seed`` draws whom and what is guessed.
    """

    known: Known
    columns: Sequence[Column]
    people: str
    rows: str
    records: int
    members: int
    seed: int

    def targets(self, guesses: int) -> str:
        """Draw as many members and others, ``guesses`` of each at most; one record of each.

        Returns a table like ``people`` with ``target``, a number from 1.
        """
        drawn = f"md5('{self.seed} target ' || cast(record_key as varchar))"
        smaller = (
            "select min(people) from (select is_member, count(distinct person) as people "
            f"from {self.people} group by is_member)"
        )
        return self.known.session.table(
            "targets",
            "select row_number() over (order by is_member, place) as target, * from "
            "(select *, row_number() over (partition by is_member order by drawn) as place from "
            f"(select *, {drawn} as drawn from {self.people} "
            "qualify row_number() over (partition by person order by drawn) = 1)) "
            f"where place <= least({guesses}, ({smaller}))",
        )

    def candidates(self, targets: str, columns: Sequence[Column], *shown: Column) -> str:
        """Return SQL of the rows that can be those of each target, as far as ``columns`` tell.

        One row per ``target`` and combination of the ``shown`` columns, with ``records``.
        """
        names = ", ".join(column.released for column in (*columns, *shown))
        kept = "".join(f", r.{column.released}" for column in shown)
        joins, conditions = _joined(columns, "r", "t")
        return (
            f"select t.target{kept}, sum(r.records) as records from "
            f"(select {names}, count(*) as records from {self.rows} group by {names}) as r {joins} "
            f"inner join {targets} as t on {conditions} group by t.target{kept}"
        )

    def matched(self, predicates: str, columns: Sequence[Column]) -> str:
        """Return SQL of how many people satisfy each predicate: values ``l_<number>`` of columns.

        One row per ``guess`` and ``is_member``, where there are any, with ``people``.
        """
        joins, conditions = _joined(columns, "g", "p")
        return (
            f"select g.guess, p.is_member, count(distinct p.person) as people "
            f"from {predicates} as g {joins} inner join {self.people} as p on {conditions} "
            "group by g.guess, p.is_member"
        )


def _joined(columns: Sequence[Column], released: str, known: str) -> tuple[str, str]:
    joins, conditions = zip(*(column.join(released, known) for column in columns), strict=True)
    return " ".join(joins), " and ".join(conditions)


def draw_trial(known: Known, tables: Tables, effort: int, *, seed: int) -> Trial:
    """Anonymize a half of the subjects, drawn by ``seed``, with an effort (from 1 on).

    ``tables`` are source and hierarchies, and for a recoding the effort. What cannot be computed
    is a `VerificationError`.
    """
    session, spec = known.session, known.spec
    members = session.table(
        "members",
        "select person, row_number() over (order by md5('"
        f"{seed} member ' || record_key), record_key) % 2 = 1 as is_member from (select person, "
        f"min(cast(record_key as varchar)) as record_key from {known.targets} group by person)",
    )
    key = quote_name(spec.record_key)
    theirs = (
        f"(select s.* from {tables.source} as s inner join {known.targets} as t "
        f"on s.{key} = t.record_key inner join {members} as m "
        "on t.person is not distinct from m.person where m.is_member)"
    )
    everybody = Expected(_only(tables, tables.source), spec, effort)
    expected = Expected(_only(tables, theirs), spec, effort)
    try:
        expected.count_classes()
        expected.suppress(
            Recount(spec, expected.classes, expected.generalizations, effort).suppressed()
        )
        names = ", ".join(map(quote_name, [*spec.generalized_columns, *spec.kept_columns]))
        released = session.table(
            "trial", f"select {names} from ({expected.effort}) where not is_suppressed"
        )
    finally:
        expected.close()
    return read_trial(known, released, members, everybody.labelled, seed=seed)


def _only(tables: Tables, source: str) -> Tables:
    """Leave out what was built, but for the labels of an effort."""
    return replace(
        tables,
        source=source,
        microdata=None,
        anonymized=None,
        release=None,
        identifiers=None,
        tokens=None,
    )


def read_trial(known: Known, released: str, members: str, kept: str, *, seed: int) -> Trial:
    """Match released rows with everybody: ``members`` has ``person`` and ``is_member``.

    ``kept`` holds the kept columns of every record as a release shows them.
    """
    session, spec = known.session, known.spec
    labels = find_labels(session, session.columns(released), spec, spec)
    tables = [label_table(session, released, label) for label in labels]
    coded = code_labels(labels, tables)
    columns, kept_values = [], []
    raw = [f"v.v_{label.number} as p_{label.number}" for label in labels]
    for label, table in zip(labels, tables, strict=True):
        fitting = value_map(session, label, table, known.tuples, f"a trial of {spec.name}")
        columns.append(Column(label.name, label.number, False, fitting))
    # What is masked is no knowledge of an attacker.
    plain = spec.columns_with_role("sensitive", "insensitive")
    for number, name in enumerate(plain, len(labels) + 1):
        columns.append(Column(name, number, name in spec.sensitive))
        kept_values.append(f", cast(r.{quote_name(name)} as varchar) as l_{number}")
        raw.append(f"cast(k.{quote_name(name)} as varchar) as p_{number}")
    rows = session.table(
        "trial_rows",
        f"select {coded.columns}{''.join(kept_values)} from {released} as r {coded.joins}",
    )
    people = session.table(
        "trial_people",
        f"select t.record_key, t.person, m.is_member, {', '.join(raw)} from {known.targets} as t "
        f"inner join {known.tuples} as v on t.tuple = v.tuple inner join {kept} as k "
        f"on t.record_key = k.{quote_name(spec.record_key)} "
        f"inner join {members} as m on t.person is not distinct from m.person",
    )
    (records,) = session.row(f"select count(*) from {rows}")
    (persons,) = session.row(f"select count(distinct person) from {people} where is_member")
    return Trial(known, columns, people, rows, int(records), int(persons), seed)
