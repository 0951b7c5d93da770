"""Models of guarantees about all released classes together, and of estimates."""

from __future__ import annotations

from tests.properties.compilation import Ref, body, call

ESTIMATORS = ("zayatz", "pitman", "snb", "dankar")
POPULATIONS = (2_000, 1_000_000)
AVERAGES = (0.3, 0.25)
LIMIT = 0.9


def average_model(average: float) -> str:
    """Return the name of the model of classes with an average risk of at most this."""
    return f"sampled_average_{AVERAGES.index(average)}"


def _average_text(average: float) -> str:
    return body(
        "classes",
        frequencies=Ref("sampled_frequencies"),
        quasi_identifiers=[
            {
                "name": "city",
                "kind": "categorical",
                "hierarchy": Ref("sampled_city"),
                "levels": 1,
            }
        ],
        sensitive=[],
        target="outcome",
        efforts={1: {"levels": {"city": 0}}},
        guarantees=[
            {"model": "k_anonymity", "k": 2},
            {"model": "reidentification_risk", "average": average},
        ],
        suppression_limit=LIMIT,
    )


def _estimate_text(estimator: str) -> str:
    estimated = call(
        "_population_uniques",
        histogram="histogram",
        estimator=estimator,
        population_size="(select population from declared)",
    )
    return f"""
        with histogram as (select * from {{{{ ref('sampled_histogram') }}}}),
        declared as (select population from {{{{ ref('sampled_population') }}}}),
        {estimated}
        found as (select * from uniques)
        select * from found
    """


SAMPLED_MODELS = {average_model(average): _average_text(average) for average in AVERAGES} | {
    f"sampled_{estimator}": _estimate_text(estimator) for estimator in ESTIMATORS
}
SAMPLED_SEEDS = ["sampled_frequencies", "sampled_city", "sampled_histogram", "sampled_population"]
