"""Losses of labels, as the guarantee ``profitable`` weighs them."""

from __future__ import annotations

from dbt_anonymize.arrays import Floats, np
from dbt_anonymize.privacy.table import Classes, Table


class LabelLosses:
    """Losses of labels: log of the leaves that they cover, relative to the whole domain."""

    def __init__(self, table: Table) -> None:
        sizes = np.array([attribute.domain_size for attribute in table.attributes])
        bits = np.log(np.maximum(sizes, 1))
        domain = float(bits.sum()) or 1.0
        self._root_losses = bits / domain
        self._shares = [
            [
                np.log(np.maximum(shares * attribute.domain_size, 1.0)) / domain
                for shares in attribute.shares
            ]
            for attribute in table.attributes
        ]

    def share(self, position: int, level: int) -> Floats:
        """Return the contribution of each label of an attribute to the loss, by code."""
        return self._shares[position][level]

    def whole(self, position: int) -> float:
        """Return the largest contribution of an attribute, that of its root."""
        return float(self._root_losses[position])

    def of_classes(self, classes: Classes) -> Floats:
        """Return the loss of each class (classes,), 0 to 1; 0 where there is nothing to lose."""
        if classes.losses is not None:
            return classes.losses
        losses = np.zeros(len(classes.records))
        for position, level in enumerate(classes.levels):
            losses += self._shares[position][level][classes.codes[:, position]]
        # Rounding may lift the sum above 1.
        return np.minimum(losses, 1.0)
