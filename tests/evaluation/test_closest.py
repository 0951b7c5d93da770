"""The closest released row."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.evaluation.data import closest
from dbt_anonymize.evaluation.data.closest import closest_rows


@pytest.fixture(params=["tree", "row by row", "blocks", "at once"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search in every way."""
    blocks = {"tree": 1, "row by row": 1, "blocks": 100, "at once": 10_000_000}
    monkeypatch.setattr(closest, "_BLOCK", blocks[request.param])
    distances = 0 if request.param == "tree" else 10_000_000
    monkeypatch.setattr(closest, "_TREE_DISTANCES", distances)


@pytest.mark.usefixtures("_way")
def test_the_closest_row_is_that_of_a_plain_search() -> None:
    draws = np.random.default_rng(5)
    released = draws.normal(size=(40, 3)) * [1, 1000, 0.001] + [0, 50_000, 2]
    counts = draws.integers(1, 9, 40)
    asked = released[draws.integers(0, 40, 30)] + draws.normal(size=(30, 3)) * [0.3, 300, 0.0003]
    deviation = np.repeat(released, counts, axis=0).std(axis=0)
    distances = (((asked[:, None] - released[None]) / deviation) ** 2).sum(axis=2)
    assert closest_rows(asked, released, counts).tolist() == distances.argmin(axis=1).tolist()


@pytest.mark.usefixtures("_way")
def test_of_many_that_are_equally_close_the_first_is_taken() -> None:
    side = np.arange(6.0)
    released = np.stack(np.meshgrid(side, 100 * side, side / 7), axis=-1).reshape(-1, 3)
    released = np.random.default_rng(2).permutation(released)
    middle = np.array([0.5, 50.0, 0.5 / 7])
    between = np.random.default_rng(3).permutation(released)[:80] + middle
    found = closest_rows(between, released, np.ones(len(released), dtype=np.int64))
    deviation = released.std(axis=0)
    for row, at in zip(between, found, strict=True):
        distances = (((released - row) / deviation) ** 2).sum(axis=1)
        assert at == np.flatnonzero(distances <= distances.min() + 1e-9)[0]


def test_a_tree_is_only_used_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    for way in ("_closest_by_tree", "_closest_by_distance_matrix"):
        monkeypatch.setattr(closest, way, lambda *_, way=way: used.append(way))
    draws = np.random.default_rng(1)
    for rows, features in ((2000, 3), (2000, 30), (20, 3)):
        data = draws.normal(size=(rows, features))
        closest_rows(data, data, np.ones(rows, dtype=np.int64))
    assert used == [
        "_closest_by_tree",
        "_closest_by_distance_matrix",
        "_closest_by_distance_matrix",
    ]


@pytest.mark.usefixtures("_way")
def test_of_several_the_first_is_taken_and_a_constant_does_not_matter() -> None:
    released = np.array([[3.0, 0.1], [1.0, 0.1], [5.0, 0.1]])
    asked = np.array([[2.0, 0.1], [4.0, 0.7], [0.0, 0.1], [9.0, -0.2]])
    assert closest_rows(asked, released, np.array([3, 1, 1])).tolist() == [0, 0, 1, 2]


@pytest.mark.usefixtures("_way")
def test_a_single_row_is_closest_to_all() -> None:
    assert closest_rows(np.array([[1.0], [9.0]]), np.array([[4.0]]), np.array([2])).tolist() == [
        0,
        0,
    ]
