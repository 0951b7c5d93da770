"""What a search of the lattice returns and reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.table import FloatArray, IntArray, Node


class Status(IntEnum):
    """What is known about a node."""

    OPEN = 0
    CHECKED = 1
    INFEASIBLE = 2
    PRUNED = 3


@dataclass(frozen=True)
class CheckedNode:
    """One node whose classes were looked at.

    Attributes
    ----------
    node : tuple of int
        Level of each attribute.
    k : int
        People of the smallest released class; 0 where every record is suppressed, and where the
        node is not feasible.
    suppressed : int
        Records in suppressed classes. Of a node that is not feasible, the records that violate a
        guarantee, as far as they were counted: more than may be suppressed.
    loss : float
        Information loss; NaN where the node is not feasible.
    is_feasible : bool
        Whether every guarantee holds with no more than the allowed records suppressed.
    """

    node: Node
    k: int
    suppressed: int
    loss: float
    is_feasible: bool


@dataclass(frozen=True)
class VisitedNodes:
    """The nodes about which a search learned something, as arrays.

    Attributes
    ----------
    levels : int array (nodes, attributes)
    k, suppressed : int array (nodes,)
        As of `CheckedNode`; -1 where the node was not checked.
    loss : float array (nodes,)
        NaN where the node is not feasible or was not checked.
    status : uint8 array (nodes,)
        `Status`: checked; infeasible because a coarser node is; or pruned because its loss cannot
        be lower than the best one's.
    """

    levels: IntArray
    k: IntArray
    suppressed: IntArray
    loss: FloatArray
    status: NDArray[np.uint8]


@dataclass(frozen=True)
class SearchResult:
    """Outcome of `search`.

    Attributes
    ----------
    optimum : CheckedNode or None
        The feasible node with the least loss; None where none was found.
    visited : VisitedNodes
        What was learned about which node.
    lattice_size : int
        Number of nodes within the level bounds.
    checked : int
        Nodes whose classes were formed.
    is_complete : bool
        Whether the optimum is proven: no node has a lower loss, or none is feasible.
    bound : float
        No feasible node has a lower loss: that of the optimum where it is proven, and infinite
        where it is proven that there is none.
    elapsed : float
        Seconds.
    """

    optimum: CheckedNode | None
    visited: VisitedNodes
    lattice_size: int
    checked: int
    is_complete: bool
    bound: float
    elapsed: float


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    checked : int
        Nodes whose classes were formed.
    settled : int
        Nodes that need no more work: checked, tagged or pruned.
    total : int
        Nodes within the level bounds.
    best : CheckedNode or None
        Best so far.
    """

    checked: int
    settled: int
    total: int
    best: CheckedNode | None


ProgressCallback = Callable[[Progress], None]
