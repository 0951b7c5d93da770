"""Rounding by cell keys: unbiased, repeatable, and apart from the noise of the same keys."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import murmurhash3_32

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.cell_keys import KEYS, perturbation_table, perturbed
from dbt_anonymize.extensions.tables.rounding import mixed, rounded

CELLS = 40_000


@pytest.mark.parametrize("base", [2, 3, 5, 10, 7])
def test_rounding_is_unbiased_and_has_the_least_variance(base: int) -> None:
    random = np.random.default_rng(37)
    for count in range(2 * base + 1):
        sums = random.integers(0, KEYS, (CELLS, 3)).sum(axis=1)
        results = rounded(np.full(CELLS, count), sums, base)
        rest = count % base
        assert set(results) == ({count} if rest == 0 else {count - rest, count - rest + base})
        # Of a choice between two values.
        assert (
            abs(np.mean(results > count) - rest / base)
            < 4 * np.sqrt(rest * (base - rest) / base**2 / CELLS)
            or not rest
        )
        variance = rest * (base - rest)
        assert np.var(results) == pytest.approx(variance, abs=4 * base**2 / np.sqrt(CELLS))
        assert abs(results.mean() - count) <= 4 * np.sqrt(variance / CELLS)


def test_the_limit_between_down_and_up_is_that_of_exact_fractions() -> None:
    random = np.random.default_rng(37)
    sums = random.integers(0, 2**45, 300)
    counts, base = random.integers(0, 10**6, 300), 2**31 - 1
    for each_base in (2, 3, 5, 1000, base):
        for count, key_sum, result in zip(
            counts, sums, rounded(counts, sums, each_base), strict=True
        ):
            level = murmurhash3_32(b"", int(key_sum) % KEYS ^ 0x9E3779B9, positive=True)
            below, rest = divmod(int(count), each_base)
            assert result == each_base * (below + (level * each_base < rest * KEYS))


def test_mixing_is_that_of_murmurhash() -> None:
    keys = np.random.default_rng(37).integers(0, KEYS, 1_000)
    expected = [murmurhash3_32(b"", seed=int(key), positive=True) for key in keys]
    assert mixed(keys).tolist() == expected


def test_uniform_keys_stay_uniform() -> None:
    """Mixing is one to one: it can be undone step by step, in integers of Python."""
    for key in np.random.default_rng(37).integers(0, KEYS, 500).tolist():
        (back,) = mixed(np.array([key])).tolist()
        back ^= back >> 16
        back = back * pow(0xC2B2AE35, -1, KEYS) % KEYS
        back ^= back >> 13 ^ back >> 26
        back = back * pow(0x85EBCA6B, -1, KEYS) % KEYS
        assert back ^ back >> 16 == key


def test_the_same_cell_is_rounded_alike_everywhere() -> None:
    random = np.random.default_rng(37)
    counts, sums = random.integers(0, 50, 1_000), random.integers(0, 2**45, 1_000)
    once = rounded(counts, sums, 5)
    order = random.permutation(1_000)
    np.testing.assert_array_equal(rounded(counts[order], sums[order], 5), once[order])
    np.testing.assert_array_equal(rounded(counts, sums % KEYS, 5), once)
    cube = rounded(counts.reshape(10, 10, 10), sums.reshape(10, 10, 10).astype(np.uint64), 5)
    np.testing.assert_array_equal(cube.reshape(-1), once)


def test_rounding_does_not_follow_the_noise_of_the_same_keys() -> None:
    random = np.random.default_rng(37)
    counts, sums = np.full(CELLS, 52), random.integers(0, KEYS, CELLS)
    noise = perturbed(counts, sums, perturbation_table(variance=2, largest=5)) - counts
    change = rounded(counts, sums, 5) - counts
    assert abs(np.corrcoef(noise, change)[0, 1]) < 4 / np.sqrt(CELLS)
    # Nor when keys are neighbours, as sums of counted numbers would be.
    neighbours = rounded(counts, np.arange(CELLS), 5) - counts
    assert abs(np.corrcoef(neighbours[1:], neighbours[:-1])[0, 1]) < 4 / np.sqrt(CELLS)


def test_zeros_and_no_cells_stay() -> None:
    random = np.random.default_rng(37)
    zeros = np.zeros(1_000, dtype=np.int64)
    assert not rounded(zeros, random.integers(0, KEYS, 1_000), 5).any()
    assert rounded(zeros[:0], zeros[:0], 5).size == 0
    # Also where the mixed key is 0, which is below every other.
    lowest = np.full(3, 0x9E3779B9)
    assert rounded(np.array([0, 5, 6]), lowest, 5).tolist() == [0, 5, 10]


@pytest.mark.parametrize("base", [-5, 0, 1, 2**31])
def test_a_base_out_of_its_range_is_refused(base: int) -> None:
    with pytest.raises(SpecError, match=f"base must be an int from 2 to 2147483647; got {base}"):
        rounded(np.array([1]), np.array([1]), base)


@pytest.mark.parametrize(
    ("counts", "sums", "message"),
    [
        ([1.0], [1], "counts must be integers"),
        ([1], [0.5], "key_sums must be integers"),
        ([-1], [1], "counts must be at least 0"),
        ([1, 2], [1], "one shape"),
    ],
)
def test_what_is_not_exact_is_refused(counts: list[float], sums: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rounded(np.array(counts), np.array(sums), 5)
