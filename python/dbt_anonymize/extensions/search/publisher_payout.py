"""Objective of a search that counts the publisher's payout (Wan et al. 2015)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dbt_anonymize.arrays import Bools, Floats
from dbt_anonymize.extensions.search.losses.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed, bounds_by_level
from dbt_anonymize.privacy.table import Classes, Node, Table


class LabelLosses(Protocol):
    """Losses of labels, of which the guarantee knows the definition."""

    def share(self, position: int, level: int) -> Floats:
        """Return the contribution of each label of an attribute to the loss, by code."""

    def whole(self, position: int) -> float:
        """Return the largest contribution of an attribute, that of its root."""

    def of_classes(self, classes: Classes) -> Floats:
        """Return the loss of each class, 0 to 1."""


class Game(Protocol):
    """The guarantee ``profitable``, which another extension brings."""

    publisher_benefit: float

    def payouts(self, classes: Classes, losses: Floats) -> Floats:
        """Return the payout of one record of each class, less the loss of its labels."""

    def label_losses(self, table: Table) -> LabelLosses:
        """Return the losses of labels by the hierarchies of a table."""


class PublisherPayout(InformationLoss):
    """Total distance of the release from the benefit of all records without loss.

    A released record costs benefit minus payout, a suppressed one the benefit. With the guarantee
    ``profitable`` no released record costs more.
    """

    name = "publisher_payout"
    has_attribute_bounds = True

    def __init__(self, game: Game, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._game = game
        self._losses: tuple[Table, LabelLosses] | None = None

    def attribute_bounds(
        self, table: Table, suppressed: Bools | None = None, highest: Node | None = None
    ) -> tuple[Floats, ...]:
        """Return the cost of the labels of each quasi-identifier by level, without attacks."""
        return bounds_by_level(self.sums(table), suppressed, highest, self._bound_at)

    def combine(self, losses: Floats) -> Floats:
        """Sum the costs of quasi-identifiers (nodes, attributes)."""
        return np.asarray(losses.sum(axis=-1) * SLIGHTLY_LESS)

    def _bound_at(self, gone: Suppressed, position: int, level: int) -> float:
        assert self._sums is not None
        losses = self._label_losses(self._sums.table)
        labels = self._sums.table.attributes[position].levels[level]
        released = self._sums.leaf_counts[position] - gone.leaf_counts(position)
        label_losses = float(released @ losses.share(position, level)[labels])
        label_losses += gone.records * losses.whole(position)
        # A record that is suppressed later costs at least this share of the cost of its labels.
        return self._game.publisher_benefit * label_losses * self.suppression_factor

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        benefit = self._game.publisher_benefit
        payouts = self._game.payouts(classes, self._label_losses(sums.table).of_classes(classes))
        kept = float(classes.records[~suppressed] @ (benefit - payouts[~suppressed]))
        gone = suppressed_records(classes, suppressed)
        return kept + self.suppression_factor * benefit * gone

    def _label_losses(self, table: Table) -> LabelLosses:
        if self._losses is None or self._losses[0] is not table:
            self._losses = table, self._game.label_losses(table)
        return self._losses[1]
