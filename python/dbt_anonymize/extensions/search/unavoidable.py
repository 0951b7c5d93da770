"""Suppression that no release of a node, or of a finer one, avoids."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Classes


def least_suppressed(guarantees: Guarantees, classes: Classes, size: int) -> int:
    """Return a lower bound of the records that this node and all finer ones suppress.

    The parts of a class that finer nodes release keep the guarantees together, too. ``size`` is
    the minimum class size.
    """
    is_small = classes.people < size
    gone = np.where(is_small, classes.records, 0)
    for attribute, limits_of in guarantees.record_limits:
        values = Distribution.of(classes.values[attribute], len(gone), is_small)
        # Rounding must not suppress more.
        kept = np.floor(np.minimum(limits_of(values) * (1.0 + 1e-9) + 1e-6, classes.records))
        kept[kept < size] = 0.0
        gone = np.maximum(gone, classes.records - kept.astype(np.int64))
    return int(gone.sum())


def is_impossible(guarantees: Guarantees, classes: Classes) -> bool:
    """Tell whether no suppression helps, since a class occurs in the population only.

    Its people are known to be absent from the sample, which a minimum of ``delta_presence``
    forbids. As in ARX, not checked where a class size is required too.
    """
    demands_presence = any(minimum > 0 for minimum, _ in guarantees.presence)
    if not demands_presence or guarantees.min_class_size > 1:
        return False
    return bool((classes.records == 0).any())
