"""Knowledge of contributors: somebody in a hidden cell knows her own part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dbt_anonymize.arrays import Floats, Ints


def telling_knowledge(
    everybody: Floats,
    largest: Floats,
    cells: Ints,
    *,
    are_apart: bool,
    tells: Callable[[Floats], bool],
) -> Iterator[Floats]:
    """Yield what contributors know of hidden cells, at least, where it tells others too closely.

    Parameters
    ----------
    everybody, largest : arrays of cells
        What everybody knows of each cell, at least, and the largest contribution to it.
    cells : array of int
        Hidden cells of the finest ones.
    are_apart : bool
        True where everybody is in one cell, so that nobody knows a part of two. Else one person is
        taken to have the largest contribution to all.
    tells : function
        Says of what is known of each cell, at least, whether it tells too much.

    Examples
    --------
    Alone, each of two knows too little, and nobody is both:

    >>> everybody, largest = np.zeros(2), np.array([3.0, 4.0])
    >>> def tells(least):
    ...     return least.sum() > 5
    >>> cells = np.arange(2)
    >>> [*telling_knowledge(everybody, largest, cells, are_apart=True, tells=tells)]
    []
    >>> [*telling_knowledge(everybody, largest, cells, are_apart=False, tells=tells)]
    [array([3., 4.])]
    """
    waiting = [cells[largest[cells] > everybody[cells]]]
    while waiting:
        some = waiting.pop()
        least = everybody.copy()
        least[some] = largest[some]
        # What all of them together do not tell none of them does.
        if not len(some) or not tells(least):
            continue
        if len(some) == 1 or not are_apart:
            yield least
        else:
            waiting += np.array_split(some, 2)
