"""k-map: see ``docs/models/k_map.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import model_validator

from dbt_anonymize.privacy.compiler import Compiler
from dbt_anonymize.privacy.model import K, PrivacyModel, Share, Weakest
from dbt_anonymize.validation import rule_error


class KMap(PrivacyModel):
    """Every released record is like at least k people of the population."""

    WEAKEST = (Weakest("k", 1, 1),)
    PROMISE = "Each released record fits at least {k} people of the population."

    k: K
    """Fewest people of the population in a class."""
    estimator: Literal["poisson", "zero_truncated_poisson"] | None = None
    """Estimate from the size of the population instead of counting in a table of it."""
    significance: Share | None = None
    """Probability that an estimate may be wrong about a class."""

    @model_validator(mode="after")
    def _significance_of_an_estimate(self) -> KMap:
        if (self.estimator is None) != (self.significance is None):
            raise rule_error(
                "must have estimator and significance together, or none of them",
                "Write both for an estimate from the size of the population; remove both to count "
                "in a table of the population.",
            )
        return self

    @classmethod
    def needed_population(cls, parameters: Mapping[str, Any]) -> Literal["table", "size"] | None:
        """Return the population data that the model needs."""
        return "table" if parameters.get("estimator") is None else "size"

    def compile(self, compiler: Compiler) -> None:
        """Add the rules for classes and release."""
        k, estimator = self.k, self.estimator
        if estimator is None:
            if compiler.table.population is None:
                compiler.problem(
                    "needs the population, or an estimator", "neither", "Declare a population"
                )
            compiler.min_population = max(compiler.min_population, k)
            return
        assert self.significance is not None  # as its parameters are checked
        size = compiler.population_size()
        if size is not None:
            compiler.require_size(
                estimated_k(k, compiler.people, size, self.significance, estimator=estimator)
            )


def estimated_k(
    k: int, people: int, population: int, significance: float, *, estimator: str
) -> int:
    """Return the class size in the sample that stands for k in the population.

    El Emam & Dankar 2008: a class of the sample has a Poisson number of people with mean k N / M
    (``people`` N, ``population`` M). With ``significance`` in (0, 1) it is not larger than the
    number returned, at most min(k, N). ``zero_truncated_poisson`` leaves out classes that nobody
    was sampled from.

    Examples
    --------
    >>> estimated_k(1000, 30162, 317238626, 0.01, estimator="zero_truncated_poisson")
    3
    """
    mean = k * people / population
    is_truncated = estimator == "zero_truncated_poisson"
    lowest = math.exp(-mean)
    needed = 1.0 - significance
    if is_truncated:
        # -expm1(-mean) is 1 - P(0) without loss of digits for a small mean.
        needed *= -math.expm1(-mean)
    size, reached = (1, mean * lowest) if is_truncated else (0, lowest)
    while reached < needed and size + 1 < k:
        size += 1
        reached += math.exp(size * math.log(mean) - mean - math.lgamma(size + 1))
    return min(k, people, size + (1 if is_truncated else 2))
