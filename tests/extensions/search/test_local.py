"""Rounds of local recoding."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search import local_recoding
from dbt_anonymize.extensions.search.binding_attributes import is_flat
from dbt_anonymize.extensions.search.efforts import Task
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.results import SearchResult
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, Node, SensitiveAttribute, Table
from tests.sampling import examples

PROPERTY = examples(settings(deadline=None, derandomize=True, database=None), 60, 10)
LOSS = make_loss("loss", gs=0.05)


def attribute(name: str, groups: list[int]) -> Attribute:
    """Return an attribute with three levels: the values, their groups, the root."""
    size = len(groups)
    codes = np.array(groups)
    levels = (np.arange(size), codes, np.zeros(size, dtype=np.int64))
    shares = (np.full(size, 1 / size), np.bincount(codes) / size, np.ones(1))
    return Attribute(name, levels, shares, domain_size=size, smallest_share=1 / size)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table of two attributes and a sensitive one, perhaps with people."""
    attributes = (attribute("a", [0, 0, 1, 1, 2]), attribute("b", [0, 1, 1, 1]))
    row = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2), st.integers(0, 5))
    has_subject = draw(st.booleans())
    rows = draw(st.lists(row, min_size=1, max_size=25, unique_by=None if has_subject else _no_one))
    codes = np.array(rows)
    return Table(
        attributes,
        leaves=codes[:, :2].copy(),
        records=np.array(draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))),
        sensitive=((SensitiveAttribute("s", 3), codes[:, 2].copy()),),
        subject=codes[:, 3].copy() if has_subject else None,
    )


def _no_one(row: tuple[int, ...]) -> tuple[int, ...]:
    return row[:3]


def labels(table: Table, node: Node, row: int) -> tuple[int, ...]:
    """Return the labels of a row at a node."""
    return tuple(
        int(a.levels[level][table.leaves[row, i]])
        for i, (a, level) in enumerate(zip(table.attributes, node, strict=True))
    )


def is_class(table: Table, members: list[int], k: int, least_values: int) -> bool:
    """Tell whether rows keep k-anonymity and distinct l-diversity."""
    people = int(table.records[members].sum())
    if table.subject is not None:
        people = len(set(table.subject[members].tolist()))
    values = set(table.sensitive[0][1][members].tolist())
    return people >= k and len(values) >= least_values


def local_rounds(
    table: Table, guarantees: Guarantees, loss: InformationLoss, **options: Any
) -> list[tuple[Node, int]]:
    """Return levels and released records of each round."""
    rounds = local_recoding.find_rounds(table, guarantees, loss, **options)
    return [(r.node, int(table.records[r.rows].sum())) for r in rounds]


def replay(
    table: Table, rounds: list[tuple[Node, int]], k: int, least_values: int
) -> tuple[list[int], list[int]]:
    """Return how many records each round releases, and the rows that are left at the end."""
    left = list(range(len(table.leaves)))
    released = []
    for node, _ in rounds:
        classes = defaultdict(list)
        for row in left:
            classes[labels(table, node, row)].append(row)
        gone = [row for c in classes.values() if is_class(table, c, k, least_values) for row in c]
        released.append(int(table.records[gone].sum()))
        left = [row for row in left if row not in gone]
    return released, left


@given(table=tables(), k=st.integers(2, 6), least_values=st.integers(1, 3))
@PROPERTY
def test_rounds_release_what_they_say_and_leave_nobody_unless_they_must(
    table: Table, k: int, least_values: int
) -> None:
    occurring = len(set(table.sensitive[0][1].tolist()))
    declared: list[dict[str, Any]] = [{"model": "k_anonymity", "k": k}]
    if 1 < least_values <= occurring:
        declared.append({"model": "l_diversity", "attribute": "s", "l": least_values})
    else:
        least_values = 1
    try:
        guarantees = compile_guarantees(declared, table)
    except SearchError:
        return
    rounds = local_rounds(table, guarantees, LOSS)
    released, left = replay(table, rounds, k, least_values)
    assert released == [count for _, count in rounds]
    assert all(released)
    everybody = list(range(len(table.leaves)))
    assert not (left and is_class(table, everybody, k, least_values))
    assert rounds == local_rounds(table, guarantees, LOSS)


