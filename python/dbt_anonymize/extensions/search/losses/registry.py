"""All measures that a search can minimize by name: one per module of `measures`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from dbt_anonymize.extensions.search.losses import measures
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute


def _losses() -> Iterator[type[InformationLoss]]:
    for info in iter_modules(measures.__path__, f"{measures.__name__}."):
        for member in vars(import_module(info.name)).values():
            is_loss = isinstance(member, type) and issubclass(member, InformationLoss)
            if is_loss and member.__module__ == info.name:
                yield member


LOSSES: Mapping[str, type[InformationLoss]] = MappingProxyType({m.name: m for m in _losses()})


def make_loss(name: str, *, aggregate: str | None = None, gs: float = 0.5) -> InformationLoss:
    """Return a measure (of ``LOSSES``) that a search can minimize.

    ``aggregate``, one of ``AGGREGATES``, combines the quasi-identifiers; the default is that of the
    publication. Measures over classes ignore it. ``gs`` in [0, 1] weighs generalization against
    suppression. The measure caches sums over the last table that it was used with.

    Examples
    --------
    >>> make_loss("loss").aggregate
    'geometric_mean'
    """
    measure = LOSSES[name]
    if issubclass(measure, PerAttribute):
        return measure(gs=gs, aggregate=aggregate)
    return measure(gs=gs)


def published(measure: str, loss: float) -> float:
    """Return the published value of a measure from the loss that a search minimizes.

    Examples
    --------
    >>> published("precision", 0.25), published("discernibility", 4324.0)
    (0.75, 4324.0)
    """
    is_reversed = measure in LOSSES and LOSSES[measure].higher_is_better
    return 1.0 - loss if is_reversed else loss
