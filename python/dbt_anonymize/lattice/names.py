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
