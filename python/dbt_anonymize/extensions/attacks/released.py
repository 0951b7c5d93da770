"""Released classes as an attacker reads them, and the people that each can hold."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.knowledge import Knowledge
from dbt_anonymize.extensions.attacks.labels import Label, find_labels, label_table, value_map
from dbt_anonymize.extensions.attacks.session import Session
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec

# Beside columns of a release, so a name that none has.
_TIMES = quote_name(" rows")


@dataclass(frozen=True)
class Origin:
    """Record behind each row of a release of this project, to measure an attacker's success.

    ``relation`` has the records with their labels, ``record_key`` and ``is_suppressed``.
    """

    relation: str
    record_key: str


@dataclass(frozen=True)
class Released:
    """A release, matched with the attacker's knowledge.

    ``labels`` are its labels of the known quasi-identifiers; ``sensitive`` gives the alias ``s_1``,
    .. of each sensitive column of the attacked anonymization whose values it has, ``generalized``
    are those of which it has labels or masks. The others are tables:

    - ``classes``: ``class`` and ``records`` of each combination of labels.
    - ``members``: ``class``, ``s_1``, .. and ``records`` of each combination with sensitive values.
    - ``sets``: ``tuple`` and ``candidates``, a number for each distinct set of classes whose labels
      can be those of the tuple.
    - ``of_sets``: ``candidates`` and each ``class`` in it.
    - ``own``: each record: ``record_key``, ``person``, ``tuple``, ``class`` (NULL where the release
      has no row of it), ``is_released`` (whether it should have one) and the true ``s_1``, ...
    """

    knowledge: Knowledge
    name: str
    labels: Sequence[Label]
    sensitive: dict[str, str]
    generalized: Sequence[str]
    classes: str
    members: str
    sets: str
    of_sets: str
    own: str


def read_release(
    knowledge: Knowledge,
    relation: str,
    name: str,
    *,
    published: Spec | None,
    origin: Origin | None,
) -> Released | None:
    """Match a release with the knowledge; None if it shows no known quasi-identifier.

    Without ``origin`` everybody is assumed to be in the class that fits her and the fewest people.
    A label that cannot be interpreted is a `VerificationError`.
    """
    session = knowledge.session
    columns = session.columns(relation)
    labels = find_labels(session, columns, knowledge.spec, published)
    if not labels:
        return None
    true_types = session.columns(knowledge.targets)
    sensitive = {
        attribute: f"s_{number}"
        for number, attribute in enumerate(knowledge.spec.sensitive, 1)
        if attribute in columns
    }
    generalized = [
        attribute
        for attribute, alias in sensitive.items()
        if _is_generalized(attribute, true_types[alias], columns, published)
    ]
    sensitive = {name: alias for name, alias in sensitive.items() if name not in generalized}
    rows = _distinct_rows(session, relation, labels, sensitive)
    tables = [label_table(session, rows, label) for label in labels]
    coded = code_labels(labels, tables)
    numbers = [f"l_{label.number}" for label in labels]
    listed = ", ".join(numbers)
    classes = session.table(
        "classes",
        f"select row_number() over (order by {listed}) as class, * from (select {listed}, "
        f"cast(sum({_TIMES}) as bigint) as records "
        f"from (select {coded.columns}, r.{_TIMES} from {rows} as r {coded.joins}) "
        f"group by {listed})",
    )
    fitting = {
        label.number: value_map(session, label, table, knowledge.values[label.number], name)
        for label, table in zip(labels, tables, strict=True)
    }
    sets, of_sets = _candidate_sets(knowledge, fitting, classes)
    return Released(
        knowledge=knowledge,
        name=name,
        labels=labels,
        sensitive=sensitive,
        generalized=generalized,
        classes=classes,
        members=_members(knowledge, rows, coded, classes, sensitive),
        sets=sets,
        of_sets=of_sets,
        own=_true_classes(knowledge, coded, classes, (sets, of_sets), origin),
    )


def _is_generalized(
    attribute: str, true_type: str, columns: Mapping[str, str], published: Spec | None
) -> bool:
    """Tell whether a release has labels or masks of a column in place of its values."""
    if published is not None:
        return attribute not in published.kept_columns or attribute in published.masks
    is_text = columns[attribute] == "VARCHAR" != true_type
    return is_text or f"{attribute}_lower" in columns


def _distinct_rows(
    session: Session, relation: str, labels: Sequence[Label], sensitive: Iterable[str]
) -> str:
    """Read a release once: the distinct combinations of the used columns, with their counts."""
    names = [*(column for label in labels for column in label.columns), *sensitive]
    columns = ", ".join(map(quote_name, dict.fromkeys(names)))
    return session.table(
        "distinct_rows",
        f"select {columns}, count(*) as {_TIMES} from {relation} group by {columns}",
    )


@dataclass(frozen=True)
class Coded:
    """SQL that adds the numbers of labels, ``l_1``, .., to rows ``r``, and finds their class.

    ``outer_joins`` keep rows whose labels are unknown.
    """

    columns: str
    joins: str
    outer_joins: str
    of_class: str


def code_labels(labels: Sequence[Label], tables: Sequence[str]) -> Coded:
    """Return SQL that finds the labels of rows in each `label_table`."""
    columns, joins = [], []
    for label, table in zip(labels, tables, strict=True):
        alias = f"labels_{label.number}"
        same = " and ".join(
            f"r.{quote_name(column)} is not distinct from {alias}.c_{place}"
            for place, column in enumerate(label.columns, 1)
        )
        columns.append(f"{alias}.label as l_{label.number}")
        joins.append(f"join {table} as {alias} on {same}")
    return Coded(
        ", ".join(columns),
        " ".join(f"inner {join}" for join in joins),
        " ".join(f"left {join}" for join in joins),
        " and ".join(f"x.l_{label.number} = c.l_{label.number}" for label in labels),
    )


def _members(
    knowledge: Knowledge, rows: str, coded: Coded, classes: str, sensitive: dict[str, str]
) -> str:
    """Count the released sensitive values of each class."""
    values = "".join(f", r.{quote_name(name)} as {alias}" for name, alias in sensitive.items())
    listed = "".join(f", x.{alias}" for alias in sensitive.values())
    return knowledge.session.table(
        "members",
        f"select c.class{listed}, cast(sum(x.{_TIMES}) as bigint) as records "
        f"from (select {coded.columns}{values}, r.{_TIMES} from {rows} as r {coded.joins}) as x "
        f"inner join {classes} as c on {coded.of_class} group by c.class{listed}",
    )


def find_pairs(session: Session, tuples: str, fitting: Mapping[int, str], classes: str) -> str:
    """Find the classes that can hold each combination of raw values: ``tuple`` and ``class``.

    ``fitting`` has for each quasi-identifier the ``label`` that each value (``code``) can have.
    They are joined one after the other, and only prefixes of existing classes are kept: all fitting
    labels of all quasi-identifiers together would be too many combinations.
    """
    paths = session.table("paths", f"select *, 0 as node from {classes}")
    pairs = session.table("pairs", f"select tuple, 0 as node from {tuples}")
    for number, labels in fitting.items():
        code = f"l_{number}"
        nodes = session.table(
            "nodes",
            f"select row_number() over () as node, * from "
            f"(select distinct node as parent, {code} as label from {paths})",
        )
        paths = session.table(
            "paths",
            f"select p.* exclude (node), n.node from {paths} as p inner join {nodes} as n "
            f"on p.node = n.parent and p.{code} = n.label",
        )
        pairs = session.table(
            "pairs",
            f"select p.tuple, n.node from {pairs} as p "
            f"inner join {tuples} as t on p.tuple = t.tuple "
            f"inner join {labels} as m on t.v_{number} = m.code "
            f"inner join {nodes} as n on n.parent = p.node and n.label = m.label",
        )
    return session.table(
        "pairs",
        f"select p.tuple, c.class from {pairs} as p inner join {paths} as c on p.node = c.node",
    )


def _candidate_sets(
    knowledge: Knowledge, fitting: Mapping[int, str], classes: str
) -> tuple[str, str]:
    """Return tables of the distinct sets of classes that can hold combinations of raw values.

    Values with the same possible labels are grouped first: there are few combinations of groups,
    however many combinations of values there are.
    """
    session = knowledge.session
    alike = {number: _value_groups(session, labels) for number, labels in fitting.items()}
    values = ", ".join(f"a_{number}.place as v_{number}" for number in alike)
    joins = " ".join(
        f"inner join {table} as a_{number} on t.v_{number} = a_{number}.code"
        for number, table in alike.items()
    )
    placed = session.table(
        "placed", f"select t.tuple, {values} from {knowledge.tuples} as t {joins}"
    )
    names = ", ".join(f"v_{number}" for number in alike)
    kinds = session.table(
        "kinds",
        f"select row_number() over () as tuple, * from (select distinct {names} from {placed})",
    )
    of_places = {
        number: session.table(
            "of_places",
            f"select distinct a.place as code, f.label from {table} as a "
            f"inner join {fitting[number]} as f on a.code = f.code",
        )
        for number, table in alike.items()
    }
    pairs = find_pairs(session, kinds, of_places, classes)
    keyed = session.table(
        "keyed",
        "select tuple, string_agg(cast(class as varchar), ',' order by class) as key "
        f"from {pairs} group by tuple",
    )
    numbered = session.table(
        "numbered",
        "select row_number() over () as candidates, key, example from "
        f"(select key, min(tuple) as example from {keyed} group by key)",
    )
    same = " and ".join(f"p.v_{number} = k.v_{number}" for number in alike)
    sets = session.table(
        "sets",
        f"select p.tuple, n.candidates from {placed} as p inner join {kinds} as k on {same} "
        f"inner join {keyed} as e on k.tuple = e.tuple inner join {numbered} as n on e.key = n.key",
    )
    of_sets = session.table(
        "of_sets",
        f"select n.candidates, p.class from {numbered} as n inner join {pairs} as p "
        "on n.example = p.tuple",
    )
    return sets, of_sets


def _value_groups(session: Session, fitting: str) -> str:
    """Return a table that gives values with the same possible labels the same ``place``."""
    return session.table(
        "alike",
        "select code, dense_rank() over (order by labels) as place from "
        f"(select code, list(label order by label) as labels from {fitting} group by code)",
    )


def _true_classes(
    knowledge: Knowledge, coded: Coded, classes: str, sets: tuple[str, str], origin: Origin | None
) -> str:
    """Return a table of the class of each record: see `Released`."""
    session, (of_tuples, of_sets) = knowledge.session, sets
    names = ["record_key", "person", "tuple"]
    names += [f"s_{number}" for number in range(1, len(knowledge.spec.sensitive) + 1)]
    records = ", ".join(f"t.{name}" for name in names)
    if origin is not None:
        key = quote_name(origin.record_key)
        return session.table(
            "own",
            f"select {records}, o.class, coalesce(o.is_released, false) as is_released "
            f"from {knowledge.targets} as t left join ("
            "select x.record_key, x.is_released, c.class from ("
            f"select r.{key} as record_key, not r.is_suppressed as is_released, "
            f"r.equivalence_class is not null as has_class, {coded.columns} "
            f"from {origin.relation} as r {coded.outer_joins}) as x "
            # Records outside the sample have labels, but no class.
            f"left join {classes} as c on x.has_class and {coded.of_class}) as o "
            "on t.record_key = o.record_key",
        )
    covered = (
        f"select o.class, sum(s.records) as people from {of_sets} as o inner join "
        f"(select s.candidates, sum(t.records) as records from {of_tuples} as s inner join "
        f"{knowledge.tuples} as t on s.tuple = t.tuple group by s.candidates) as s "
        "on o.candidates = s.candidates group by o.class"
    )
    narrowest = (
        f"select o.candidates, arg_min(o.class, (c.people, o.class)) as class from {of_sets} as o "
        f"inner join ({covered}) as c on o.class = c.class group by o.candidates"
    )
    return session.table(
        "own",
        f"select {records}, n.class, n.class is not null as is_released "
        f"from {knowledge.targets} as t left join {of_tuples} as s on t.tuple = s.tuple "
        f"left join ({narrowest}) as n on s.candidates = n.candidates",
    )


def released_people(release: Released) -> int:
    """Count the people in the release; none is a `VerificationError`."""
    (people,) = release.knowledge.session.row(
        f"select count(distinct person) from {release.own} where class is not null"
    )
    if not people:
        raise VerificationError(
            f"{release.name}: must hold at least one person of the source; it holds none that can "
            "be recognized. Build it again."
        )
    return int(people)
