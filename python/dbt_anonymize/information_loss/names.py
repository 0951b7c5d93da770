"""The names of what a search can minimize; apart, so that the command line knows them at once."""

from typing import Literal

MeasureName = Literal[
    "loss",
    "discernibility",
    "average_class_size",
    "non_uniform_entropy",
    "precision",
    "ambiguity",
    "kl_divergence",
    "entropy_based_loss",
    "classification",
]

# Published as what is left, not as what is lost; a search minimizes 1 minus it.
HIGHER_IS_BETTER = frozenset({"precision"})


def published(measure: str, loss: float) -> float:
    """Return a measure as its definition has it, from the loss that a search minimizes.

    Examples
    --------
    >>> published("precision", 0.25), published("discernibility", 4324.0)
    (0.75, 4324.0)
    """
    return 1.0 - loss if measure in HIGHER_IS_BETTER else loss
