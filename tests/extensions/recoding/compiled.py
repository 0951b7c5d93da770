"""Losses of classes, which lie on tables of the properties."""

from __future__ import annotations

from tests.properties.compilation import Ref, body
from tests.properties.measured import TABLES

(MIXED, *_) = TABLES

MODELS = {
    **{
        f"class_losses_{factor}": body(
            "class_losses",
            classes=Ref("mixed_classes"),
            quasi_identifiers=MIXED.quasi_identifiers(),
            generalization_suppression_factor=factor,
            has_modes=True,
        )
        for factor in (0.5, 0.75)
    },
    "documented_class_losses": body(
        "class_losses",
        classes=Ref("mixed_classes"),
        quasi_identifiers=[
            {**quasi_identifier, "weight": 1, "levels": levels}
            for quasi_identifier, levels in zip(MIXED.quasi_identifiers(), (3, 2), strict=True)
        ],
    ),
}
SEEDS: list[str] = []