def test_the_rest_is_released_together_with_an_earlier_round() -> None:
    # Two groups of five, and two who are like nobody: alone they are too few.
    a = attribute("a", [0, 0, 1, 1, 2])
    leaves = np.array([[0], [2], [4]])
    table = Table((a,), leaves=leaves, records=np.array([5, 5, 2]))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 3}], table)
    rounds = local_rounds(table, guarantees, LOSS, smallest_share=Decimal("0.5"))
    assert rounds == [((2,), 12)]


def test_each_round_releases_at_least_its_share() -> None:
    draws = np.random.default_rng(1)
    a, b = attribute("a", list(range(40))), attribute("b", list(range(40)))
    leaves = np.unique(draws.geometric(0.15, (400, 2)).clip(1, 40) - 1, axis=0)
    table = Table((a, b), leaves=leaves, records=draws.integers(1, 5, len(leaves)))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 4}], table)
    for share in ("0.01", "0.2", "1"):
        rounds = local_rounds(table, guarantees, LOSS, smallest_share=Decimal(share))
        assert sum(count for _, count in rounds) == table.total
        assert len(rounds) <= 1 / Decimal(share) + 1
    assert rounds == local_rounds(table, guarantees, LOSS, smallest_share=Decimal(1))


def test_time_that_is_up_still_leaves_nobody() -> None:
    a = attribute("a", [0, 0, 1, 1, 2])
    table = Table((a,), leaves=np.array([[0], [1], [4]]), records=np.array([2, 1, 1]))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    rounds = local_rounds(table, guarantees, LOSS, time_limit=0)
    assert sum(count for _, count in rounds) == 4


def test_nobody_is_released_where_all_are_too_few() -> None:
    a = attribute("a", [0, 0, 1, 1, 2])
    table = Table((a,), leaves=np.array([[0], [4]]), records=np.array([2, 1]))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 4}], table)
    assert local_rounds(table, guarantees, LOSS) == []


def test_a_population_is_refused() -> None:
    a = attribute("a", [0, 0, 1, 1, 2])
    table = Table((a,), leaves=np.array([[0]]), records=np.array([2]))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    known = Table((a,), table.leaves, table.records, population=np.array([3]))
    with pytest.raises(SearchError, match="without a population"):
        local_rounds(known, guarantees, LOSS)


def rare_class(records: int, step: int) -> Table:
    """Return a table of three attributes in which every class has 7 % of a rare value at most."""
    rng = np.random.default_rng(1)
    sizes = (40, 20, 12)
    attributes = tuple(
        attribute(name, [i // 4 for i in range(size)])
        for name, size in zip("abc", sizes, strict=True)
    )
    leaves = np.column_stack([rng.integers(0, size, records) for size in sizes])
    values = (np.arange(records) % step == 0).astype(np.int64)
    return Table(
        attributes,
        leaves=leaves,
        records=np.ones(records, dtype=np.int64),
        sensitive=((SensitiveAttribute("s", 2), values),),
        targets=((values, 1.0),),
    )


@pytest.mark.parametrize("measure", ["classification_metric", "loss"])
def test_rounds_by_a_measure_of_classes_check_a_bounded_number_of_nodes(
    measure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_recoding, "CHECKS_OF_A_ROUND", 3)
    found: list[SearchResult] = []

    def kept(*args: Any, **named: Any) -> SearchResult:
        found.append(search(*args, **named))
        return found[-1]

    monkeypatch.setattr(local_recoding, "search", kept)
    table = rare_class(600, 14)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 10}], table)
    rounds = local_rounds(table, guarantees, make_loss(measure, gs=0.05))
    assert sum(count for _, count in rounds) == 600
    # The loss bounds nodes before they are checked.
    checked = [one.checked for one in found]
    is_bounded = max(checked) <= 5
    assert is_bounded == (measure != "loss")
    assert any(one.is_complete for one in found) == (measure == "loss")


@pytest.mark.parametrize(
    ("measure", "k", "expected"),
    [
        ("classification_metric", 10, True),
        ("loss", 10, False),
        ("classification_metric", 500, False),
    ],
)
def test_a_measure_is_flat_where_levels_that_tell_something_lose_no_less_than_the_root(
    measure: str, k: int, expected: bool
) -> None:
    table, limit = rare_class(600, 14), Decimal("0.05")
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}], table)
    loss = make_loss(measure)
    result = search(table, guarantees, loss, limit)
    task = SimpleNamespace(
        table=table, guarantees=guarantees, loss=lambda: loss, suppression_limit=limit
    )
    assert result.optimum is not None
    assert is_flat(cast("Task", task), result.optimum) is expected
