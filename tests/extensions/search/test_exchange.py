"""Exchanges: a column that carries the target takes the place of one that carries nothing."""

from __future__ import annotations

import itertools
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.search.candidates import Candidates
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.exchange import exchange_columns
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.race import EQUAL, FEWEST_SPLITS, SPLITS, Budget, Candidate
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Node, Table
from tests.extensions.search.test_guided import predicted
from tests.extensions.search.test_reasons import LIMIT, Score, Scored, people
from tests.sampling import examples
from tests.worlds.coded import tables


def candidates_of(table: Table, limit: Decimal = Decimal(0)) -> Candidates:
    """Return what makes candidates of nodes."""
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    lattice = Lattice.of(table)
    checker = Checker(table, guarantees, Guided(), limit, must_release=True)
    return Candidates(checker, lattice, np.zeros(0, dtype=np.int64))


def after(one: Candidate, candidates: Candidates, score: Score, budget: Budget) -> Candidate:
    """Return a candidate after exchanges, where levels have scores and nothing is trained."""
    track = Scored(None, None, [], score=score)  # type: ignore[arg-type]
    (exchanged_one,) = exchange_columns(track, candidates, [one], budget)
    return exchanged_one


def of_age(node: Node) -> float:
    """Score that age alone matters for."""
    return 0.8 - 0.1 * node[0]


@pytest.mark.parametrize(
    ("before", "score", "evaluations", "expected"),
    [
        ((1, 1), of_age, None, (0, 2)),
        # Zip carries as much as age: nothing is gained.
        ((1, 1), lambda node: 0.8 - 0.1 * (node[0] + (node[1] == 2)), None, (1, 1)),
        ((1, 1), lambda node: 0.8 - (EQUAL / 2) * node[0], None, (1, 1)),
        # Better on few splits is not enough.
        ((1, 1), of_age, 2 * SPLITS + FEWEST_SPLITS - 1, (1, 1)),
        ((1, 1), of_age, 2 * SPLITS + FEWEST_SPLITS, (0, 2)),
        ((0, 2), of_age, None, (0, 2)),
    ],
)
def test_a_column_that_models_need_takes_the_place_of_one_that_they_do_not(
    before: Node, score: Score, evaluations: int | None, expected: Node
) -> None:
    """With classes of 20 there is room for age, or for zip in two parts."""
    candidates = candidates_of(people(2))
    one = candidates.of(before, 20)
    assert one is not None
    assert candidates.of((0, 1), 20) is None
    found = after(one, candidates, score, Budget(evaluations=evaluations))
    assert (found.checked.node, found.required) == (expected, 20)


def test_a_column_that_must_stay_readable_is_not_exchanged() -> None:
    candidates = candidates_of(people(1))
    one = candidates.of((1, 1), 20)
    assert one is not None
    assert after(one, candidates, of_age, Budget()).checked.node == (1, 1)


@examples(settings(deadline=None), 60)
@given(st.data())
def test_afterwards_no_exchange_is_better(data: st.DataObject) -> None:
    table = predicted(data, data.draw(tables()))[0]
    candidates = candidates_of(table, LIMIT)
    random = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    nodes = itertools.product(*(range(attribute.height + 1) for attribute in table.attributes))
    scores = {node: float(random.choice([0.5, 0.501, 0.6, 0.7])) for node in nodes}
    able = [one for node in scores for one in [candidates.of(node, 3)] if one is not None]
    if not able:
        return
    before = data.draw(st.sampled_from(able))
    track = Scored(None, None, [], score=scores.__getitem__)  # type: ignore[arg-type]
    (found,) = exchange_columns(track, candidates, [before], Budget())
    assert scores[found.checked.node] >= scores[before.checked.node]
    (again,) = exchange_columns(track, candidates, [found], Budget())
    # Scores differ by less than three steps of what counts.
    assert again.checked.node == found.checked.node
