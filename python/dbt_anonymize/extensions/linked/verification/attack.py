"""An attacker who knows people's own values and some of their linked records, as they truly are.

A released subject is a candidate if its labels cover the own values and different records of it
cover the known ones, each with those that it leads over. There are so many exactly if each set of
known records is covered in part by as many records at least (Hall 1935).
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbt_anonymize.extensions.linked.declared import SUBJECTS
from dbt_anonymize.extensions.linked.graph import Graph, as_bytes, path_column, read_graph
from dbt_anonymize.extensions.linked.verification.expected import (
    IS_RELEASED,
    PARENT,
    RECORD,
    SUBJECT,
    ExpectedRecords,
    value_of,
)
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.spec import Hierarchy
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.recomputation.labels import ROOT

RELEASED, OTHERS = 800, 200
# Of all records, so many are known one by one, and how many there are.
_MOST_KNOWN = 5
# Records that are compared with those of targets at a time, which bounds memory.
_AT_A_TIME = 20_000_000


@dataclass(frozen=True)
class Outcome:
    """Numbers of attacked people, and of those with few candidates.

    ``few`` have 1 to k - 1, ``alone`` one, and ``nobody`` none, as where a record is left out.
    """

    people: int
    few: int
    alone: int
    nobody: int

    def told(self, k: int) -> str:
        """Return the outcome in words."""
        few, alone, nobody = (
            f"{number / max(1, self.people):.1%}" for number in (self.few, self.alone, self.nobody)
        )
        return (
            f"of {self.people:,} people {few} have fewer than k = {k} candidates, {alone} are "
            f"found alone, and what is known of {nobody} fits nobody."
        )


def attack_findings(expected: ExpectedRecords, graph: Graph) -> Iterator[Finding]:
    """Attack released people by their true values, and others as a control.

    Whoever is a candidate shares what makes her one with k - 1 others, where the guarantee holds:
    nobody has fewer candidates, but for none.
    """
    release = expected.release
    attacker = _Attacker(expected, _targets(expected))
    linked = list(release.linked)
    released, control = attacker.attack(graph, attacker.own_fits(graph), linked)
    for subject, outcome in (("all tables", released), ("people who are not released", control)):
        message = f"knowing {attacker.known}: {outcome.told(release.k)}"
        if outcome.few:
            message += " The release breaks its promise: withdraw it, and build it again."
        if outcome.people:
            yield Finding("linked", f"attack, {subject}", not outcome.few, message)
    unhidden = read_graph(release.scratch, release.released_subjects(), expected.unhidden())
    fitting = attacker.own_fits(unhidden)
    compared = (
        {"all tables": linked}
        if len(linked) == 1
        else {"all tables": linked, **{f"{name} alone": [name] for name in linked}}
    )
    for subject, tables in compared.items():
        outcome, _ = attacker.attack(unhidden, fitting, tables)
        message = f"knowing {attacker.known}: {outcome.told(release.k)}"
        if outcome.people:
            yield Finding("linked", f"attack before records are hidden, {subject}", None, message)


def _targets(expected: ExpectedRecords) -> str:
    """Draw people who are released, and others, by the seed of the spec."""
    release = expected.release
    drawn = f"md5({quote_text(f'{release.spec.random_state} linked ')} || {RECORD})"
    parts = " union all ".join(
        f"(select * from {expected.people} where {condition} order by {drawn}, {RECORD} "
        f"limit {number})"
        for condition, number in ((IS_RELEASED, RELEASED), (f"not {IS_RELEASED}", OTHERS))
    )
    return release.scratch.table(
        "targets", f"select row_number() over () as target, * from ({parts})"
    )


@dataclass(frozen=True)
class _Evidence:
    """Tables of what points from targets to subjects.

    - ``fitting``: ``target``, and each ``class`` whose labels cover her own values.
    - ``masks``: ``target``, ``item``, and her known records that it covers, as bits.
    - ``numbers``: ``target``, and how many records of her are ``known``.
    - ``counts``: join of how many records target and subject have; empty where that is unknown.
    """

    fitting: str
    masks: str
    numbers: str
    counts: str


@dataclass(frozen=True)
class _Attacker:
    """People whose own values and records are known: ``targets`` is a table with a number each."""

    expected: ExpectedRecords
    targets: str

    @property
    def known_records(self) -> int:
        """Most records of a person that are known one by one."""
        known = self.expected.release.rule.known_records
        return _MOST_KNOWN if known == "all" else known

    @property
    def knows_counts(self) -> bool:
        """Tell whether numbers of records are known."""
        rule = self.expected.release.rule
        return rule.known_count or rule.known_records == "all"

    @property
    def known(self) -> str:
        """The known records, in words."""
        counts = ", and how many there are" if self.knows_counts else ""
        return f"own values and up to {self.known_records} records of each{counts}"

    def attack(self, graph: Graph, fitting: str, tables: Sequence[str]) -> tuple[Outcome, Outcome]:
        """Attack with records of some tables; return the outcome of released people and others.

        ``fitting`` is what `own_fits` returns for the graph.
        """
        release, scratch = self.expected.release, self.expected.release.scratch
        known = self._known_records(tables)
        numbers = (
            f"select target, count(bit) as known from {self.targets} left join {known} "
            "using (target) group by target"
        )
        evidence = _Evidence(
            fitting,
            self._masks(graph, known, tables),
            scratch.table("numbers", numbers),
            self._same_counts(graph, tables) if self.knows_counts else "",
        )
        (size,) = scratch.row(f"select count(*) from {graph.held}")
        (targets,) = scratch.row(f"select count(*) from {self.targets}")
        parts = max(1, math.ceil(size * targets / _AT_A_TIME))
        found = scratch.table("found", "select 0 as target, 0 as candidates where false")
        for part in range(parts):
            candidates = self._candidates(graph, evidence, f"target % {parts} = {part}")
            scratch.rows(
                f"insert into {found} select target, count(*) from ({candidates}) group by target"
            )
        outcomes = [
            Outcome(
                *scratch.row(
                    "select count(*), "
                    f"count(*) filter (where candidates between 1 and {release.k - 1}), "
                    "count(*) filter (where candidates = 1), "
                    "count(*) filter (where candidates is null) "
                    f"from {self.targets} left join {found} using (target) where {condition}"
                )
            )
            for condition in (IS_RELEASED, f"not {IS_RELEASED}")
        ]
        return outcomes[0], outcomes[1]

    def own_fits(self, graph: Graph) -> str:
        """Return the classes of subjects that cover the own values of each target."""
        release = self.expected.release
        spec = release.spec
        # An aggregate of a class is no label that a value could lie in.
        aggregates = spec.numbered_efforts[release.effort].aggregates
        shown = spec.released_quasi_identifiers
        trees = {n: tree for n, tree in shown.items() if n not in aggregates}
        known = _with_labels(
            self.targets,
            {value_of(n): (tree, release.tables.hierarchies[n]) for n, tree in trees.items()},
        )
        conditions = [_covers(tree, SUBJECTS, name, value_of(name)) for name, tree in trees.items()]
        columns = ", ".join(path_column(SUBJECTS, c) for c in spec.released_labels)
        return release.scratch.table(
            "own_fits",
            f"select known.target, classes.class from ({known}) as known "
            f"inner join (select distinct class, {columns} from {graph.subjects}) as classes "
            f"on {' and '.join(conditions) or 'true'}",
        )

    def _known_records(self, tables: Sequence[str]) -> str:
        """Draw records of each target, and number them as bits from 0."""
        release = self.expected.release
        every = " union all ".join(
            f"select targets.target, {place} as place, records.{RECORD} as record "
            f"from {self.expected.records[name]} as records inner join {self.targets} as targets "
            f"on {as_bytes(f'records.{SUBJECT}')} = {as_bytes(f'targets.{RECORD}')}"
            for place, name in enumerate(tables)
        )
        drawn = (
            f"md5({quote_text(f'{release.spec.random_state} known ')} || place || ' ' || record)"
        )
        return release.scratch.table(
            "known",
            f"select * from (select *, row_number() over (partition by target order by {drawn}, "
            f"place, record) - 1 as bit from ({every})) where bit < {self.known_records}",
        )

    def _masks(self, graph: Graph, known: str, tables: Sequence[str]) -> str:
        """Return the items that cover known records of each target, as bits."""
        fits = []
        for place, name in enumerate(tables):
            values = _with_labels(
                self._known_values(known, place, name),
                {
                    path_column(table, column): (
                        self.expected.release.linked[table].quasi_identifiers[column],
                        self.expected.release.hierarchies[table][column],
                    )
                    for table in self._path(name)
                    for column in self.expected.release.linked[table].quasi_identifiers
                },
            )
            conditions = [
                _covers(tree, table, column, path_column(table, column))
                for table in self._path(name)
                for column, tree in self.expected.release.linked[table].quasi_identifiers.items()
            ]
            fits.append(
                f"select known.target, known.bit, classes.item from ({values}) as known "
                f"inner join {graph.items[name]} as classes on {' and '.join(conditions)}"
            )
        return self.expected.release.scratch.table(
            "masks",
            "select target, item, bit_or(cast(1 as bigint) << cast(bit as bigint)) as mask "
            f"from ({' union all '.join(fits)}) group by target, item",
        )

    def _path(self, name: str) -> Iterator[str]:
        """Yield a table and those that it leads over."""
        while name != SUBJECTS:
            yield name
            name = self.expected.release.linked[name].over

    def _known_values(self, known: str, place: int, name: str) -> str:
        """Return known records of a table with the raw values of all that they lead over."""
        columns, joins, before = [], [], f"known.place = {place} and known.record"
        for number, table in enumerate(self._path(name)):
            alias = f"records_{number}"
            joins.append(
                f"inner join {self.expected.records[table]} as {alias} "
                f"on {before} = {alias}.{RECORD}"
            )
            before = f"{alias}.{PARENT}"
            columns += [
                f"{alias}.{value_of(column)} as {path_column(table, column)}"
                for column in self.expected.release.linked[table].quasi_identifiers
            ]
        return (
            f"(select known.target, known.bit, {', '.join(columns)} from {known} as known "
            f"{' '.join(joins)})"
        )

    def _same_counts(self, graph: Graph, tables: Sequence[str]) -> str:
        """Return the join of targets with subjects that have as many records in each table."""
        scratch, records = self.expected.release.scratch, self.expected.records
        places = {name: place for place, name in enumerate(graph.items)}
        held = ", ".join(
            f"coalesce(sum(times) filter (where item % {len(places)} = {places[name]}), 0) as n_{n}"
            for n, name in enumerate(tables)
        )
        true = ", ".join(
            f"(select count(*) from {records[name]} as records "
            f"where records.{SUBJECT} = targets.{RECORD}) as n_{n}"
            for n, name in enumerate(tables)
        )
        known = scratch.table(
            "true_counts", f"select target, {true} from {self.targets} as targets"
        )
        counted = scratch.table(
            "counts",
            f"select subject, {held} from {graph.subjects} left join {graph.held} using (subject) "
            "group by subject",
        )
        numbers = ", ".join(f"n_{n}" for n in range(len(tables)))
        return f" inner join {known} using (target) inner join {counted} using (subject, {numbers})"

    def _candidates(self, graph: Graph, evidence: _Evidence, part: str) -> str:
        """Return SQL of the candidates of a part of the targets."""
        covered = " and ".join(
            f"(any_value(known) < {known.bit_length()} or "
            f"sum(times) filter (where mask & {known} > 0) >= {known.bit_count()})"
            for known in range(1, 2**self.known_records)
        )
        fitting = (
            f"from (select * from {evidence.fitting} where {part}) "
            f"inner join {evidence.numbers} using (target) "
            f"inner join {graph.subjects} using (class){evidence.counts}"
        )
        return (
            f"select target, subject {fitting} where known = 0 union all "
            f"select target, subject {fitting} inner join {graph.held} using (subject) "
            f"inner join {evidence.masks} using (target, item) "
            f"group by target, subject having {covered}"
        )


def _with_labels(relation: str, trees: Mapping[str, tuple[Hierarchy, str]]) -> str:
    """Return SQL of known values, with the labels of each category at all levels as a list."""
    columns, joins = [], []
    for number, (value, (tree, hierarchy)) in enumerate(trees.items()):
        if tree.kind == "interval":
            continue
        alias = f"tree_{number}"
        levels = ", ".join(
            f"cast({alias}.{quote_name(f'level_{level}')} as varchar)"
            for level in range(1, tree.levels + 1)
        )
        text = f"cast(rows_.{value} as varchar)"
        columns.append(f", list_value({text}, {levels}) as {_labels_of(value)}")
        joins.append(
            f" left join {hierarchy} as {alias} "
            f"on {as_bytes(f'rows_.{value}')} = {as_bytes(f'{alias}.value')}"
        )
    return f"select rows_.*{''.join(columns)} from {relation} as rows_{''.join(joins)}"


def _labels_of(value: str) -> str:
    return quote_name(f"labels of {value}")


def _covers(tree: Hierarchy, table: str, column: str, value: str) -> str:
    """Return the condition that the label of a column covers a known value."""
    label = f"classes.{path_column(table, column)}"
    is_root = f"coalesce({label}, {quote_text(ROOT)}) = {quote_text(ROOT)}"
    if tree.kind != "interval":
        return f"({is_root} or list_contains(known.{_labels_of(value)}, {label}))"
    lower, upper = (
        f"classes.{path_column(table, f'{column}_{end}')}" for end in ("lower", "upper")
    )
    known = f"known.{value}"
    return (
        f"({is_root} or coalesce({known} >= {lower} and "
        f"({known} < {upper} or {known} = {lower}), false))"
    )
