"""All measures of information loss by name: one per module of `measures` and `reported`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from dbt_anonymize.information_loss import measures, reported
from dbt_anonymize.information_loss.base import InformationLoss, Measure
from dbt_anonymize.information_loss.per_attribute import PerAttribute


def _measures() -> Iterator[type[Measure]]:
    for package in (measures, reported):
        for info in iter_modules(package.__path__, f"{package.__name__}."):
            for member in vars(import_module(info.name)).values():
                is_measure = isinstance(member, type) and issubclass(member, Measure)
                if is_measure and member.__module__ == info.name:
                    yield member


MEASURES: Mapping[str, type[Measure]] = MappingProxyType({m.name: m for m in _measures()})
# Measures that a search can minimize.
LOSSES: Mapping[str, type[InformationLoss]] = MappingProxyType(
    {name: m for name, m in MEASURES.items() if issubclass(m, InformationLoss)}
)


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
    is_reversed = measure in MEASURES and MEASURES[measure].higher_is_better
    return 1.0 - loss if is_reversed else loss
