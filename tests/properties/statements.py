"""Macros that do not depend on the shape of a table: results, alpha ranges, hierarchy rules."""

from __future__ import annotations

import itertools

from .compilation import Ref, call

REQUIRED_K = 3
LIMIT = "0.1"
TEST_SHARE = 0.3
MEASURE = "accuracy"
ALPHAS = (0.0, 0.25, 0.016)
QNFS = {"k": "k", "risk": "1 - 1/k"}
RELEASES: tuple[str | int, ...] = ("auto", 2)
HIERARCHY_LEVELS = 4


def results_model(alpha: float, qnf: str, release: str | int) -> str:
    """Return the name of the model that computes results with these arguments."""
    return f"results_{ALPHAS.index(alpha)}_{qnf}_{release}"


FURTHER_SEEDS = [
    "scores",
    "privacy",
    "results",
    "interval_hierarchy",
    "categorical_hierarchy",
    "degrees",
]

FURTHER_MODELS: dict[str, str] = {
    **{
        results_model(alpha, qnf, release): call(
            "results",
            scores=Ref("scores"),
            privacy=Ref("privacy"),
            measure=MEASURE,
            test_share=TEST_SHARE,
            alpha=alpha,
            qnf=QNFS[qnf],
            fingerprint="0123abcd",
            release_effort=release,
        )
        for alpha, qnf, release in itertools.product(ALPHAS, QNFS, RELEASES)
    },
    "alpha_ranges": call("alpha_ranges", results=Ref("results")),
    "t_quantiles": "select degrees, "
    + call("student_t_quantile", degrees_of_freedom="degrees")
    + " as quantile from {{ ref('degrees') }} order by degrees",
    **{
        f"{kind}_violations_{'nested' if nested else 'loose'}": call(
            f"{kind}_hierarchy_violations",
            hierarchy=Ref(f"{kind}_hierarchy"),
            levels=HIERARCHY_LEVELS,
            nested=nested,
        )
        for kind in ("interval", "categorical")
        for nested in (True, False)
    },
}
