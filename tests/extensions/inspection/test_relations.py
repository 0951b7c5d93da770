"""Relations of inspections against a recount."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.properties.experiments import EVALUATION, QUANTILES
from tests.properties.statements import FOLDS
from tests.properties.test_quality import KEY, Scores, close, evaluations, interval, load
from tests.properties.warehouse import Warehouse
from tests.worlds.hierarchies import EACH_SHAPE


@EACH_SHAPE
@given(one=evaluations(), other=evaluations())
def test_each_group_has_the_quality_of_its_own_scores(
    warehouse: Warehouse, one: Scores, other: Scores
) -> None:
    """Each group alone, as if its scores were those of all records."""
    groups = {("sex", "f"): one, ("city", "f"): other}
    rows: list[tuple[object, ...]] = []
    for place, ((column, value), evaluation) in enumerate(groups.items()):
        rows.append((0, *[None] * 6, "group", column, value, place, 7.0 + place))
        for key, scores in evaluation.items():
            rows += [
                (*key[:-1], *split, "group_measure", key[-1], value, place, score)
                for split, score in scores.items()
            ]
            rows += [(*key[:-1], 1, 1, "measure", key[-1], None, None, 0.25)]
    warehouse.load("evaluation", EVALUATION, [*rows[::-1], *QUANTILES])
    found = warehouse.rows("quality_by_group")
    for place, (group, evaluation) in enumerate(groups.items()):
        own = [row for row in found if (row["grouped_by"], row["group_value"]) == group]
        assert {row["group_size"] for row in own} == {7 + place}
        load(warehouse, evaluation)
        alone = {tuple(row[c] for c in KEY): row for row in warehouse.rows("quality_of_hold_out")}
        assert {tuple(row[c] for c in KEY) for row in own} == set(evaluation)
        for row in own:
            expected = alone[tuple(row[c] for c in KEY)]
            shared = set(row) - {"grouped_by", "group_value", "group_size"}
            assert {c: row[c] for c in shared} == {c: expected[c] for c in shared}


@pytest.mark.parametrize(("measure", "sign"), [("accuracy", 1), ("rmse", -1)])
def test_importance_equals_a_recount(warehouse: Warehouse, measure: str, sign: int) -> None:
    draws = np.random.default_rng(4)
    group = ("outcome", "forest", "once", "original")
    splits = [(r, f) for r in (1, 2) for f in range(1, FOLDS + 1)]
    # Beyond the scale of the measure, as a fall can be.
    falls = {(e, f): draws.normal(-0.1, 0.9, len(splits)) for e in (0, 3) for f in ("age", "city")}
    rows: list[tuple[object, ...]] = [
        (effort, *group, *split, "importance", measure, feature, None, fall)
        for (effort, feature), values in falls.items()
        for split, fall in zip(splits, values.tolist(), strict=True)
    ]
    rows += [(0, *group, 1, 1, "measure", measure, None, None, 0.25)]
    warehouse.load("evaluation", EVALUATION, [*rows, *QUANTILES])
    found = {
        (row["effort"], row["feature"]): row for row in warehouse.rows(f"importance_of_{measure}")
    }
    assert set(found) == set(falls)
    for (effort, feature), row in found.items():
        values = (sign * falls[effort, feature]).tolist()
        margin, _, sd = interval(values, 1 / (FOLDS - 1), 0.95)
        mean = float(np.mean(values))
        assert row["importance"] == close(mean)
        assert (row["low"], row["high"]) == (close(mean - margin), close(mean + margin))
        assert (row["sd"], row["measure"], row["splits"]) == (close(sd), measure, len(splits))
        compared = (np.array(values) - sign * falls[0, feature]).tolist()
        margin, _, _ = interval(compared, 1 / (FOLDS - 1), 0.95)
        assert row["difference"] == close(float(np.mean(compared)))
        assert row["difference_high"] == close(float(np.mean(compared)) + margin)
        assert row["paired_splits"] == row["all_splits"] == len(splits)
