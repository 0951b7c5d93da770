"""Losses of labels, as the guarantee ``profitable`` weighs them."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.privacy.table import Classes, FloatArray, Table


class LabelLosses:
    """Losses of labels: logarithms of their numbers of leaves, relative to those of the root."""

    def __init__(self, table: Table) -> None:
        sizes = np.array([attribute.domain_size for attribute in table.attributes])
        bits = np.log(np.maximum(sizes, 1))
        domain = float(bits.sum()) or 1.0
        self._whole = bits / domain
        self._shares = [
            [
                np.log(np.maximum(shares * found.domain_size, 1.0)) / domain
                for shares in found.shares
            ]
            for found in table.attributes
        ]

    def share(self, position: int, level: int) -> FloatArray:
        """Return what each label of an attribute adds to the loss, by its code."""
        return self._shares[position][level]

    def whole(self, position: int) -> float:
        """Return the most that an attribute adds."""
        return float(self._whole[position])

    def of_classes(self, classes: Classes) -> FloatArray:
        """Return the loss of each class (classes,), 0 to 1; 0 where there is nothing to lose."""
        if classes.losses is not None:
            return classes.losses
        losses = np.zeros(len(classes.records))
        for position, level in enumerate(classes.levels):
            losses += self._shares[position][level][classes.codes[:, position]]
        # All shares together may be a rounding above 1.
        return np.minimum(losses, 1.0)
