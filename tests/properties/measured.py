"""Models of information loss and risk, on tables of their own."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from tests.properties.compilation import LEVELS, Ref, body, call

FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0)
AGGREGATES = ("sum", "maximum", "arithmetic_mean", "geometric_mean")
EFFORTS = (0, 1, 2, 3, 4)
RISK_COLUMNS = ("age", "city", "gender")
THRESHOLDS = (0.2, 0.5)


@dataclass(frozen=True)
class Measured:
    """A table whose information loss is measured: its quasi-identifiers and their weights."""

    name: str
    kinds: tuple[tuple[str, str], ...]
    weights: tuple[float, ...]
    settings: tuple[tuple[float, str], ...] = tuple(zip(FACTORS, itertools.cycle(AGGREGATES)))

    def quasi_identifiers(self) -> list[dict[str, Any]]:
        """Return the argument of the macros."""
        return [
            {
                "name": name,
                "kind": kind,
                "hierarchy": Ref(f"{self.name}_hierarchy_{position}"),
                "levels": LEVELS,
                "weight": weight,
            }
            for position, ((name, kind), weight) in enumerate(
                zip(self.kinds, self.weights, strict=True)
            )
        ]

    def models(self) -> dict[str, str]:
        """Return the models of the table."""
        classes, frequencies = Ref(f"{self.name}_classes"), Ref(f"{self.name}_frequencies")
        common = {"classes": classes, "quasi_identifiers": self.quasi_identifiers()}
        models = {
            f"{self.name}_loss_{factor}_{aggregate}": body(
                "information_loss",
                frequencies=frequencies,
                efforts=list(EFFORTS),
                generalization_suppression_factor=factor,
                aggregate=aggregate,
                **common,
            )
            for factor, aggregate in self.settings
        }
        for factor, aggregate in self.settings[:: len(AGGREGATES) + 1]:
            ways = {"aggregate": aggregate, **common}
            factored = {"generalization_suppression_factor": factor, **ways}
            models |= {
                f"{self.name}_granularity_{aggregate}": call("granularity", **ways),
                f"{self.name}_precision_{aggregate}": call("precision", **factored),
                f"{self.name}_non_uniform_entropy_{aggregate}": call(
                    "non_uniform_entropy", frequencies=frequencies, **factored
                ),
            }
        models[f"{self.name}_modes"] = call("total_information_loss", has_modes=True, **common)
        models[f"{self.name}_sampled"] = call(
            "sse_sst", frequencies=frequencies, sample_shares={1: 0.5, 2: 1}, **common
        )
        return models

    def seeds(self) -> list[str]:
        """Return the names that the models refer to without defining them."""
        hierarchies = [f"{self.name}_hierarchy_{i}" for i in range(len(self.kinds))]
        return [f"{self.name}_classes", f"{self.name}_frequencies", *hierarchies]


TABLES = (
    Measured(
        "mixed",
        (("age", "interval"), ("city", "categorical")),
        (1.0, 0.3),
        tuple(itertools.product(FACTORS, AGGREGATES)),
    ),
    Measured("single", (("select", "categorical"),), (0.3,)),
    Measured(
        "odd",
        (('we"ird {{ x }}', "categorical"), ("größe", "interval"), ("it's", "categorical")),
        (2.0, 2.0, 2.0),
    ),
)


def risk_models() -> dict[str, str]:
    """Return the models that measure risk."""
    people, population = Ref("people"), Ref("population")
    columns = list(RISK_COLUMNS)
    models: dict[str, str] = {}
    for who, subject in (("records", None), ("subjects", "person")):
        of = {"relation": people, "quasi_identifiers": columns, "subject": subject}
        models |= {
            f"{who}_risk_intervals": call("risk_intervals", **of),
            f"{who}_distinction": call("distinction_and_separation", **of),
            f"{who}_uniqueness": call("uniqueness_shares", **of),
            f"{who}_uniqueness_in_population": call(
                "uniqueness_shares", population=population, **of
            ),
            f"{who}_marketer_risk": call("marketer_risk", population=population, **of),
        }
        for threshold in THRESHOLDS:
            models[f"{who}_prosecutor_risk_{threshold}"] = call(
                "prosecutor_risk", threshold=threshold, **of
            )
            models[f"{who}_journalist_risk_{threshold}"] = call(
                "journalist_risk", population=population, threshold=threshold, **of
            )
    # Jinja's word for nothing.
    return {name: text.replace("None", "none") for name, text in models.items()}


MEASURED_MODELS = {
    name: text for table in TABLES for name, text in table.models().items()
} | risk_models()
MEASURED_SEEDS = [
    *(name for table in TABLES for name in table.seeds()),
    *(
        "classes",
        "people",
        "population",
    ),
]
