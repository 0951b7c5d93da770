"""What the search reads and what it hands around: the coded table and its equivalence classes."""

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
    name : str
        Of the column.
    levels : tuple of int arrays, one per level
        ``levels[level][leaf]`` is the code of the leaf's label; level 0 is the identity, the last
        level is the root. Codes of a level are 0, 1, ... without gaps in the hierarchy.
    shares : tuple of float arrays, one per level
        ``shares[level][code]`` is the share of the hierarchy that the label covers, in [0, 1].
    domain_size : int
        Rows of the hierarchy, those absent from the data included.
    smallest_share : float
        ``1 / domain_size`` of a categorical attribute; 0 of intervals with raw values at level 0.
    weight : float
        In the information loss; >= 0.
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
    """One sensitive attribute.

    Attributes
    ----------
    name : str
        Of the column.
    size : int
        Number of values that occur; their codes 0 .. ``size`` - 1 follow the order of the type.
    tree : tuple of int arrays
        For the hierarchical distance: ``tree[level][value]`` is a label's code, from the identity
        to the root; empty without a hierarchy.
    """

    name: str
    size: int
    tree: tuple[IntArray, ...] = ()


@dataclass(frozen=True)
class Table:
    """Distinct rows with their number of records, in the order of first appearance.

    Attributes
    ----------
    attributes : tuple of Attribute
        The quasi-identifiers.
    leaves : int array (rows, attributes)
        Leaf codes. A NULL is a leaf of its own whose label is the root's at every level above 0,
        or at every level, as the hierarchy says.
    records : int array (rows,)
        Records of the sample; 0 where a row is in the population only.
    sensitive : tuple of (SensitiveAttribute, int array (rows,))
        Sensitive attributes with the code of each row.
    subject : int array (rows,) or None
        Code of the person; rows are then distinct by person too.
    population : int array (rows,) or None
        Records of the population table.
    population_size : int or None
        Records of the population, for estimators.
    target : int array (rows,) or None
        Codes of the target outside the quasi-identifiers, for the classification metric.
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
    """The equivalence classes of one node, as arrays over the classes.

    Attributes
    ----------
    levels : tuple of int
        The node.
    codes : int array (classes, attributes)
        Label codes at these levels.
    records : int array (classes,)
        Records of the sample.
    people : int array (classes,)
        Distinct subjects among the records; ``records`` itself without a subject.
    first : int array (classes,)
        Smallest row of the table in the class.
    population : int array (classes,) or None
        Records of the population.
    values : tuple of ValueCounts
        One per sensitive attribute of the table.
    targets : ValueCounts or None
        Of the target; counts records.
    """

    levels: Node
    codes: IntArray
    records: IntArray
    people: IntArray
    first: IntArray
    population: IntArray | None = None
    values: tuple[ValueCounts, ...] = ()
    targets: ValueCounts | None = None
