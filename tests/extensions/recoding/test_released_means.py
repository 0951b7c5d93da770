"""Means of groups whose values are as high or as low as their bounds allow."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest

from dbt_anonymize.extensions.recoding.grouping import grouped_recoding
from dbt_anonymize.extensions.recoding.records import Source

pytestmark = pytest.mark.costly


def labels(values: Sequence[float], width: int) -> set[str]:
    """Return the labels of one group of all values below ``width``; another is above."""
    others = [1.9 * width] * len(values)
    with duckdb.connect(":memory:") as c:
        c.execute("create table numbers (id integer, number double, number_leaf integer)")
        c.executemany(
            "insert into numbers values (?, ?, ?)",
            [(n, v, v // width * width) for n, v in enumerate([*values, *others])],
        )
        c.execute(
            "create table hierarchy as select cast(n * $1 as integer) as lower_bound, "
            "cast(n * $1 + $1 as integer) as upper_bound, "
            "concat('[', lower_bound, ', ', upper_bound, ')') as level_1, '*' as level_2 "
            "from range(2) as numbers(n)",
            [width],
        )
        number = {"name": "number", "kind": "interval", "levels": 2}
        source = Source(
            session=c,
            microdata=c.table("numbers"),
            record_key="id",
            quasi_identifiers=[{**number, "hierarchy": c.table("hierarchy")}],
            guarantees=[{"model": "k_anonymity", "k": len(values)}],
        )
        recoded = grouped_recoding(source, method="mdav", least=len(values))
        recoded.create("recoded")
        return {
            text
            for (text,) in c.execute(
                "select distinct recoded.number from recoded "
                f"inner join numbers on recoded.id = numbers.id where numbers.number < {width}"
            ).fetchall()
        }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("values", "width", "shown"),
    [
        ([19, 19, 19, 19], 20, "[0, 20)"),  # of whole numbers 19 is the highest
        ([18, 18, 18, 18], 20, "18.0"),
        ([19, 19, 19, 19.5], 20, "19.13"),  # others may be anything
        ([19000, 19000, 19000, 19000], 20000, "[0, 20000)"),
        ([17000, 17000, 17000, 17000], 20000, "17000.0"),
        ([0, 0, 0, 0], 20, "[0, 20)"),
    ],
)
def test_a_mean_at_the_end_of_what_can_be_is_not_shown(
    values: list[float], width: int, shown: str
) -> None:
    (seen,) = labels(values, width)
    assert seen == shown
