"""The contract of what extensions ask of models beside their measures.

An inspection is read once, with the records, and asked in every split of every model, in worker
processes. It changes no other row of an evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.evaluation.facts import Detail, Fact
from dbt_anonymize.evaluation.measures import Predictions
from dbt_anonymize.evaluation.problem import Model, Target
from dbt_anonymize.evaluation.views import View


@dataclass(frozen=True)
class Answers:
    """Predictions of a model in a split.

    Attributes
    ----------
    target : Target
        What they are compared with.
    records : array of int, shape (test records,)
        The test records.
    predicted : mapping of str to predictions, one per test record
        By form of the test records, see `evaluation.views`.
    further : predictions, one per row of the `Question`
    """

    target: Target
    records: Ints
    predicted: Mapping[str, Predictions]
    further: Predictions


@dataclass(frozen=True)
class Question:
    """Rows that a model predicts for an inspection, and what it makes of the answers.

    Attributes
    ----------
    details : function
        Yields details of `Answers`.
    rows : array of float, shape (n, features of the view), or None
        Further rows to predict.
    """

    details: Callable[[Answers], Iterator[Detail]]
    rows: Floats | None = None


class Inspection:
    """Something that is asked of each model in each split; by itself nothing is."""

    def facts(self) -> Iterable[Fact]:
        """Return rows that do not depend on models."""
        return ()

    def points(self, split: tuple[int, int]) -> Sequence[Ints]:
        """Return records to predict in a split, made up of codes of the untouched effort.

        ``split`` is repetition and fold, from 1; the codes, each of shape (points,), are one per
        column. Nothing by default.
        """
        return ()

    def question(
        self, model: Model, view: View, points: Floats, seed: tuple[int, int]
    ) -> Question | None:
        """Return the question to a model, or None.

        ``points`` are the rows of `points` in the view, shape (points, features); ``seed`` differs
        by split, and is the same in all efforts and models.
        """
        return None
