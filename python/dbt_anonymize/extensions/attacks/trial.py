"""A trial anonymization of half of the subjects; the others are the control.

The effort of the release is applied to their records alone, by the code that recomputes releases:
labels by the hierarchies, suppression by the guarantees. Labels of a recoding are those of the
build. The release itself stays as it is.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.knowledge import Knowledge
from dbt_anonymize.extensions.attacks.labels import Label, find_labels, label_table, value_map
from dbt_anonymize.extensions.attacks.people import People
from dbt_anonymize.extensions.attacks.released import code_labels, find_pairs
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.expected import Expected
from dbt_anonymize.verify.recomputation.guarantees import Recount
from dbt_anonymize.verify.recomputation.tables import Tables


@dataclass(frozen=True)
class Column:
    """A released column, and its counterpart in the attacker's knowledge.

    It is ``l_<number>`` of released rows and ``v_<number>`` of people. For a quasi-identifier these
    are the number of its ``label``, in the table ``labels``, and the code of a raw value; other
    columns are texts.
    """

    name: str
    number: int
    is_sensitive: bool
    label: Label | None = None
    labels: str = ""

    @property
    def row_name(self) -> str:
        """Its name in released rows."""
        return f"l_{self.number}"

    @property
    def known_name(self) -> str:
        """Its name in the knowledge of people."""
        return f"v_{self.number}"


@dataclass(frozen=True)
class Trial:
    """Attacker's knowledge of everybody, and the released half of the records.

    ``people`` is a table of the records of the source: ``record_key``, ``person``, ``is_member``
    and ``v_1``, ..; ``rows`` one of the released rows: ``l_1``, ... ``records`` and ``members`` are
    the numbers of rows and of subjects in the trial; ``seed`` draws targets and guesses.
    """

    knowledge: Knowledge
    columns: Sequence[Column]
    people: str
    rows: str
    records: int
    members: int
    seed: int
    _targets: dict[int, str] = field(default_factory=dict, init=False, compare=False)

    def targets(self, guesses: int) -> str:
        """Draw equally many members and others, at most ``guesses`` of each; one record of each.

        Returns a table like ``people`` with ``tuple``, a number from 1.
        """
        if guesses not in self._targets:
            self._targets[guesses] = self._draw_targets(guesses)
        return self._targets[guesses]

    def _draw_targets(self, guesses: int) -> str:
        spec = self.knowledge.spec
        drawn = f"md5('{self.seed} target ' || cast(record_key as varchar))"
        people = f"(select *, {drawn} as drawn from {self.people})"
        if spec.subject:
            first = "row_number() over (partition by person order by drawn) = 1"
            people = f"(from {people} qualify {first})"
        smaller = (
            f"select least({guesses}, min(people)) from (select is_member, "
            f"{self.knowledge.count_people('p')} as people from {self.people} as p group by "
            "is_member)"
        )
        ((fewest,),) = self.knowledge.session.rows(smaller)
        # A sort with a limit does not sort everybody.
        first = " union all ".join(
            f"(from {people} where is_member = {is_member} order by drawn limit {fewest})"
            for is_member in ("true", "false")
        )
        return self.knowledge.session.table(
            "targets",
            f"select row_number() over (order by is_member, drawn) as tuple, * from ({first})",
        )

    def candidates(self, targets: str, columns: Sequence[Column], *output: Column) -> str:
        """Return SQL of the released rows that match each target in ``columns``.

        One row per ``target`` and combination of the ``output`` columns, with ``records``.
        """
        session = self.knowledge.session
        labelled = [column for column in columns if column.label is not None]
        others = [column for column in columns if column.label is None]
        labels = ", ".join(column.row_name for column in labelled) or "0 as nothing"
        classes = session.table(
            "classes",
            f"select row_number() over () as class, * from (select distinct {labels} "
            f"from {self.rows})",
        )
        fitting = {column.number: self.fitting[column.number] for column in labelled}
        pairs = find_pairs(session, targets, fitting, classes)
        row_columns = "".join(f", r.{column.row_name}" for column in (*others, *output))
        same = "".join(f" and r.{column.row_name} = c.{column.row_name}" for column in labelled)
        equal = "".join(
            f" and r.{column.row_name} is not distinct from t.{column.known_name}"
            for column in others
        )
        values = "".join(f", r.{column.row_name}" for column in output)
        return (
            f"select t.tuple as target{values}, sum(r.records) as records from {targets} as t "
            f"inner join {pairs} as p on t.tuple = p.tuple "
            f"inner join (select c.class{row_columns}, count(*) as records from {self.rows} as r "
            f"inner join {classes} as c on true{same} group by c.class{row_columns}) as r "
            f"on r.class = p.class{equal} group by t.tuple{values}"
        )

    @cached_property
    def fitting(self) -> dict[int, str]:
        """Tables of the known values (``code``) that each ``label`` of a column can stand for."""
        knowledge = self.knowledge
        return {
            c.number: value_map(
                knowledge.session, c.label, c.labels, knowledge.values[c.number], "a trial"
            )
            for c in self.columns
            if c.label is not None
        }

    @cached_property
    def values(self) -> dict[int, str]:
        """Tables of the distinct known texts of each column: ``value`` and ``code``, from 0."""
        return {
            column.number: self.knowledge.session.table(
                "values",
                "select value, row_number() over (order by value) - 1 as code from "
                f"(select distinct {column.known_name} as value from {self.people})",
            )
            for column in self.columns
            if column.label is None
        }

    @cached_property
    def groups(self) -> tuple[People, People]:
        """Members, and those who were left out; records without a subject count as one person."""
        cursor, groups = self.knowledge.session.cursor, []
        codes = ", ".join(
            f"{c.known_name}.code as {c.known_name}" if c.label is None else f"p.{c.known_name}"
            for c in self.columns
        )
        joins = " ".join(
            f"inner join {table} as v_{number} "
            f"on p.v_{number} is not distinct from v_{number}.value"
            for number, table in self.values.items()
        )
        for condition in ("p.is_member", "not p.is_member"):
            cursor.execute(
                f"select coalesce(p.person, -1) as person, {codes} from {self.people} as p {joins} "
                f"where {condition}"
            )
            arrays = {name: np.asarray(values) for name, values in cursor.fetchnumpy().items()}
            numbers = {column.number: arrays[column.known_name] for column in self.columns}
            groups.append(People(arrays["person"], numbers))
        members, others = groups
        return members, others


def draw_trial(knowledge: Knowledge, tables: Tables, effort: int, *, seed: int) -> Trial:
    """Anonymize half of the subjects, drawn by ``seed``, with an effort (from 1 on).

    ``tables`` are source and hierarchies, and for a recoding the effort. An effort that cannot be
    computed, or a source whose types have changed, is a `VerificationError`.
    """
    session, spec = knowledge.session, knowledge.spec
    _require_built_types(session, spec, tables.source)
    record = "cast(record_key as varchar)"
    people = f"select person, {record} as record_key from {knowledge.targets}"
    if spec.subject:
        people = (
            f"select person, min({record}) as record_key from {knowledge.targets} group by person"
        )
    members = session.table(
        "members",
        "select person, row_number() over (order by md5('"
        f"{seed} member ' || record_key), record_key) % 2 = 1 as is_member from ({people})",
    )
    key = quote_name(spec.record_key)
    theirs = session.table(
        "theirs",
        f"select s.* from {tables.source} as s inner join {knowledge.targets} as t "
        f"on s.{key} = t.record_key inner join {members} as m "
        "on t.person is not distinct from m.person where m.is_member",
    )
    everybody = Expected(_sources_only(tables, tables.source), spec, effort)
    expected = Expected(_sources_only(tables, theirs), spec, effort)
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
    kept_columns = ", ".join((f"rows_.{key}", *everybody.kept_columns_sql()))
    kept_rows = f"(select {kept_columns} from {everybody.source} as rows_)"
    return read_trial(knowledge, released, members, kept_rows, seed=seed)


def _require_built_types(session: Session, spec: Spec, source: str) -> None:
    now = session.columns(source)
    built = session.columns(str(session.warehouse.relation_of_ref(f"{spec.name}_microdata")))
    names = [spec.record_key, *spec.quasi_identifiers]
    if changed := [name for name in names if now.get(name) != built.get(name)]:
        have = "has" if len(changed) == 1 else "have"
        raise VerificationError(
            "the source must have the types of the build to be compared with its "
            f"records; {', '.join(changed)} {have} another now. Build again; where the build "
            "stops, it says what to do."
        )


def _sources_only(tables: Tables, source: str) -> Tables:
    """Return the tables without built relations, except the labels of an effort."""
    return replace(
        tables,
        source=source,
        microdata=None,
        anonymized=None,
        release=None,
        identifiers=None,
        tokens=None,
    )


def read_trial(
    knowledge: Knowledge, released: str, members: str, kept_rows: str, *, seed: int
) -> Trial:
    """Match released rows with everybody: ``members`` has ``person`` and ``is_member``.

    ``kept_rows`` holds the kept columns of every record as a release shows them.
    """
    session, spec = knowledge.session, knowledge.spec
    labels = find_labels(session, session.columns(released), spec, spec)
    tables = [label_table(session, released, label) for label in labels]
    coded = code_labels(labels, tables)
    columns = [
        Column(label.name, label.number, False, label, table)
        for label, table in zip(labels, tables, strict=True)
    ]
    # An attacker does not know masked values.
    plain = spec.columns_with_role("sensitive", "insensitive")
    columns += [
        Column(name, number, name in spec.sensitive)
        for number, name in enumerate(plain, len(labels) + 1)
    ]
    kept_columns = [column for column in columns if column.label is None]
    released_columns = "".join(
        f", cast(r.{quote_name(c.name)} as varchar) as {c.row_name}" for c in kept_columns
    )
    known_columns = "".join(
        f", cast(k.{quote_name(c.name)} as varchar) as {c.known_name}" for c in kept_columns
    )
    rows = session.table(
        "trial_rows", f"select {coded.columns}{released_columns} from {released} as r {coded.joins}"
    )
    people = session.table(
        "trial_people",
        f"select t.record_key, t.person, m.is_member, "
        f"{', '.join(f't.v_{label.number}' for label in labels)}{known_columns} "
        f"from {knowledge.targets} as t inner join {kept_rows} as k "
        f"on t.record_key = k.{quote_name(spec.record_key)} "
        f"inner join {members} as m on t.person is not distinct from m.person",
    )
    (records,) = session.row(f"select count(*) from {rows}")
    (persons,) = session.row(f"select count(distinct person) from {people} where is_member")
    return Trial(knowledge, columns, people, rows, int(records), int(persons), seed)
