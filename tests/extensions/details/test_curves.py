"""Curves, calibration and confusion against scikit-learn and a recount in Python."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from tests.properties.test_quality import EVALUATION
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import HALF

CLASSES = ("no", "yes", "unknown")
GROUP = ("effort", "target", "model", "fit", "test_on")
Group = tuple[int, str, str, str, str]


@dataclass(frozen=True)
class Prediction:
    """One test record: its class, the class predicted, and its probabilities in thousandths."""

    true: str
    predicted: str
    thousandths: tuple[int, ...]


Predictions = dict[Group, list[Prediction]]

_BIN = st.sampled_from([0, 1, 99, 100, 250, 900, 999, 1000]) | st.integers(0, 1000)
_GROUPS: list[Group] = [
    (effort, "outcome", model, "once", test_on)
    for effort, model, test_on in itertools.product(
        (0, 2), ("forest", "zero_rule"), ("original", "generalized")
    )
]
PREDICTIONS = st.dictionaries(
    st.sampled_from(_GROUPS),
    st.lists(
        st.builds(
            Prediction,
            st.sampled_from(CLASSES[:2]) | st.sampled_from(CLASSES),
            st.sampled_from(CLASSES),
            st.tuples(_BIN, _BIN, _BIN),
        ),
        min_size=1,
        max_size=25,
    ),
    max_size=3,
)


def load(warehouse: Warehouse, predictions: Predictions) -> None:
    """Create the evaluation with the counts over all splits, and rows of other kinds."""
    rows: list[tuple[object, ...]] = []
    for group, records in predictions.items():
        pairs = Counter((r.true, r.predicted) for r in records)
        rows += [
            (*group, None, None, "confusion", *pair, None, float(n)) for pair, n in pairs.items()
        ]
        bins = Counter(
            (name, "1" if r.true == name else "0", r.thousandths[position])
            for r in records
            for position, name in enumerate(CLASSES)
        )
        rows += [(*group, None, None, "probability", *k, float(n)) for k, n in bins.items()]
        rows += [(*group, 1, 1, "measure", "accuracy", None, None, 0.5)]
        rows += [(*group, 2, 1, "failure", "one class only", None, None, None)]
    warehouse.load("evaluation", EVALUATION, rows[::-1])


def by(rows: list[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[column] for column in columns)].append(row)
    return found


def of_class(records: list[Prediction], position: int) -> tuple[list[int], list[float]]:
    """Return whether each record is of the class, and its probability."""
    true = [int(r.true == CLASSES[position]) for r in records]
    return true, [r.thousandths[position] / 1000 for r in records]


@HALF
@given(predictions=PREDICTIONS)
def test_curves_are_those_of_scikit_learn(warehouse: Warehouse, predictions: Predictions) -> None:
    load(warehouse, predictions)
    found = by(warehouse.rows("curves_of_evaluation"), *GROUP, "class", "curve")
    assert len(found) == len(predictions) * len(CLASSES) * 2
    for group, records in predictions.items():
        for position, name in enumerate(CLASSES):
            true, probability = of_class(records, position)
            roc, recall = (found[(*group, name, curve)] for curve in ("roc", "precision_recall"))
            thresholds = [None, *sorted(set(probability), reverse=True)]
            assert [row["threshold"] for row in roc] == thresholds
            assert [row["threshold"] for row in recall] == thresholds
            if 0 < sum(true) < len(true):
                x, y, _ = roc_curve(true, probability, drop_intermediate=False)
                np.testing.assert_allclose([row["x"] for row in roc], x)
                np.testing.assert_allclose([row["y"] for row in roc], y)
            if sum(true) > 0:
                y, x, _ = precision_recall_curve(true, probability)
                # scikit-learn begins at the smallest threshold.
                np.testing.assert_allclose([row["x"] for row in recall], x[::-1])
                np.testing.assert_allclose([row["y"] for row in recall], y[::-1])
            else:
                assert {row["y"] for row in roc} == {None}
                assert {row["x"] for row in recall} == {None}
            if sum(true) == len(true):
                assert {row["x"] for row in roc} == {None}


@HALF
@given(predictions=PREDICTIONS)
def test_calibration_equals_a_recount(warehouse: Warehouse, predictions: Predictions) -> None:
    load(warehouse, predictions)
    found = by(warehouse.rows("calibration_of_evaluation"), *GROUP, "class")
    assert len(found) == len(predictions) * len(CLASSES)
    for group, records in predictions.items():
        for position, name in enumerate(CLASSES):
            tenths: dict[int, list[Prediction]] = defaultdict(list)
            for record in records:
                tenths[min(record.thousandths[position] // 100, 9)].append(record)
            expected = [
                {
                    "bin_from": tenth / 10,
                    "bin_to": (tenth + 1) / 10,
                    "records": len(binned),
                    "mean_probability": pytest.approx(np.mean(of_class(binned, position)[1])),
                    "observed_share": pytest.approx(np.mean(of_class(binned, position)[0])),
                }
                for tenth, binned in sorted(tenths.items())
            ]
            rows = found[(*group, name)]
            assert [{c: row[c] for c in expected[0]} for row in rows] == expected


@HALF
@given(predictions=PREDICTIONS)
def test_confusion_is_that_of_scikit_learn(warehouse: Warehouse, predictions: Predictions) -> None:
    load(warehouse, predictions)
    found = by(warehouse.rows("confusion_of_evaluation"), *GROUP)
    assert set(found) == set(predictions)
    classes = sorted({c for rs in predictions.values() for r in rs for c in (r.true, r.predicted)})
    for group, records in predictions.items():
        true, predicted = [r.true for r in records], [r.predicted for r in records]
        rows = found[group]
        pairs = list(itertools.product(classes, classes))
        assert [(row["true_class"], row["predicted_class"]) for row in rows] == pairs
        # With a class more, since scikit-learn warns of a single one.
        counts = confusion_matrix(true, predicted, labels=[*classes, "none"])[:-1, :-1]
        assert [row["records"] for row in rows] == counts.ravel().tolist()
        totals = counts.sum(axis=1, keepdims=True).repeat(len(classes), axis=1).ravel()
        shares = [
            None if total == 0 else pytest.approx(count / total)
            for count, total in zip(counts.ravel(), totals, strict=True)
        ]
        assert [row["share"] for row in rows] == shares
