"""Every effort has a reason that says what its figures say."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.experiments import (
    BY_GUARANTEE,
    TIED,
    Effort,
    experiments,
    load,
)
from tests.properties.statements import (
    ALPHAS,
    results_model,
)
from tests.properties.warehouse import Warehouse
from tests.worlds.hierarchies import COSTLY

# Two are as effort 1, or a little less than it; one failed in the first split.
EXPLAINED = [
    Effort(k, 569, suppressed, scores)
    for k, suppressed, scores in (
        (1, 0, (0.9,) * 5),
        (3, 0, (0.93,) * 5),
        (4, 100, (0.9,) * 5),
        (4, 0, (0.63,) * 5),
        (5, 0, (0.43,) * 5),
        (3, 0, (0.93,) * 5),
        (3, 0, (0.92999,) * 5),
        (7, 0, (None, 0.3, 0.3, 0.3, 0.3)),
        (6, 0, (0.6,) * 5),
    )
]


UNTOUCHED = "not chosen: effort 0 is the untouched table"


BROKEN = f"does not qualify: 100 of 569 records break a guarantee: {BY_GUARANTEE}"


FAILED = "does not qualify: accuracy has a value in 4 of 5 splits"


INFERIOR = "not chosen: QF may be 0.27 below that of effort 0, which is more than the margin"


NOT_ON_FRONTIER = "not chosen: no alpha makes it best, so it is not on the frontier"


NOT_TESTED = "not chosen: effort 3 with a smaller k fails, so stronger ones are not tested"


USELESS = "does not qualify: QF 0.43 is not above that of the zero rule, which has 0.5"


ASKED = "not chosen: release.effort is 2"


UNDETERMINED = (
    "chosen: highest QF of a frontier of 2 efforts, whose Q is the same at their break point, "
    "alpha 0.11"
)


LOWER_QF = (
    "not chosen: at the break point Q is that of effort 1 by construction, and QF 0.6 is below 0.93"
)


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        (
            results_model(0.016, "k", "auto"),
            [
                "chosen: highest Q among 5 efforts that qualify",
                BROKEN,
                "not chosen: Q 0.694 is below 0.978 of effort 1",
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: Q 0.97799 is below 0.978 of effort 1",
                FAILED,
                "not chosen: Q 0.696 is below 0.978 of effort 1",
            ],
        ),
        (
            results_model("auto", "k", "auto"),
            [
                UNDETERMINED,
                BROKEN,
                "not chosen: Q 1.07 is below 1.26 of effort 1",
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: Q 1.25999 is below 1.26 of effort 1",
                FAILED,
                LOWER_QF,
            ],
        ),
        (results_model(0.25, "k", 2), [ASKED, BROKEN, ASKED, USELESS, ASKED, ASKED, FAILED, ASKED]),
        (
            results_model(0.25, "k", "auto", "strongest_non_inferior"),
            [
                "chosen: highest k (3) among 3 efforts that qualify and, from the smallest k on, "
                "are non-inferior",
                BROKEN,
                INFERIOR,
                USELESS,
                "not chosen: as good as effort 1, which comes first",
                "not chosen: k is 3 too, but Q 1.67999 is below 1.68 of effort 1",
                FAILED,
                NOT_TESTED,
            ],
        ),
        (
            results_model(0.25, "k", "auto", "pareto_knee"),
            [
                UNDETERMINED,
                BROKEN,
                NOT_ON_FRONTIER,
                USELESS,
                NOT_ON_FRONTIER,
                NOT_ON_FRONTIER,
                FAILED,
                LOWER_QF,
            ],
        ),
    ],
)
def test_reasons_name_the_figures(warehouse: Warehouse, model: str, reasons: list[str]) -> None:
    load(warehouse, EXPLAINED)
    assert [row["reason"] for row in warehouse.rows(model)] == [UNTOUCHED, *reasons]


def test_reasons_where_the_choice_is_small(warehouse: Warehouse) -> None:
    load(warehouse, [*TIED, Effort(5, 10, 0, (0.9,)), Effort(None, 0, 0, (None,))])
    strongest = results_model(0.25, "k", "auto", "strongest_non_inferior")
    no_limit = (
        "not chosen: its difference to effort 0 has no confidence limit, which takes 5 splits"
    )
    assert [row["reason"] for row in warehouse.rows(strongest)] == [
        UNTOUCHED,
        no_limit,
        *[NOT_TESTED.replace("effort 3", "effort 1")] * 2,
        "does not qualify: there is no record",
    ]
    knee = results_model(0.25, "k", "auto", "pareto_knee")
    assert [row["reason"] for row in warehouse.rows(knee)][1:4] == [
        "not chosen: 0.0 above the chord of the frontier is below 0.025 of effort 3",
        "not chosen: 0.0 above the chord of the frontier is below 0.025 of effort 3",
        "chosen: the knee, 0.025 above the chord of a frontier of 3 efforts",
    ]
    load(warehouse, TIED)
    first, second = [row["reason"] for row in warehouse.rows(knee)][1:]
    assert first.startswith("chosen: highest QF of a frontier of 2 efforts")
    assert "is that of effort 1 by construction, and QF" in second
    load(warehouse, [*TIED[:2], Effort(2, 10, 1, (0.9,)), Effort(None, 10, 0, (0.9,))])
    assert [row["reason"] for row in warehouse.rows(results_model(0.25, "k", "auto"))][1:] == [
        "chosen: the only effort that qualifies",
        f"does not qualify: 1 of 10 records breaks a guarantee: {BY_GUARANTEE}",
        "does not qualify: no record is released",
    ]


@COSTLY
@given(efforts=experiments(grain=4), alpha=st.sampled_from(ALPHAS))
def test_every_effort_has_a_reason_that_says_what_the_flags_say(
    warehouse: Warehouse, efforts: list[Effort], alpha: float | str
) -> None:
    load(warehouse, efforts)
    models = [
        results_model(alpha, "k", "auto"),
        results_model(alpha, "k", 2),
        results_model(0.25, "k", "auto", "strongest_non_inferior"),
        results_model(0.25, "k", "auto", "pareto_knee"),
    ]
    for row in itertools.chain.from_iterable(map(warehouse.rows, models)):
        begin = row["reason"].partition(":")[0]
        if row["is_chosen"]:
            assert begin == "chosen"
        elif row["qualifies"] or row["effort"] == 0:
            assert begin == "not chosen"
        else:
            assert begin == "does not qualify"
