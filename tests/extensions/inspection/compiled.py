"""The models of inspections that properties run."""

from __future__ import annotations

from tests.properties.compilation import Ref, body
from tests.properties.statements import FOLDS, TEST_SHARE

MODELS = {
    **{
        f"importance_of_{measure}": body(
            "importance", evaluation=Ref("evaluation"), measure=measure, folds=FOLDS
        )
        for measure in ("accuracy", "rmse")
    },
    "quality_by_group": body(
        "quality_by_group", evaluation=Ref("evaluation"), test_share=TEST_SHARE
    ),
}
SEEDS = ["evaluation"]
