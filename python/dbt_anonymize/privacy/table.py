"""The coded table that a search reads, and its equivalence classes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Node = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier and its hierarchy.

    Attributes
    ----------
    levels : tuple of int arrays, one per level
        ``levels[level][leaf]`` is the code of the leaf's label, from the identity to the root.
        Codes of a level are 0, 1, ... without gaps in the hierarchy.
    shares : tuple of float arrays, one per level
        ``shares[level][code]``: share of the hierarchy that the label covers, in [0, 1].
    domain_size : int
        Rows of the hierarchy, those absent from the data included.
    smallest_share : float
        ``1 / domain_size`` of a categorical attribute; 0 of intervals with raw values at level 0.
    weight : float
        In the information loss; > 0.
    lowest, highest : int, int or None
        Levels that the search may use, both included; None is the root.
    """

    name: str
    levels: tuple[IntArray, ...]
    shares: tuple[FloatArray, ...]
    domain_size: int
    smallest_share: float
    weight: float = 1.0
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
    tree: tuple[IntArray, ...] = ()


@dataclass(frozen=True)
class Table:
    """Distinct rows with their number of records, in the order of first appearance.

    Attributes
    ----------
    leaves : int array (rows, attributes)
        Leaf codes. A NULL is a leaf of its own, labelled as the root above level 0 or at every
        level, as the hierarchy says.
    records : int array (rows,)
        Records of the sample; 0 where a row is in the population only.
    sensitive : tuple of (SensitiveAttribute, int array (rows,))
        Sensitive attributes with the code of each row.
    subject : int array (rows,) or None
        Code of the person; rows are then distinct by person too.
    population, population_size : int array (rows,), int or None
        Records of the population table; records of the population, for estimators.
    target : int array (rows,) or None
        Target codes outside the quasi-identifiers, for the classification metric.
    """

    attributes: tuple[Attribute, ...]
    leaves: IntArray
    records: IntArray
    sensitive: tuple[tuple[SensitiveAttribute, IntArray], ...] = ()
    subject: IntArray | None = None
    population: IntArray | None = None
    population_size: int | None = None
    target: IntArray | None = None
    total: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        # A property would add up the rows anew at every one of the many nodes.
        object.__setattr__(self, "total", int(self.records.sum()))


@dataclass(frozen=True)
class ValueCounts:
    """How often each value occurs in each class; one entry per pair that occurs.

    Sorted by class, then value. With a subject, each (person, value) of a class counts once.
    """

    classes: IntArray
    values: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Classes:
    """The equivalence classes of one node; arrays (classes,) unless said otherwise.

    Attributes
    ----------
    codes : int array (classes, attributes)
        Label codes at ``levels``.
    records, people, population : int arrays
        Records of the sample; distinct subjects among them (records without a subject); records of
        the population, or None.
    first : int array
        Smallest row of the table in the class.
    values, targets : tuple of ValueCounts, ValueCounts or None
        Of each sensitive attribute; of the target, counting records.
    """

    levels: Node
    codes: IntArray
    records: IntArray
    people: IntArray
    first: IntArray
    population: IntArray | None = None
    values: tuple[ValueCounts, ...] = ()
    targets: ValueCounts | None = None
