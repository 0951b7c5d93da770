"""How much a node of the lattice loses, by any of the published measures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.aggregates import AGGREGATES, RankedLoss
from dbt_anonymize.information_loss.attributes import (
    Height,
    Loss,
    MonotoneNonUniformEntropy,
    MonotonePrecision,
    NonUniformEntropy,
    NormalizedNonUniformEntropy,
    PerAttribute,
    Precision,
)
from dbt_anonymize.information_loss.base import InformationLoss
from dbt_anonymize.information_loss.classwise import (
    Ambiguity,
    AverageClassSize,
    Classification,
    Discernibility,
    EntropyBasedLoss,
    KLDivergence,
    MonotoneDiscernibility,
)

__all__ = ["AGGREGATES", "MEASURES", "InformationLoss", "Loss", "RankedLoss", "make_loss"]

MEASURES: Mapping[str, type[InformationLoss]] = MappingProxyType(
    {
        measure.name: measure
        for measure in (
            Loss,
            Precision,
            MonotonePrecision,
            Height,
            Discernibility,
            MonotoneDiscernibility,
            AverageClassSize,
            NonUniformEntropy,
            MonotoneNonUniformEntropy,
            NormalizedNonUniformEntropy,
            Ambiguity,
            KLDivergence,
            EntropyBasedLoss,
            Classification,
        )
    }
)


def make_loss(name: str, *, aggregate: str | None = None, gs: float = 0.5) -> InformationLoss:
    """Return a measure of information loss by name.

    Parameters
    ----------
    name : str
        A key of ``MEASURES``. ``monotone_...`` do not count what suppression loses.
    aggregate : str, optional
        How the quasi-identifiers are put together, one of ``AGGREGATES``; by default the one the
        measure is published with. Measures over classes have nothing to put together. ``rank``
        compares the losses in descending order, one after the other.
    gs : float in [0, 1], default 0.5
        Generalization/suppression factor.

    Returns
    -------
    InformationLoss
        Keeps sums over the last table it was used with. Weights come from the attributes.

    Raises
    ------
    SearchError
        If a name or the factor is not one of those above.

    Examples
    --------
    >>> make_loss("loss").aggregate
    'geometric_mean'
    >>> make_loss("losses")
    Traceback (most recent call last):
        ...
    dbt_anonymize.errors.SearchError: measure of a search must be one of loss, precision, \
monotone_precision, height, discernibility, monotone_discernibility, average_class_size, \
non_uniform_entropy, monotone_non_uniform_entropy, normalized_non_uniform_entropy, ambiguity, \
kl_divergence, entropy_based_loss, classification; got losses. Choose one of them.
    """
    _check_choice("measure of a search", name, tuple(MEASURES))
    if aggregate is not None:
        _check_choice("aggregate of the information loss", aggregate, AGGREGATES)
    if not 0.0 <= gs <= 1.0:
        raise SearchError(
            "generalization_suppression_factor of the information loss must be in [0, 1]; "
            f"got {gs}. 0.5 weighs both alike."
        )
    measure = MEASURES[name]
    if issubclass(measure, PerAttribute):
        return measure(gs=gs, aggregate=aggregate)
    return measure(gs=gs)


def _check_choice(who: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SearchError(
            f"{who} must be one of {', '.join(choices)}; got {value}. Choose one of them."
        )
