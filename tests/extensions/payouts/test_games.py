"""Payouts and break-even points of an effort, from the definition of a payout."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.payouts.compiled import GAMES
from tests.oracle.privacy import Class, Guarantee, payout
from tests.properties.warehouse import Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import PROPERTY

# Effort, subjects, leaves covered of 8 and records beside the first of each subject.
ONE = st.tuples(st.integers(1, 3), st.integers(1, 7), st.integers(1, 8), st.integers(0, 2))


def paid(game: Guarantee, members: list[Class], records: list[int]) -> float:
    return sum(n * payout(game, one) for n, one in zip(records, members, strict=True))


@examples(PROPERTY, 40)
@given(drawn=st.lists(ONE, min_size=1, max_size=12))
def test_break_even_points_are_where_the_game_turns(
    warehouse: Warehouse, drawn: list[tuple[int, int, int, int]]
) -> None:
    efforts: dict[int, tuple[list[Class], list[int]]] = defaultdict(lambda: ([], []))
    rows = []
    for effort, size, leaves, more in drawn:
        one = Class(size, covered=[(Fraction(leaves), 8)])
        efforts[effort][0].append(one)
        efforts[effort][1].append(size + more)
        loss = payout({**GAMES[None], "publisher_benefit": 1, "publisher_loss": 0}, one)
        rows.append((effort, size, 1 - loss, size + more))
    columns = {"effort": "int", "class_size": "int", "class_loss": "double", "records": "int"}
    warehouse.load("game_classes", columns, rows)
    found = {row["effort"]: row for row in warehouse.rows("game_payouts")}
    assert set(found) == set(efforts)
    for effort, (classes, records) in efforts.items():
        game, row = GAMES.get(effort, GAMES[None]), found[effort]
        total = paid(game, classes, records)
        assert row["publisher_payout_total"] == pytest.approx(total, abs=1e-9)
        free = {**game, "publisher_loss": 0}
        # At the break-even gain an attack is no threat yet; above it, it is.
        gain = round(row["break_even_gain"], 9)
        assert paid({**game, "adversary_gain": gain}, classes, records) == pytest.approx(
            paid(free, classes, records)
        )
        above = {**game, "adversary_gain": gain + 0.001}
        assert paid(above, classes, records) < paid(free, classes, records)
        is_attacked = paid(game, classes, records) < paid(free, classes, records) - 1e-12
        assert (row["break_even_loss"] is not None) == is_attacked
        if is_attacked:
            even = {**game, "publisher_loss": row["break_even_loss"]}
            assert paid(even, classes, records) == pytest.approx(0, abs=1e-6)
