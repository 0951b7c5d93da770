"""The coded table that a search reads, and its equivalence classes."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_anonymize.arrays import Floats, Ints

Node = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier and its hierarchy; arrays by level, from the identity to the root."""

    name: str
    # levels[level][leaf]: code of the leaf's label; codes of a level are 0, 1, ... without gaps.
    levels: tuple[Ints, ...]
    # shares[level][code]: share of the hierarchy that the label covers, in [0, 1].
    shares: tuple[Floats, ...]
    domain_size: int  # rows of the hierarchy, those absent from the data included
    # 1 / domain_size of a categorical attribute; 0 of intervals with raw values at level 0.
    smallest_share: float
    weight: float = 1.0  # in the information loss; > 0
    # Levels that the search may use, both included; None is the root.
    lowest: int = 0
    highest: int | None = None

    @property
    def height(self) -> int:
        """Level of the root."""
        return len(self.levels) - 1

    @property
    def top(self) -> int:
        """Highest level that the search may use."""
        return self.height if self.highest is None else self.highest


@dataclass(frozen=True)
class SensitiveAttribute:
    """One sensitive attribute with ``size`` values that occur; codes follow the order of the type.

    ``tree[level][value]`` is a label's code, from the identity to the root, for the hierarchical
    distance; empty without a hierarchy.
    """

    name: str
    size: int
    tree: tuple[Ints, ...] = ()


@dataclass(frozen=True)
class Table:
    """Distinct rows with their number of records, in the order of first appearance.

    Arrays are (rows,). A NULL is a leaf of its own, labelled as the root above level 0 or at every
    level, as the hierarchy says.
    """

    attributes: tuple[Attribute, ...]
    leaves: Ints  # (rows, attributes): codes of leaves
    records: Ints  # of the sample; 0 where a row is in the population only
    # With the code of each row.
    sensitive: tuple[tuple[SensitiveAttribute, Ints], ...] = ()
    subject: Ints | None = None  # code of the person; rows are then distinct by person too
    population: Ints | None = None  # records of the population table
    population_size: int | None = None  # people of the population, for estimators
    # Codes of each target outside the quasi-identifiers with its weight, for the classification
    # metric.
    targets: tuple[tuple[Ints, float], ...] = ()
    # (rows, 2 + outputs) for the guided measure: how many of the records have predictions, the sum
    # of their squares, and their sums; centred and scaled so that all squares add up to 1.
    predictions: Floats | None = None
    total: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        # A property would sum the rows again at each of many nodes.
        object.__setattr__(self, "total", int(self.records.sum()))


@dataclass(frozen=True)
class ValueCounts:
    """Counts of values per class; one entry per pair that occurs.

    Sorted by class, then value. With a subject, each (person, value) of a class counts once.
    """

    classes: Ints
    values: Ints
    counts: Ints


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of one node; arrays are (classes,)."""

    levels: Node
    codes: Ints  # (classes, attributes): labels at these levels
    records: Ints  # of the sample
    people: Ints  # distinct subjects among them; the records without a subject
    first: Ints  # smallest row of the table
    population: Ints | None = None  # records of the population
    values: tuple[ValueCounts, ...] = ()  # of each sensitive attribute
    targets: tuple[ValueCounts, ...] = ()  # of each target, counting records
    predictions: Floats | None = None  # (classes, 2 + outputs): those of `Table`, added up
    losses: Floats | None = None  # of labels, where levels differ within a class
