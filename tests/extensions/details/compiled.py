"""The models of details that properties run."""

from __future__ import annotations

from tests.properties.compilation import Ref, body, call
from tests.properties.measured import RISK_COLUMNS, TABLES

(MIXED, *_) = TABLES

MODELS = {
    "risk_profile": body("risk_profile", classes=Ref("classes"), efforts=[0, 1, 2]),
    "quasi_identifier_risk": body(
        "quasi_identifier_risk",
        frequencies=Ref("people_frequencies"),
        quasi_identifiers=list(RISK_COLUMNS),
    ),
    "large_quasi_identifier_risk": call(
        "_risk_of_subsets",
        frequencies=Ref("large_frequencies"),
        quasi_identifiers=["attribute_0", "attribute_1", "attribute_2"],
        plan={
            "tuples": "large_tuples",
            "numbers_of_values": [41, 3, 3961],
            "one_in": 16,
            "counted_whole": 500,
        },
    ),
    "many_quasi_identifiers_risk": body(
        "quasi_identifier_risk",
        frequencies=Ref("wide_frequencies"),
        quasi_identifiers=[f"attribute_{i}" for i in range(31)],
    ),
    **{
        f"{macro}_of_evaluation": body(macro, evaluation=Ref("evaluation"))
        for macro in ("curves", "calibration", "confusion")
    },
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
    "alpha_ranges": body("alpha_ranges", results=Ref("results")),
}
SEEDS = ["people_frequencies", "large_frequencies", "wide_frequencies"]
