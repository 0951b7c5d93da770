"""The models of details that properties run."""

from __future__ import annotations

from tests.properties.compilation import Ref, body, call
from tests.properties.measured import RISK_COLUMNS

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
    "alpha_ranges": body("alpha_ranges", results=Ref("results")),
}
SEEDS = ["people_frequencies", "large_frequencies", "wide_frequencies"]
