"""Entropy of labels: how finely a level tells records apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats
from dbt_anonymize.privacy.table import Table


def label_entropies(table: Table) -> tuple[Floats, ...]:
    """Return the entropy (bits) of the labels of each attribute at each of its levels."""
    entropies = []
    for column, attribute in enumerate(table.attributes):
        leaves = np.bincount(
            table.leaves[:, column], weights=table.records, minlength=len(attribute.levels[0])
        )
        entropies.append(
            np.array([entropy(np.bincount(level, weights=leaves)) for level in attribute.levels])
        )
    return tuple(entropies)


def entropy(counts: NDArray[np.floating | np.integer]) -> float:
    """Return the entropy (bits) of counts; 0 of nothing.

    Examples
    --------
    >>> entropy(np.array([2, 1, 1, 0]))
    1.5
    """
    shares = counts[counts > 0] / max(1.0, float(counts.sum()))
    return 0.0 - float((shares * np.log2(shares)).sum())
