"""The page of the masking effect shows what is computed, and what it concludes holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score

from tests.case_studies.masking_effect import (
    GROUP_SIZES,
    REPRESENTATIVES,
    Representative,
    anonymized,
    fit,
    logistic,
    plot,
    records,
    rows,
)
from tests.case_studies.pages import CasePage


def test_the_page_shows_what_is_computed() -> None:
    page = CasePage("masking_effect")
    assert page.text == page.confirmed(lambda _: rows(), lambda _: plot())


def test_records_are_those_of_the_definition() -> None:
    x, y = records()
    assert (len(x), x[0], x[-1]) == (80, 0.625, 99.375)
    np.testing.assert_allclose(y, 10 / (1 + np.exp(-(x - 46) / 2.5)), atol=1e-12)


@pytest.mark.parametrize("k", GROUP_SIZES)
@pytest.mark.parametrize("representative", REPRESENTATIVES)
def test_groups_have_k_records(k: int, representative: Representative) -> None:
    _, sizes = np.unique(anonymized(k, representative), return_counts=True)
    assert set(sizes) == {k}


def test_the_lower_bound_hides_on_anonymized_records_what_it_ruins() -> None:
    found = fit(40, "lower bound")
    assert found.anonymized == pytest.approx(0.9, abs=0.05)
    assert found.original == pytest.approx(0.1, abs=0.05)


def test_the_midpoint_of_the_same_groups_ruins_nothing() -> None:
    found = fit(40, "midpoint")
    assert found.anonymized == pytest.approx(fit(40, "lower bound").anonymized, abs=1e-6)
    assert found.original > 0.9


def test_the_first_record_of_a_group_is_a_biased_representative_too() -> None:
    x, y = records()
    shift = x[0]
    found = fit(40, "lower bound")
    r2 = r2_score(y, logistic(x, found.centre + shift, found.scale))
    assert round(float(r2), 2) == 0.13


def test_without_groups_the_curve_is_found() -> None:
    for representative in REPRESENTATIVES:
        found = fit(1, representative)
        assert (found.centre, found.scale) == pytest.approx((46, 2.5), abs=1e-6)
        assert found.original == pytest.approx(1)
