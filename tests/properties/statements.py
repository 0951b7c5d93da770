"""Macros that do not depend on the shape of a table: results, alpha ranges, hierarchy rules."""

from __future__ import annotations

import itertools
import random

from dbt_anonymize.spec.qnf import qnf_argument
from tests.properties.compilation import Ref, body, call

REQUIRED_K = 3
LIMIT = "0.1"
TEST_SHARE = 0.3
FOLDS = 4
MARGIN = 0.0625
CONFIDENCE = 0.9
RANDOM_STATE = 2**32 - 1
MEASURE = "accuracy"
ALPHAS: tuple[float | str, ...] = (0.0, 0.25, 0.016, "auto")
QNFS = {name: qnf_argument(text) for name, text in (("k", "k"), ("risk", "1 - 1/k"))}
RELEASES: tuple[str | int, ...] = ("auto", 2)
RULES = ("max_q", "strongest_non_inferior", "pareto_knee")
HIERARCHY_LEVELS = 4
# Shares that may be suppressed: such as are written by hand, and with up to 17 digits.
_DRAW = random.Random(20260103)
SUPPRESSION_LIMITS = {
    f"limit_{number}": limit
    for number, limit in enumerate(
        [0.0, 0.05, 0.07, 0.29, 0.57, 1e-05, 7e-05, 1.5e-05, 2e-09, 1e-16, 0.30000000000000004]
        + [_DRAW.randrange(10**digits) / 10**digits for digits in range(1, 17) for _ in range(5)]
        + [_DRAW.random() * 10**-digits for digits in range(8)]
    )
}
# Masks by the type of the column.
MASKS: dict[str, list[dict[str, object]]] = {
    "integer": [{"round": 100}, {"round": 7}, {"top": 50, "bottom": -50}, {"round": 2.5}],
    "bigint": [{"round": 10, "top": 1000}, {"top": 10**15}],
    "double": [{"round": 0.25}, {"round": 1e-05}, {"round": 4, "bottom": 0.5}, {"top": 7.5}],
    "date": [{"truncate": unit} for unit in ("year", "quarter", "month", "week")],
    "timestamp": [{"truncate": unit} for unit in ("quarter", "day", "hour")],
    "varchar": [{"email": "domain"}, {"phone": 2}, {"constant": "it's"}, {"constant": 1e-05}],
}


def results_model(
    alpha: float | str, qnf: str, release: str | int, choose: str = "max_q", measure: str = MEASURE
) -> str:
    """Return the name of the model that computes results with these arguments."""
    return f"results_{ALPHAS.index(alpha)}_{qnf}_{release}_{choose}_{measure}"


def _results(
    alpha: float | str, qnf: str, release: str | int, model: str = "forest", **rule: str
) -> dict[str, str]:
    rule = {"choose": "max_q", "measure": MEASURE, **rule}
    text = body(
        "results",
        quality=Ref("quality"),
        scores=Ref("scores"),
        evaluation=Ref("evaluation"),
        privacy=Ref("privacy"),
        target="outcome",
        model=model,
        fit="once",
        test_on="original",
        alpha=alpha,
        qnf=QNFS[qnf],
        fingerprint="0123abcd",
        random_state=RANDOM_STATE,
        test_share=TEST_SHARE,
        release_effort=release,
        **rule,
    )
    name = results_model(alpha, qnf, release, **rule)
    return {name if model == "forest" else f"results_of_{model}": text}


FURTHER_SEEDS = [
    "evaluation",
    "scores",
    "quality",
    "privacy",
    "results",
    "interval_hierarchy",
    "categorical_hierarchy",
    "counted",
    *(f"masked_{kind}" for kind in MASKS),
]

FURTHER_MODELS: dict[str, str] = {
    **{
        f"masks_{kind}": "select key, "
        + ", ".join(
            call("_mask", column={"name": "value", "dtype": kind}, value="value", mask=mask)
            + f" as mask_{number}"
            for number, mask in enumerate(masks)
        )
        + f" from {{{{ ref('masked_{kind}') }}}} order by key"
        for kind, masks in MASKS.items()
    },
    **{
        name: text
        for alpha, qnf, release in itertools.product(ALPHAS, QNFS, RELEASES)
        for name, text in _results(alpha, qnf, release).items()
    },
    **{
        name: text
        for choose, qnf in itertools.product(RULES[1:], QNFS)
        for name, text in _results(0.25, qnf, "auto", choose=choose).items()
    },
    **_results(0.25, "k", "auto", measure="mae"),
    **_results("auto", "k", "auto", choose="pareto_knee", model="zero_rule"),
    "scores_of_evaluation": body("scores", evaluation=Ref("evaluation")),
    "quality_of_hold_out": body(
        "quality",
        scores=Ref("scores"),
        evaluation=Ref("evaluation"),
        test_share=TEST_SHARE,
        margin=MARGIN,
    ),
    "quality_of_folds": body(
        "quality",
        scores=Ref("scores"),
        evaluation=Ref("evaluation"),
        folds=FOLDS,
        confidence=CONFIDENCE,
        margin=MARGIN,
    ),
    "suppression_limits": "select records, "
    + ", ".join(
        call("_may_be_suppressed", suppression_limit=limit, records="records") + f" as {name}"
        for name, limit in SUPPRESSION_LIMITS.items()
    )
    + " from {{ ref('counted') }}",
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
