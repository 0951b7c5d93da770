"""Noise by cell keys: its table against other solvers and a published one, and its use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.cell_keys import (
    KEYS,
    PerturbationTable,
    most_even,
    perturbation_table,
    perturbed,
    read_perturbation_table,
)

DESIGNS = [
    (1.0, 2, ()),
    (2.0, 5, ()),
    (2.0, 5, (1, 2)),
    (3.0, 4, (2,)),
    (4.0, 7, (1, 2)),
    (0.3, 3, ()),
    (10.0, 12, (1, 2, 3, 4)),
]
designs = pytest.mark.parametrize(("variance", "largest", "forbidden"), DESIGNS)


def support(count: int, largest: int, forbidden: tuple[int, ...]) -> list[int]:
    """Return the changes that a count may have, by the definition."""
    return [
        change
        for change in range(-largest, largest + 1)
        if count + change >= 0 and count + change not in forbidden
    ]


def reachable(changes: list[int]) -> tuple[float, float]:
    """Return the smallest and the largest variance with mean 0, by linear programs."""
    squares = np.square(changes)
    equalities = {"A_eq": [np.ones(len(changes)), changes], "b_eq": [1, 0]}
    least = linprog(squares, **equalities)
    most = linprog(-squares, **equalities)
    return float(least.fun), float(-most.fun)


def possible(table: PerturbationTable, count: int) -> dict[int, float]:
    """Return the possible changes of a count with their probabilities."""
    row = table.probabilities[count]
    return {int(place) - table.largest: float(row[place]) for place in np.flatnonzero(row)}


@designs
def test_rows_keep_what_is_demanded(
    variance: float, largest: int, forbidden: tuple[int, ...]
) -> None:
    table = perturbation_table(variance=variance, largest=largest, forbidden=forbidden)
    probabilities = table.probabilities
    assert probabilities.shape == (max(forbidden, default=-1) + largest + 2, 2 * largest + 1)
    np.testing.assert_array_equal(probabilities.sum(axis=1), 1)  # of whole keys
    assert probabilities[0, largest] == 1
    unreached = table.unreached(variance)
    for count in range(1, table.rows):
        changes = support(count, largest, forbidden)
        is_possible = np.isin(np.arange(-largest, largest + 1), changes)
        assert not probabilities[count, ~is_possible].any()
        least, most = reachable(changes)
        nearest = min(max(variance, least), most)
        assert table.variances[count] == pytest.approx(nearest, abs=1e-6)
        assert table.means[count] == pytest.approx(0, abs=largest / KEYS)
        assert (count in unreached) == (abs(nearest - variance) > 1e-3)
        if count in unreached:
            assert unreached[count] == pytest.approx(nearest, abs=1e-6)


def test_the_last_row_is_the_first_that_no_longer_depends_on_the_count() -> None:
    for _, largest, forbidden in DESIGNS:
        table = perturbation_table(variance=2, largest=largest, forbidden=forbidden)
        last = table.rows - 1
        supports = [support(count, largest, forbidden) for count in range(last - 1, last + 5)]
        assert supports[0] != supports[1]
        assert all(one == supports[1] for one in supports[1:])


@pytest.mark.parametrize(
    ("count", "variance", "largest", "forbidden"),
    [
        (1, 1.0, 2, ()),
        (1, 2.0, 5, ()),
        (1, 4.0, 7, (1, 2)),
        (2, 3.0, 5, (1, 2)),
        (4, 2.0, 5, (1, 2)),
        (9, 2.0, 5, ()),
        (3, 3.0, 4, (2,)),
    ],
)
def test_no_other_distribution_has_more_entropy(
    count: int, variance: float, largest: int, forbidden: tuple[int, ...]
) -> None:
    changes = np.array(support(count, largest, forbidden))
    least, most = reachable(list(changes))
    assert least < variance < most
    ours = most_even(changes, variance)
    found = minimize(
        lambda p: np.sum(p * np.log(p)),
        np.full(len(changes), 1 / len(changes)),
        jac=lambda p: np.log(p) + 1,
        bounds=[(1e-12, 1)] * len(changes),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": lambda p: p @ changes},
            {"type": "eq", "fun": lambda p: p @ changes**2 - variance},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert found.success
    np.testing.assert_allclose(ours, found.x, atol=1e-5)
    assert np.sum(ours * np.log(ours)) <= found.fun + 1e-9


def test_moments_are_exact_before_probabilities_become_keys() -> None:
    for largest in (1, 2, 7, 100):
        for variance in (
            0.01,
            0.5,
            1.9999999,
            2,
            largest - 1e-6,
            largest**2 / 2,
            largest**2 - 1e-6,
        ):
            for count in (1, 2, 3, largest, largest + 1):
                changes = np.array(support(count, largest, ()))
                probabilities = most_even(changes, variance)
                nearest = min(variance, reachable(list(changes))[1])
                assert probabilities.sum() == pytest.approx(1, abs=1e-12)
                assert probabilities @ changes == pytest.approx(0, abs=1e-12 * largest)
                squares = probabilities @ changes**2
                assert squares == pytest.approx(nearest, rel=1e-8, abs=1e-9 * largest**2)


def test_the_bounds_of_the_variance_are_two_points() -> None:
    table = perturbation_table(variance=50, largest=5, forbidden=(1, 2))
    assert possible(table, 1) == pytest.approx({-1: 5 / 6, 5: 1 / 6})
    assert table.unreached(50)[1] == pytest.approx(5)
    small = perturbation_table(variance=0.5, largest=5, forbidden=(1, 2))
    assert possible(small, 1) == pytest.approx({-1: 2 / 3, 2: 1 / 3})
    assert small.unreached(0.5) == pytest.approx({1: 2, 2: 2})


def test_rows_are_those_of_statistical_offices() -> None:
    """Compare with a table of the R package ptable (D = 7, V = 4, js = 2), an example of tau-ARGUS.

    Its rows 4 and 5 alone differ: there it also keeps a count at least as likely as it changes it.
    """
    table = perturbation_table(variance=4, largest=7, forbidden=(1, 2))
    published = {
        1: {-1: 0.77508, 2: 0.08736, 3: 0.05076, 4: 0.03234, 5: 0.0226, 6: 0.01732, 7: 0.01455},
        3: {-3: 0.25144, 0: 0.31958, 1: 0.22238, 2: 0.12403},
        6: {-6: 0.00744, -3: 0.09217, -2: 0.14311, -1: 0.18198, 0: 0.18953, 1: 0.16167},
        10: {0: 0.19926, 1: 0.1759, 2: 0.121, 3: 0.06487, 4: 0.0271, 5: 0.00882, 6: 0.00224},
    }
    for count, row in published.items():
        for change, share in row.items():
            assert table.probabilities[count, change + 7] == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variance": 0, "largest": 2}, "variance must be a number > 0"),
        ({"variance": float("nan"), "largest": 2}, "variance must be a number > 0"),
        ({"variance": 1, "largest": 0}, "largest must be an int >= 1"),
        ({"variance": 1, "largest": 2, "forbidden": [0, 1]}, "forbidden must have ints >= 1"),
        ({"variance": 1, "largest": 1, "forbidden": [1, 2]}, "Set largest to 2 or"),
    ],
)
def test_impossible_designs_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        perturbation_table(**arguments)  # type: ignore[arg-type]


def test_what_is_advised_for_a_largest_change_that_is_too_small_works() -> None:
    for forbidden in ([1, 2], [5], [1, 2, 3, 4, 5, 6], [3, 9]):
        assert perturbation_table(variance=1, largest=max(forbidden), forbidden=forbidden).rows


def test_a_change_owns_its_first_key_and_not_that_of_the_next() -> None:
    table = PerturbationTable(np.array([0, 100, 100 + 20, 100 + 50]), np.array([0, -1, 0, 3]), 100)
    keys = np.array([0, 19, 20, 49, 50, 99, 100, 119, 120])
    one = np.full(len(keys), 1)
    assert perturbed(one, keys, table).tolist() == [0, 0, 1, 1, 4, 4, 0, 0, 1]
    assert perturbed(one * 0, keys, table).tolist() == [0] * len(keys)
    assert perturbed(one * 9, keys, table).tolist() == [8, 8, 9, 9, 12, 12, 8, 8, 9]
    np.testing.assert_allclose(table.probabilities[1, 2:], [0.2, 0.3, 0, 0, 0.5])


@designs
def test_noise_is_that_of_the_cumulated_distribution(
    variance: float, largest: int, forbidden: tuple[int, ...]
) -> None:
    """Look every cell up by the definition, in floats: the smallest v with u < F(v)."""
    table = perturbation_table(variance=variance, largest=largest, forbidden=forbidden)
    random = np.random.default_rng(37)
    counts, sums = random.integers(0, 30, 500), random.integers(0, 2**50, 500)
    for count, key_sum, result in zip(counts, sums, perturbed(counts, sums, table), strict=True):
        row = table.probabilities[min(count, table.rows - 1)]
        uniform = int(key_sum) % KEYS / KEYS
        change = int(np.argmax(uniform < np.cumsum(row))) - table.largest
        assert result == count + change


@designs
def test_noise_of_many_cells_has_the_demanded_moments(
    variance: float, largest: int, forbidden: tuple[int, ...]
) -> None:
    table = perturbation_table(variance=variance, largest=largest, forbidden=forbidden)
    random = np.random.default_rng(37)
    cells = 40_000
    for count in (0, 1, 2, 3, largest, 1000):
        # Sums of three keys: uniform modulo 2^32, as single ones.
        sums = random.integers(0, KEYS, (cells, 3)).sum(axis=1)
        results = perturbed(np.full(cells, count), sums, table)
        assert results.min() >= 0
        assert not np.isin(results, forbidden).any()
        changes = results - count
        assert np.abs(changes).max() <= largest
        if count == 0:
            assert not changes.any()
            continue
        expected = table.variances[min(count, table.rows - 1)]
        assert abs(changes.mean()) < 4 * np.sqrt(expected / cells)
        error_of_square = np.std(changes**2) / np.sqrt(cells)
        assert abs(np.mean(changes**2) - expected) < 4 * error_of_square + 1e-6


def test_the_same_cell_has_the_same_noise_in_every_table() -> None:
    """Count wards by age and by month: in one month alone both have the cells of that month."""
    random = np.random.default_rng(37)
    records = 3_000
    ward, age, month = random.integers(0, 6, records), random.integers(0, 9, records), 4
    months = random.integers(0, 12, records)
    keys = random.integers(0, KEYS, records)
    table = perturbation_table(variance=2, largest=5, forbidden=(1, 2))

    def released(codes: np.ndarray, size: int, chosen: np.ndarray) -> np.ndarray:
        counts = np.bincount(codes[chosen], minlength=size)
        sums = np.zeros(size, dtype=np.int64)
        np.add.at(sums, codes[chosen], keys[chosen])
        return perturbed(counts, sums, table)

    everyone = np.arange(records)
    by_all = released((ward * 9 + age) * 12 + months, 6 * 9 * 12, everyone).reshape(6, 9, 12)
    shuffled = random.permutation(everyone[months == month])  # another order, another query
    by_ward_and_age = released(ward * 9 + age, 6 * 9, shuffled).reshape(6, 9)
    np.testing.assert_array_equal(by_all[:, :, month], by_ward_and_age)
    # One more record is another cell, with noise of its own.
    counts = np.full(20_000, 50)
    sums = random.integers(0, 2**40, 20_000)
    with_one = perturbed(counts + 1, sums + random.integers(0, KEYS, 20_000), table) - 51
    noise = perturbed(counts, sums, table) - 50
    assert abs(np.corrcoef(noise, with_one)[0, 1]) < 4 / np.sqrt(20_000)


def test_large_and_unsigned_sums_are_exact() -> None:
    table = perturbation_table(variance=2, largest=5)
    sums = np.array([2**63 - 1, 2**62 + 12345, 2**53 + 1])
    small = np.array([int(one) % KEYS for one in sums])
    counts = np.array([5, 9, 10**12])
    expected = perturbed(counts, small, table).tolist()
    assert perturbed(counts, sums, table).tolist() == expected
    assert perturbed(counts.astype(np.uint64), sums.astype(np.uint64), table).tolist() == expected
    cube = perturbed(counts.reshape(3, 1), sums.reshape(3, 1), table)
    assert cube.tolist() == [[one] for one in expected]
    assert perturbed(np.array([], dtype=int), np.array([], dtype=int), table).size == 0


@pytest.mark.parametrize(
    ("counts", "sums", "message"),
    [
        ([1.0], [1], "counts must be integers"),
        ([1], [0.5], "key_sums must be integers"),
        ([-1], [1], "counts must be at least 0"),
        ([1], [-1], "key_sums must be at least 0"),
        ([1, 2], [1], "one shape"),
    ],
)
def test_what_is_not_exact_is_refused(counts: list[float], sums: list[float], message: str) -> None:
    table = perturbation_table(variance=1, largest=2)
    with pytest.raises(ValueError, match=message):
        perturbed(np.array(counts), np.array(sums), table)


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_table_of_an_office_is_read(tmp_path: Path) -> None:
    changes = {1: (0, -1, 0, 2), 2: (-2, 1, 1, 0), 3: (3, -1, -1, -1)}
    lines = [
        f'{key},"x",{change},{count}'
        for count, row in reversed(changes.items())
        for key, change in enumerate(row)
    ]
    path = write(tmp_path / "table.csv", ['"ckey","note","pvalue","pcv"', *lines])
    table = read_perturbation_table(path)
    assert (table.keys, table.rows, table.period, table.largest) == (4, 4, 1, 3)
    for count in range(7):
        row = changes.get(min(count, 3), (0,) * 4) if count else (0,) * 4
        for key_sum in range(12):
            (result,) = perturbed(np.array([count]), np.array([key_sum]), table)
            assert result == count + row[key_sum % 4]
    np.testing.assert_allclose(table.means, [0, 0.25, 0, 0])
    in_turn = read_perturbation_table(path, period=2)
    results = perturbed(np.arange(2, 8), np.zeros(6, dtype=int), in_turn) - np.arange(2, 8)
    assert results.tolist() == [-2, 3, -2, 3, -2, 3]


def test_rows_of_zero_may_stand_in_the_file(tmp_path: Path) -> None:
    lines = ["pcv,ckey,pvalue", "0,0,0", "0,1,0", "1,0,-1", "1,1,1"]
    table = read_perturbation_table(write(tmp_path / "table.csv", lines))
    assert perturbed(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), table).tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["pcv,ckey,change", "1,0,0"], "it lacks pvalue"),
        (["pcv;ckey;pvalue", "1;0;0"], "it lacks pcv, ckey, pvalue"),
        ([], "it lacks pcv, ckey, pvalue"),
        (["pcv,ckey,pvalue"], "a header alone"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,some"], "integers alone"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,0.5"], "integers alone"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1"], "integers alone"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,0", "1,1,0"], "every ckey from 0 to 1 once"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,0", "2,1,0"], "every ckey from 0 to 1 once"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,0", "3,0,0", "3,1,0"], "every pcv from 1 to 3"),
        (["pcv,ckey,pvalue", "2,0,0", "2,1,0"], "every pcv from 1 to 2"),
        (["pcv,ckey,pvalue", "1,-1,0", "1,0,0"], "every ckey from 0 to 0 once"),
        (["pcv,ckey,pvalue", "1,0,0", "1,4000000000,0"], "every ckey from 0 to 4000000000 once"),
        (["pcv,ckey,pvalue", "1,0,0", "1,1,0", "1,0,0", "2,1,0"], "every pcv from 1 to 2"),
        (["pcv,ckey,pvalue", "0,0,0"], "every pcv from 1 to 0"),
        (["pcv,ckey,pvalue", "1,0,-2"], "make no count negative"),
        (["pcv,ckey,pvalue", "0,0,1", "1,0,0"], "leave zeros as they are"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    path = write(tmp_path / "table.csv", lines)
    with pytest.raises(SpecError, match=message):
        read_perturbation_table(path)


def test_a_missing_file_and_an_impossible_period_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read"):
        read_perturbation_table(tmp_path / "missing.csv")
    path = write(tmp_path / "table.csv", ["pcv,ckey,pvalue", "1,0,0"])
    for period in (0, 2):
        with pytest.raises(SpecError, match=f"period must be an int from 1 to 1; got {period}"):
            read_perturbation_table(path, period=period)
