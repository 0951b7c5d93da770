"""Quality by group of test records: who pays for privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.hierarchy import ROOT, read_hierarchy
from dbt_anonymize.evaluation.data.reading import EffortReader
from dbt_anonymize.evaluation.data.relations import (
    column_kind,
    number_sql,
    ranked_texts,
    text_rank_sql,
    text_sql,
)
from dbt_anonymize.evaluation.data.spaces import UNKNOWN
from dbt_anonymize.evaluation.facts import Detail, Fact
from dbt_anonymize.evaluation.inspections import Answers, Inspection, Question
from dbt_anonymize.evaluation.prediction_measures import prediction_measures
from dbt_anonymize.evaluation.problem import Model
from dbt_anonymize.evaluation.views import View
from dbt_anonymize.literals import quote_text

if TYPE_CHECKING:
    import duckdb

# Each group is measured in every split of every model.
MOST_GROUPS = 200


@dataclass(frozen=True)
class GroupColumn:
    """A column of the untouched effort, read at a level of its hierarchy; 0 is the raw value.

    ``kind`` is interval, categorical, or plain for a column without hierarchy.
    """

    name: str
    kind: str
    level: int = 0
    hierarchy: duckdb.DuckDBPyRelation | None = None


@dataclass(frozen=True)
class Groups:
    """The groups of one column that are large enough to report.

    Attributes
    ----------
    name : str
        Column.
    codes : array of int, shape (records,)
        Group of each record; -1 in a group that is too small.
    labels : tuple of str
        Value of each group; ``*`` for NULL.
    sizes : tuple of int
        Subjects of each group; records where no subject is declared.
    """

    name: str
    codes: Ints
    labels: tuple[str, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class QualityByGroup(Inspection):
    """All measures over all classes, for each group that has test records.

    A fact of kind ``group`` has the column as ``name``, its place in ``quality.groups``, from 0, as
    ``bin``, the group as ``other`` and its subjects as ``value``; a detail of kind
    ``group_measure`` has the measure as ``name``.
    """

    columns: Sequence[Groups]

    def facts(self) -> Iterator[Fact]:
        """Yield the size of each group."""
        for place, column in enumerate(self.columns):
            for label, size in zip(column.labels, column.sizes, strict=True):
                yield Fact(0, "group", column.name, float(size), label, place)

    def question(self, model: Model, view: View, points: Floats, seed: tuple[int, int]) -> Question:
        """Ask for nothing but the test records, of the zero rule too."""
        return Question(self._details)

    def _details(self, answers: Answers) -> Iterator[Detail]:
        for test_on, predicted in answers.predicted.items():
            for place, column in enumerate(self.columns):
                codes = column.codes[answers.records]
                for code, label in enumerate(column.labels):
                    rows = np.flatnonzero(codes == code)
                    if not len(rows):
                        continue
                    values = prediction_measures(
                        answers.target, answers.records[rows], predicted[rows]
                    )
                    for (measure, of_class), value in values.items():
                        if of_class is None:
                            yield Detail(test_on, "group_measure", measure, label, place, value)


def read_groups(
    columns: Sequence[GroupColumn],
    reader: EffortReader,
    keys: NDArray[Any],
    subjects: Ints | None,
    smallest: int,
) -> tuple[Groups, ...]:
    """Return the groups of each column with at least ``smallest`` subjects.

    ``keys`` are those of the records of the untouched effort. A column with more than
    `MOST_GROUPS` such groups is an `EvaluationError`.
    """
    groups = []
    for column in columns:
        texts, codes = _texts(column, reader, keys)
        groups.append(make_groups(column.name, texts, codes, subjects, smallest))
    return tuple(groups)


def make_groups(
    name: str, texts: Sequence[str | None], codes: Ints, subjects: Ints | None, smallest: int
) -> Groups:
    """Return the groups of records by ``texts[codes]``, see `read_groups`.

    Examples
    --------
    >>> groups = make_groups("sex", ["f", "m", None], np.array([1, 0, 1, 2]), None, smallest=2)
    >>> groups.labels, groups.codes.tolist()
    (('m',), [0, -1, 0, -1])
    """
    shown_texts = np.array([ROOT if text is None else text for text in texts], dtype=object)
    labels, of_text = np.unique(shown_texts, return_inverse=True)
    group = of_text[codes]
    people = np.arange(len(group)) if subjects is None else subjects
    # A person counts once per group.
    members = np.unique(np.column_stack([group, people]), axis=0)[:, 0]
    sizes = np.bincount(members, minlength=len(labels))
    large = np.flatnonzero(sizes >= smallest)
    if len(large) > MOST_GROUPS:
        raise EvaluationError(
            f"quality.groups: `{name}` must have at most {MOST_GROUPS} groups of at least "
            f"{smallest} subjects; got {len(large)}. Name a coarser level, or another column."
        )
    place = np.full(len(labels), UNKNOWN)
    place[large] = np.arange(len(large))
    group_labels = tuple(str(label) for label in labels[large])
    return Groups(name, place[group], group_labels, tuple(sizes[large].tolist()))


def _texts(
    column: GroupColumn, reader: EffortReader, keys: NDArray[Any]
) -> tuple[Sequence[str | None], Ints]:
    """Return texts, None for NULL, and the position of each record's text."""
    relation = reader.sample.restrict(reader.untouched.relation)
    column_kind(relation, column.name)
    tree = None
    if column.hierarchy is not None and column.level > 0:
        tree = read_hierarchy(column.name, column.kind, column.hierarchy)
        tree.positions(column.level)  # refuses a level that is missing
    if tree is not None and tree.is_interval:
        bound = f"{column.name}_lower"
        number = number_sql(bound, column_kind(relation, bound))
        is_known = f"{text_sql(column.name)} <> {quote_text(ROOT)}"  # `*` has bounds, too
        sql = f"case when {is_known} then {number} end"
        numbers = reader.read_column(reader.untouched.relation, sql, keys, "groups")
        # The last text is for `UNKNOWN`, -1.
        return [*tree.texts[column.level - 1], None], tree.leaf_of(numbers) % (len(tree.leaves) + 1)
    texts = ranked_texts(relation, column.name)
    rank = text_rank_sql(column.name)
    codes = reader.read_column(reader.untouched.relation, rank, keys, "groups").astype(np.int64)
    if tree is None:
        return texts, codes
    labels = dict(zip(tree.leaves.tolist(), tree.texts[column.level - 1], strict=True))
    return [labels.get(text) for text in texts], codes
