"""The page of differential privacy shows what is computed, and what it concludes holds."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dbt_anonymize.spec import Spec
from tests.case_studies.differential_privacy import BETA, DESIGNS, EPSILON, rows
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import is_available

PAGE = CasePage("differential_privacy")
NEEDS_DATA = pytest.mark.skipif(
    not is_available("wisconsin_original"), reason="needs the data of wisconsin_original"
)


def test_the_spec_of_the_page_is_that_of_the_first_design() -> None:
    spec = Spec.model_validate(yaml.safe_load(PAGE.spec))
    private, design = spec.differential_privacy, DESIGNS["chromatin"]
    assert private is not None
    assert (private.epsilon, private.share, private.k) == (EPSILON, BETA, design.k)
    assert tuple(spec.features) == design.features
    assert spec.numbered_efforts[1].levels == {"bland_chromatin": 1, "tumour": 0}


@NEEDS_DATA
@pytest.mark.slow
def test_the_page_shows_what_is_computed() -> None:
    found = rows()
    assert PAGE.text == PAGE.confirmed(lambda _: found, lambda _: "")
    design: dict[str, Any] = {row["design"]: row for row in found}
    assert design["chromatin"]["lowest"] == pytest.approx(design["chromatin"]["highest"])
    assert abs(design["chromatin"]["skill"]) < 0.1
    assert design["with_nuclei"]["draws"] < 10 == design["with_nuclei_half"]["draws"]
    for name in ("with_nuclei", "with_nuclei_half", "tumour_kept"):
        assert design[name]["roc_auc"] > 0.96
        assert design[name]["skill"] < -1
