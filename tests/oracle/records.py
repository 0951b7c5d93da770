"""Records and their classes, one by one, for the definitions in `search`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dbt_anonymize.privacy.table import Node, Table


@dataclass(frozen=True)
class Record:
    """One record of the sample."""

    row: int
    leaves: tuple[int, ...]
    values: tuple[int, ...]
    person: int | None
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Class:
    """One equivalence class; without records where it is in the population only."""

    labels: tuple[int, ...]
    first: int
    records: tuple[Record, ...]
    population: int
    # Of each quasi-identifier the leaves that the label covers, and all leaves.
    covered: tuple[tuple[Fraction, int], ...] = ()

    @property
    def people(self) -> int:
        """Distinct people among the records."""
        persons = [record.person for record in self.records]
        return len(persons) if None in persons else len(set(persons))


def records_of(table: Table) -> list[Record]:
    """Write out each record of the table."""
    return [
        Record(
            row=row,
            leaves=tuple(table.leaves[row].tolist()),
            values=tuple(int(codes[row]) for _, codes in table.sensitive),
            person=None if table.subject is None else int(table.subject[row]),
            targets=tuple(int(codes[row]) for codes, _ in table.targets),
        )
        for row in range(len(table.records))
        for _ in range(int(table.records[row]))
    ]


def labels_of(table: Table, node: Node, leaves: Sequence[int]) -> tuple[int, ...]:
    """Generalize one record."""
    return tuple(
        int(attribute.levels[level][leaf])
        for attribute, level, leaf in zip(table.attributes, node, leaves, strict=True)
    )


def _covered(table: Table, node: Node, labels: Sequence[int]) -> tuple[tuple[Fraction, int], ...]:
    return tuple(
        (
            max(
                Fraction(1), Fraction(float(a.shares[level][label])).limit_denominator(1000) * size
            ),
            size,
        )
        for a, level, label in zip(table.attributes, node, labels, strict=True)
        for size in [a.domain_size]
    )


def classes_of(table: Table, node: Node) -> list[Class]:
    """Group the records, in the order of the first row of each class."""
    members: dict[tuple[int, ...], list[Record]] = defaultdict(list)
    for record in records_of(table):
        members[labels_of(table, node, record.leaves)].append(record)
    first: dict[tuple[int, ...], int] = {}
    population: Counter[tuple[int, ...]] = Counter()
    for row, leaves in enumerate(table.leaves.tolist()):
        labels = labels_of(table, node, leaves)
        first.setdefault(labels, row)
        population[labels] += 0 if table.population is None else int(table.population[row])
    return [
        Class(
            labels, row, tuple(members[labels]), population[labels], _covered(table, node, labels)
        )
        for labels, row in first.items()
    ]


def value_counts(records: Collection[Record], position: int) -> Counter[int]:
    """Count values; each value of a person once."""
    if any(record.person is None for record in records):
        return Counter(record.values[position] for record in records)
    return Counter(
        value for _, value in {(record.person, record.values[position]) for record in records}
    )


# --- guarantees -----------------------------------------------------------------------------------
