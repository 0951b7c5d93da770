"""Models of the classification metric of several targets, from microdata to the measure."""

from __future__ import annotations

from tests.properties.compilation import Ref, body, call
from tests.properties.guarded import K_ANONYMITY, LEVELS_OF_EFFORTS, LIMIT, QUASI_IDENTIFIERS

TARGETS = ("income", "education", "it's")
# What is declared as weights; the first target is the one that decides.
WEIGHTS = ({"income": 2.0, "education": 1.0, "it's": 0.3}, {"education": 1e-05}, {})
FACTORS = (0.5, 0.2, 0.8)

TARGET_MODELS: dict[str, str] = {
    "targets_frequencies": body(
        "frequencies",
        microdata=Ref("targets_microdata"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["education"],
        target=TARGETS[0],
        further_targets=list(TARGETS[1:]),
    ),
    "targets_classes": body(
        "classes",
        frequencies=Ref("targets_frequencies"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=["education"],
        target=TARGETS[0],
        efforts={number: {"levels": levels} for number, levels in LEVELS_OF_EFFORTS.items()},
        guarantees=[K_ANONYMITY],
        suppression_limit=LIMIT,
        further_targets=list(TARGETS[1:]),
    ),
    **{
        f"targets_metric_{number}_{factor}": call(
            "classification_metric",
            classes=Ref("targets_classes"),
            generalization_suppression_factor=factor,
            target=TARGETS[0],
            target_weights=weights,
        )
        for number, weights in enumerate(WEIGHTS)
        for factor in FACTORS
    },
}
TARGET_SEEDS = ["targets_microdata"]
