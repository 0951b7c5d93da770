"""A column that tells an identifier is found row by row, and one that agrees by chance is not."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Sequence
from datetime import date, timedelta

import numpy as np
import pytest

from dbt_anonymize.extensions.identifier_search.agreement import SampledColumn, agreement

DRAW = np.random.default_rng(33)
ROWS = 300


def column(values: Sequence[object]) -> SampledColumn:
    """Return values as a database gives them: text, and a number of numbers, dates and digits."""
    texts = [None if value is None else str(value) for value in values]
    return SampledColumn.of(texts, [*map(number, values)])


def number(value: object) -> object:
    if isinstance(value, date):
        return value.toordinal()
    if isinstance(value, str):
        digits = "".join(filter(str.isdecimal, value))
        return int(digits) if digits and len(digits) < 30 else None
    return value


def codes(digits: int, rows: int = ROWS) -> list[int]:
    drawn = DRAW.choice(10**digits - 10 ** (digits - 1), rows, replace=False)
    return [int(one) + 10 ** (digits - 1) for one in drawn]


def reordered(text: str) -> str:
    return text[2:] + text[:2]


CHANGES: dict[str, Callable[[int], object]] = {
    "itself": lambda n: n,
    "as text": lambda n: f"{n:08}",
    "shift": lambda n: n + 7,
    "factor": lambda n: -n * 3,
    "shift and factor": lambda n: n * 0.5 + 3,
    "prefix": lambda n: f"PAT-{n}",
    "digits before": lambda n: int(f"99{n}"),
    "order of digits": lambda n: reordered(str(n)),
    "reversed": lambda n: int(str(n)[::-1]),
    "md5": lambda n: hashlib.md5(str(n).encode()).hexdigest(),  # noqa: S324 (of what is tested)
    "end of sha256": lambda n: hashlib.sha256(str(n).encode()).hexdigest()[:10].upper(),
    "sha512 in base 64": lambda n: base64.b64encode(hashlib.sha512(str(n).encode()).digest()),
    "a number of md5": lambda n: int(hashlib.md5(str(n).encode()).hexdigest()[:15], 16),  # noqa: S324
    "checksum": lambda n: zlib.crc32(str(n).encode()),
}


@pytest.mark.parametrize("digits", [4, 6])
@pytest.mark.parametrize("change", CHANGES)
def test_a_one_to_one_function_of_an_identifier_is_found(change: str, digits: int) -> None:
    secret = codes(digits)
    changed = [CHANGES[change](n) for n in secret]
    shown = [one.decode() if isinstance(one, bytes) else one for one in changed]
    found = agreement(column(shown), column(secret))
    assert found is not None
    assert (found.matches, found.rows) == (ROWS, ROWS)
    # A few corrected ones hide nothing.
    mixed = [*shown[:-20], *DRAW.permutation(np.array(shown[-20:], dtype=object))]
    assert agreement(column(mixed), column(secret)) is not None


def test_a_key_that_repeats_dates_and_codes_are_found() -> None:
    patients = DRAW.permutation(np.repeat(codes(4, 60), 10)).tolist()
    assert agreement(column([n + 1 for n in patients]), column(patients)) is not None
    days = [date(2020, 1, 1) + timedelta(int(n)) for n in DRAW.integers(0, 900, ROWS)]
    for shown in (
        [day + timedelta(30) for day in days],
        [f"{day:%d.%m.%Y}" for day in days],
        [int(f"{day:%Y%m%d}") for day in days],
        [(day - date(1970, 1, 1)).days for day in days],
    ):
        assert agreement(column(shown), column(days)) is not None
    names = [f"{chr(65 + n % 26)}{n}" for n in codes(2, 90)]
    assert agreement(column([f"ward {name.lower()}" for name in names]), column(names)) is not None


def test_a_part_of_the_values_is_found_where_each_finds_a_record() -> None:
    secret = codes(4)
    some = [
        n if row % 5 == 0 else other
        for row, (n, other) in enumerate(zip(secret, codes(4), strict=True))
    ]
    found = agreement(column(some), column(secret))
    assert found is not None
    assert found.relation == "equals it"
    assert found.matches >= ROWS // 5


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 6])
def test_agreement_by_chance_is_no_finding(digits: int) -> None:
    low = 10 ** (digits - 1)
    for _ in range(4):
        drawn = [DRAW.integers(low, 10 * low, ROWS).tolist() for _ in range(2)]
        assert agreement(*map(column, drawn)) is None
        # The same values, of other people.
        assert agreement(column(DRAW.permutation(drawn[0]).tolist()), column(drawn[0])) is None


def test_columns_that_only_depend_on_each_other_are_no_finding() -> None:
    key = np.arange(ROWS)
    birth = DRAW.integers(1940, 2010, ROWS)
    insured = DRAW.random(ROWS) < 0.97
    phones = [f"0{area}{n}" for area, n in zip(DRAW.integers(20, 60, ROWS), codes(6), strict=True)]
    pairs = [
        # Later records have later days, a rank the same order.
        (key // 3 + DRAW.integers(0, 3, ROWS), key),
        (np.sort(DRAW.choice(10_000, ROWS, replace=False)), key),
        (birth // 10, birth),
        (
            np.where(insured, "yes", "no"),
            np.where(insured ^ (DRAW.random(ROWS) < 0.02), "yes", "no"),
        ),
        ([phone[:3] for phone in phones], phones),
        ([f"{n % 7} of 7" for n in key], key),
    ]
    for shown, secret in pairs:
        found = agreement(*(column(np.array(values).tolist()) for values in (shown, secret)))
        assert found is None, found


def test_few_records_prove_nothing() -> None:
    assert agreement(column([1, 2, 3, None]), column([1, 2, 3, 4])) is None
    flags = [0] * 39 + [1]
    assert agreement(column(flags), column(flags)) is None
    assert agreement(column([None, None]), column([1, 2])) is None
