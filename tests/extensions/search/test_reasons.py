"""Reasons for levels: gain of columns that are given up, and columns better dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.race import FEWEST_SPLITS, Budget, Candidate, Track
from dbt_anonymize.extensions.search.reasons import GivenUp, Reasons, find_reasons, given_up
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, Node, Table
from tests.extensions.search.test_guided import predicted
from tests.sampling import examples
from tests.worlds.coded import nodes, tables

Score = Callable[[Node], float]
LIMIT = Decimal("0.2")


@dataclass
class Scored(Track):
    """Candidates have the scores of their levels on all splits, and nothing is trained."""

    score: Score = lambda _: 0.5
    test_share: float = 0.3  # type: ignore[misc]
    asked: list[Node] = field(default_factory=list)

    @property
    def rows(self) -> Ints:
        """Nobody."""
        return np.zeros(0, dtype=np.int64)

    def train(self, pairs: Sequence[tuple[Candidate, int]]) -> float:
        """Count a second for each."""
        for one, split in pairs:
            self.asked.append(one.checked.node)
            self.scores.setdefault(one.key, {})[split] = self.score(one.checked.node)
        return float(len(pairs))

    def baselines(self, splits: range, _: Budget | None = None) -> tuple[list[float], list[float]]:
        """Return what nobody asks for."""
        return [0.9] * len(splits), [0.5] * len(splits)


def people(highest_zip: int = 1) -> Table:
    """Return 44 records: 11 in each class of age and half of the zips, of which there are four."""
    age = np.repeat([0, 1], 4)
    zips = np.tile([0, 1, 2, 3], 2)
    one, two, four = (np.array(codes) for codes in ([0] * 4, [0, 0, 1, 1], [0, 1, 2, 3]))
    shares = tuple(np.ones(count) for count in (4, 2, 1))
    attributes = (
        Attribute("age", (four[:2], one[:2]), (np.ones(2), np.ones(1)), 2, 0.5),
        Attribute("zip", (four, two, one), shares, 4, 0.25, highest=highest_zip),
    )
    records = np.tile([6, 5], 4)
    # Predictions tell records apart by age alone.
    value = np.where(age == 0, 1.0, -1.0) / 44**0.5
    sums = np.column_stack([records, records * value**2, records * value])
    leaves = np.column_stack([age, zips]).astype(np.int64)
    return Table(attributes, leaves, records, predictions=sums)


def found(
    table: Table, score: Score, k: int, budget: Budget | None = None
) -> tuple[Candidate, Reasons]:
    """Search one class size; return winner and reasons."""
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}], table)
    track = Scored(None, None, [], score=score)  # type: ignore[arg-type]
    search = QualitySearch(table, guarantees, Decimal(0), track=track, budget=Budget())
    search.run([k])
    (winner,) = search.winners
    return winner, find_reasons(track, search.candidates, [winner], budget or Budget())


def test_a_column_that_adds_nothing_and_halves_the_classes_had_better_go() -> None:
    """Levels of zip are bounded, so that the search cannot give it up by itself."""
    winner, reasons = found(people(), lambda node: 0.8 if node[0] == 0 else 0.5, 10)
    assert (winner.checked.node, winner.checked.k) == ((0, 1), 11)
    (burden,) = reasons.burdens
    assert (burden.column, burden.values, burden.k, burden.k_without) == ("zip", 4, 11, 22)
    assert burden.advice(1) == (
        "zip has 4 values and models do as well without it: with `release: {leave_out: [zip]}` "
        "k is 22 instead of 11 in effort 1."
    )


@pytest.mark.parametrize("without_zip", [0.797, 0.7])
def test_nothing_is_said_where_the_column_adds_something(without_zip: float) -> None:
    def score(node: Node) -> float:
        return 0.5 if node[0] else 0.8 if node[1] < 2 else without_zip

    winner, reasons = found(people(), score, 10)
    assert winner.checked.node == (0, 1)
    assert not reasons.burdens
    assert not found(people(), score, 10, Budget(evaluations=0))[1].burdens


def test_a_column_without_which_classes_are_much_larger_is_given_up_where_it_may_be() -> None:
    winner, reasons = found(people(2), lambda node: 0.8 if node[0] == 0 else 0.5, 10)
    assert winner.checked.node == (0, 2)
    assert not reasons.burdens
    assert reasons.given == ({"zip": GivenUp(0.0, 11, is_feasible=True)},)


def test_what_would_add_something_is_said_with_the_class_size_that_it_costs() -> None:
    def score(node: Node) -> float:
        return 0.8 - 0.1 * node[0]

    winner, reasons = found(people(), score, 20)
    assert winner.checked.node == (1, 1)
    (of_winner,) = reasons.given
    expected = "gives up age (would add 0.1, but then k is 11)"
    assert given_up(["age"], of_winner, "roc_auc") == expected
    assert "would take 0.1 off rmse" in given_up(["age"], of_winner, "rmse")


def test_what_was_not_trained_is_not_claimed() -> None:
    for affordable in (0, 1, FEWEST_SPLITS - 1):
        _, reasons = found(people(), lambda node: node[0], 20, Budget(evaluations=affordable))
        assert [one.adds for one in reasons.given[0].values()] == [None]
        assert given_up(["age"], reasons.given[0], "r2") == "gives up age"
    _, reasons = found(people(), lambda node: node[0], 20, Budget(evaluations=FEWEST_SPLITS))
    text = given_up(["age"], reasons.given[0], "r2")
    assert text == "gives up age, which adds less than 0.002"


@examples(settings(deadline=None), 60)
@given(st.data())
def test_levels_of_any_class_size_suppress_as_much_as_they_may(data: st.DataObject) -> None:
    table, _ = predicted(data, data.draw(tables(has_subject=False)), outputs=1)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    lattice = Lattice.of(table)
    checker = Checker(table, guarantees, Guided(), LIMIT)
    everybody = np.arange(len(table.records))
    node = data.draw(nodes(table))
    one = Candidates(checker, lattice, everybody).of_any_size(node)
    classes = classes_of(table, node)
    sizes = classes.people[classes.records > 0]
    records = classes.records[classes.records > 0]
    able = [k for k in set(sizes.tolist()) if records[sizes < k].sum() <= LIMIT * table.total]
    assert one.checked.k == max(able)
    assert one.checked.suppressed == records[sizes < max(able)].sum()
    assert table.records[one.suppressed].sum() == one.checked.suppressed
