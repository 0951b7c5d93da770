"""Put the information losses of the quasi-identifiers together into one comparable number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from dbt_anonymize.privacy.table import FloatArray


class RankedLoss(float):
    """A vector of losses in descending order, compared one after the other.

    As a number it is the largest loss; comparing two of them goes on to the next ones where these
    are equal. Comparing with a plain number looks at the largest loss alone.

    Examples
    --------
    >>> RankedLoss([0.2, 0.5]) < RankedLoss([0.5, 0.3])
    True
    >>> float(RankedLoss([0.2, 0.5]))
    0.5
    """

    losses: tuple[float, ...]

    def __new__(cls, losses: FloatArray | list[float]) -> RankedLoss:
        """Make one from losses in any order, at least one."""
        ranked = tuple(sorted((float(loss) for loss in losses), reverse=True))
        made = super().__new__(cls, ranked[0])
        made.losses = ranked
        return made

    def _compared_with(self, other: object) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        if isinstance(other, RankedLoss):
            return self.losses, other.losses
        if isinstance(other, (int, float)):
            return self.losses[:1], (float(other),)
        return None

    def __lt__(self, other: object) -> bool:
        return (both := self._compared_with(other)) is not None and both[0] < both[1]

    def __le__(self, other: object) -> bool:
        return (both := self._compared_with(other)) is not None and both[0] <= both[1]

    def __gt__(self, other: object) -> bool:
        return (both := self._compared_with(other)) is not None and both[0] > both[1]

    def __ge__(self, other: object) -> bool:
        return (both := self._compared_with(other)) is not None and both[0] >= both[1]

    def __eq__(self, other: object) -> bool:
        return (both := self._compared_with(other)) is not None and both[0] == both[1]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(float(self))


# From losses (.., attributes) and weights with a mean of 1 to one number per row, which is 1 where
# every loss is: of the sum, the number of attributes.
_ROWS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = MappingProxyType(
    {
        "sum": lambda losses, weights: (losses * weights).sum(axis=-1),
        "maximum": lambda losses, weights: _ranked(losses, weights).max(axis=-1),
        "arithmetic_mean": lambda losses, weights: (losses * weights).mean(axis=-1),
        "geometric_mean": lambda losses, weights: (
            np.prod((losses + 1.0) ** weights, axis=-1) ** (1.0 / losses.shape[-1]) - 1.0
        ),
    }
)
AGGREGATES = (*_ROWS, "rank")


def aggregate(name: str, losses: FloatArray, weights: FloatArray) -> float:
    """Return one number for the losses (attributes,) of a node."""
    if name == "rank":
        return RankedLoss(_ranked(losses, weights))
    return float(aggregate_rows(name, losses[np.newaxis], weights)[0])


def aggregate_rows(name: str, losses: FloatArray, weights: FloatArray) -> FloatArray:
    """Return one number for each row of losses (rows, attributes); of ``rank`` the largest loss."""
    return _ROWS["maximum" if name == "rank" else name](losses, weights)


def rank_rows(losses: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the position of each row in the order of ``rank``; equal rows have the same."""
    descending = -np.sort(-_ranked(losses, weights), axis=1)
    _, position = np.unique(descending, axis=0, return_inverse=True)
    return position.reshape(-1).astype(np.float64)


def _ranked(losses: FloatArray, weights: FloatArray) -> FloatArray:
    """Weigh losses that are compared and not added up: relative to the largest weight."""
    ranked: FloatArray = losses * (weights / weights.max())
    return ranked
