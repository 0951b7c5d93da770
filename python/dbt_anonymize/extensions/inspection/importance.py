"""Permutation importance of features."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.evaluation.facts import Detail
from dbt_anonymize.evaluation.inspections import Answers, Inspection, Question
from dbt_anonymize.evaluation.prediction_measures import prediction_measures
from dbt_anonymize.evaluation.problem import ZERO_RULE, Model
from dbt_anonymize.evaluation.views import ORIGINAL, View

# Most test records for importance: each is predicted once per feature.
MOST_PERMUTED = 5_000


@dataclass(frozen=True)
class Importance(Inspection):
    """Drop of the measure on untouched test records when the values of a feature are permuted.

    A detail of kind ``importance`` has the measure as ``name``, the feature as ``other`` and the
    drop as ``value``: 0 for a feature that the model does not see, NaN where the measure is
    undefined.

    Attributes
    ----------
    measure : str
    features : tuple of str
        In the order of their columns.

    References
    ----------
    .. [1] Breiman 2001, Machine Learning 45(1):5-32 (permutation importance).
    """

    measure: str
    features: tuple[str, ...]

    def question(
        self, model: Model, view: View, points: Floats, seed: tuple[int, int]
    ) -> Question | None:
        """Ask for permuted test records, but not the zero rule, which sees no feature."""
        if model.model == ZERO_RULE:
            return None
        permuted = permute(view, len(self.features), seed)
        return Question(functools.partial(self._details, permuted), permuted.rows)

    def _details(self, permuted: Permuted, answers: Answers) -> Iterator[Detail]:
        records, size = answers.records[permuted.records], len(permuted.records)
        key, part = (self.measure, None), answers.predicted[ORIGINAL][permuted.records]
        before = prediction_measures(answers.target, records, part).get(key, np.nan)
        for column, feature in enumerate(self.features):
            drop = before - before
            if column in permuted.columns:
                first = permuted.columns.index(column) * size
                part = answers.further[first : first + size]
                after = prediction_measures(answers.target, records, part).get(key, np.nan)
                drop = before - after
            yield Detail(ORIGINAL, "importance", self.measure, feature, None, drop)


@dataclass(frozen=True)
class Permuted:
    """Untouched test records, with the values of one column at a time permuted.

    Attributes
    ----------
    records : array of int, shape (n,)
        Positions among the test records.
    columns : tuple of int
        Columns that the model sees.
    rows : array of float, shape (len(columns) * n, features)
        Column after column.
    """

    records: Ints
    columns: tuple[int, ...]
    rows: Floats


def permute(view: View, columns: int, seed: Sequence[int]) -> Permuted:
    """Permute the values of each of ``columns`` columns among at most `MOST_PERMUTED` test records.

    Equal seeds give equal permutations in every effort and model.
    """
    draws = np.random.default_rng(seed)
    untouched = view.test_sets[0]
    records = np.sort(draws.permutation(len(untouched.place))[:MOST_PERMUTED])
    orders = [draws.permutation(len(records)) for _ in range(columns)]
    rows = untouched.rows[untouched.place[records]]
    seen = tuple(column for column in range(columns) if (view.columns == column).any())
    parts = [np.where(view.columns == column, rows[orders[column]], rows) for column in seen]
    return Permuted(records, seen, np.vstack([rows[:0], *parts]))
