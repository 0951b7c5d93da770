"""A search refuses specs for which it cannot find efforts."""

from __future__ import annotations

import pytest

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.preconditions import check_readable
from dbt_anonymize.spec import Spec
from tests.spec.declarations import SPEC, spec
from tests.spec.test_outer_share import QUALITY
from tests.spec.test_without_target import untested


def test_a_search_by_targets_is_refused() -> None:
    check_readable(Spec.model_validate(SPEC), "classification_metric")
    with_outer = Spec.model_validate(spec(quality=QUALITY))
    check_readable(with_outer, "loss")
    with pytest.raises(SearchError, match="must not read targets beside"):
        check_readable(with_outer, "classification_metric")


def test_a_search_by_what_models_learn_is_refused() -> None:
    found = Spec.model_validate(untested())
    check_readable(found, "loss")
    for measure in ("quality", "guided", "classification_metric"):
        with pytest.raises(SearchError, match=f"no target where none is declared; got {measure}"):
            check_readable(found, measure)
