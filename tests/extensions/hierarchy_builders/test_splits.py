"""A last level in two or three parts, of about equally many records, before everything is `*`."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.growing import growing_intervals
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.extensions.hierarchy_builders.splits import even_bounds, split_at
from dbt_anonymize.hierarchies.bounds import Bound, parse_bound


def of_each(*counts: int) -> dict[Bound, int]:
    """Return so many records in each of the intervals of ten."""
    return {Decimal(10 * place): count for place, count in enumerate(counts)}


@pytest.mark.parametrize(
    ("counts", "bounds"),
    [
        ((10, 10, 10), []),
        ((10, 10, 10, 0, 0), []),  # three have records
        ((10, 10, 10, 10), [20]),
        ((30, 10, 10, 10), [10]),
        ((0, 10, 10, 10, 10), [30]),
        ((10,) * 7, [20, 40]),
        ((200, 5, 5, 5), []),  # a part would tell of few
        ((40, 20, 10, 5, 5, 5, 5), [10, 20]),
        ((), []),
    ],
)
def test_parts_are_as_even_as_bounds_allow(counts: tuple[int, ...], bounds: list[int]) -> None:
    tens = equal_width_intervals(0, 10 * max(len(counts), 4), [5, 10])
    found = even_bounds(tens, of_each(*counts))
    assert found == tuple(map(Decimal, bounds))
    built = split_at(tens, found)
    assert built.levels == tens.levels + bool(bounds)
    assert len({*built.labels[-2]}) == (len(bounds) + 1 if bounds else len({*tens.labels[-2]}))
    assert violations(built) == ()


def test_amounts_of_a_long_tail_are_parted_where_records_are() -> None:
    draw = np.random.default_rng(1).lognormal(8, 2, 3000)
    records: dict[Bound, int] = {Decimal(int(one)): 1 for one in draw}
    growing = growing_intervals(records)  # type: ignore[arg-type]
    built = split_at(growing, even_bounds(growing, records))
    assert 2 <= len({*built.labels[-2]}) <= 3 < len({*growing.labels[-2]})
    leaves = [built.leaf(value) for value in records]
    sizes = [
        sum(built.labels[-2][leaf] == one for leaf in leaves if leaf is not None)
        for one in {*built.labels[-2]}
    ]
    assert min(sizes) > 0.1 * len(records)


def test_dates_are_named_by_the_first_and_the_last_of_their_units() -> None:
    years = date_intervals(date(1950, 1, 1), date(1999, 12, 31), ["year", "decade"])
    days: dict[Bound, int] = {date(1950, 1, 1) + timedelta(700 * n): 1 for n in range(26)}
    built = split_at(years, even_bounds(years, days))
    assert [*dict.fromkeys(built.labels[-2])] == ["1950s to 1960s", "1970s to 1990s"]


@pytest.mark.parametrize("bounds", ["5", "20,20", "30,20", "0", "40", "many", "2024-01-01"])
def test_bounds_that_are_none_of_the_highest_level_are_refused(bounds: str) -> None:
    with pytest.raises(HierarchyError, match="must be at bounds that rise"):
        split_at(equal_width_intervals(0, 40, [5, 10]), [*map(parse_bound, bounds.split(","))])
    with pytest.raises(HierarchyError, match="each of the highest level"):
        split_at(cut_intervals([0, 10]), [Decimal(5)])


@pytest.mark.parametrize(
    ("words", "row"),
    [
        (
            "intervals --lower 0 --upper 40 --widths 5,10 --split 10,30 --padded",
            '25,30,"[25, 30)","[20, 30)","[10, 30)",*',
        ),
        (
            "dates --first 2020-01-01 --last 2023-12-31 --granularities year --split 2022-01-01",
            "2020-01-01,2021-01-01,2020,2020 to 2021,*",
        ),
    ],
)
def test_commands_part_at_bounds(words: str, row: str, tmp_path: Path) -> None:
    file = tmp_path / "tree.csv"
    done = CliRunner().invoke(app, ["hierarchy", *words.split(), "--output", str(file)])
    assert done.exit_code == 0, done.output
    assert row in file.read_text(encoding="utf-8").splitlines()
