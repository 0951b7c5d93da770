"""Results of a search of the lattice, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.evaluation.progress import duration
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.privacy.table import Node


class Status(IntEnum):
    """Status of a node."""

    OPEN = 0
    CHECKED = 1
    INFEASIBLE = 2
    PRUNED = 3


@dataclass(frozen=True)
class CheckedNode:
    """One node whose classes were checked.

    Attributes
    ----------
    node : tuple of int
        Level of each attribute.
    k : int
        Subjects of the smallest released class; 0 if every record is suppressed or the node is
        infeasible.
    suppressed : int
        Records in suppressed classes; for an infeasible node those that violate a guarantee, as far
        as counted: more than may be suppressed.
    loss : float
        Information loss; NaN if infeasible.
    is_feasible : bool
        True if every guarantee holds within the suppression limit.
    """

    node: Node
    k: int
    suppressed: int
    loss: float
    is_feasible: bool


@dataclass(frozen=True)
class VisitedNodes:
    """The nodes that a search checked, and those that it excluded without a check, as arrays.

    ``status`` is a `Status`: infeasible because a coarser node is; pruned because its loss cannot
    beat the best.
    """

    checked: tuple[CheckedNode, ...]
    levels: Ints
    status: NDArray[np.uint8]


@dataclass(frozen=True)
class SearchResult:
    """Outcome of `search`.

    Attributes
    ----------
    optimum : CheckedNode or None
        The feasible node with the least loss, if one was found.
    lattice_size : int
        Nodes within the level bounds.
    checked : int
        Nodes whose classes were formed.
    is_complete : bool
        True if the optimum is proven: no node has a lower loss, or none is feasible.
    bound : float
        Lower bound of the loss of feasible nodes; infinite if none is feasible.
    """

    optimum: CheckedNode | None
    visited: VisitedNodes
    lattice_size: int
    checked: int
    is_complete: bool
    bound: float


@dataclass(frozen=True)
class Progress:
    """Progress of a search in nodes; ``settled`` are checked, infeasible or pruned."""

    checked: int
    settled: int
    total: int
    best: CheckedNode | None


@dataclass(frozen=True)
class Training:
    """Progress of the training of models: class size, number, and remaining time.

    ``share`` is the spent share of the budget, ``left`` the remaining seconds, None while unknown.
    """

    required: int | None
    trained: int
    share: float = 0.0
    left: float | None = None

    def __str__(self) -> str:
        """Return a line for a terminal.

        Examples
        --------
        >>> print(Training(50, 1200, 0.4, 63.2))
        k = 50: 1,200 models trained, about 63 s left
        """
        size = "" if self.required is None else f"k = {self.required:,}: "
        text = f"{size}{pluralized(self.trained, 'model')} trained"
        return text if self.left is None else f"{text}, about {duration(self.left)} left"


ProgressCallback = Callable[[Progress | Training], None]
