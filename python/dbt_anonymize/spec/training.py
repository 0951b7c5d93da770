"""The number of models an evaluation trains, known before anything is built."""

from __future__ import annotations

import math

from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.spec.models import Spec
from dbt_anonymize.spec.quality import BASELINE

_WITH = {"effort": " (with the untouched table)", "model": " (with the zero rule)"}


def training_factors(spec: Spec) -> dict[str, int]:
    """Return the factors of the number of models, untouched table and zero rule included."""
    quality = spec.tests
    return {
        "effort": len(spec.built_efforts),
        "model": len({*quality.chosen_models, BASELINE}),
        "target": len(spec.evaluated),
        "split": quality.repetitions * (quality.folds or 1),
        "fit": 2 if quality.fit == "per_split" else 1,
    }


def describe_training(spec: Spec) -> str:
    """Return one line with the number of models to train and the treatment of a large source."""
    if not spec.is_tested:
        return f"{spec.name}: no model to train, since there is no target; QF is 1 - loss"
    factors = training_factors(spec)
    texts = [
        pluralized(number, name) + _WITH.get(name, "")
        for name, number in factors.items()
        if number > 1
    ]
    # Equivalence classes of a sample are smaller than those of the source.
    treated = "refused" if spec.tests.fit == "per_split" else "sampled"
    return (
        f"{spec.name}: {' x '.join(texts)} = {math.prod(factors.values()):,} models to train; "
        f"sources of more than {spec.tests.sample:,} records are {treated}"
    )
