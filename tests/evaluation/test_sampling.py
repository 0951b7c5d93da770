"""The seeded sample."""

from __future__ import annotations

import hashlib

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.evaluation.data.sampling import _largest_draw, draw_sample
from tests.evaluation.conftest import Log
from tests.evaluation.tables import evaluated, interval_efforts, measured, table


def test_the_sample_is_that_of_the_smallest_digests(connection: duckdb.DuckDBPyConnection) -> None:
    keys = [f"köln {number}" for number in range(200)]
    relation = table(connection, pd.DataFrame({"k": keys}))
    sample = draw_sample(relation, "k", 30, random_state=7)
    assert (sample.records, sample.size) == (200, 30)
    found = sorted(row[0] for row in sample.restrict(relation).fetchall())
    digests = sorted((hashlib.md5(f"{k}7".encode()).hexdigest(), k) for k in keys)  # noqa: S324
    assert found == sorted(k for _, k in digests[:30])
    other = draw_sample(relation, "k", 30, random_state=8)
    assert sorted(row[0] for row in other.restrict(relation).fetchall()) != found


def test_digests_are_looked_for_everywhere_where_they_are_rarer_than_expected(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = table(connection, pd.DataFrame({"k": range(200)}))
    digests = sorted(hashlib.md5(f"{key}7".encode()).hexdigest() for key in range(200))  # noqa: S324
    draw = "md5(cast(k as text) || '7')"
    for records in (200, 10_000, 10**12):
        assert _largest_draw(relation, draw, 30, records) == digests[29]


def test_a_table_that_is_small_enough_is_taken_as_it_is(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = table(connection, pd.DataFrame({"k": range(30)}))
    sample = draw_sample(relation, "k", 30, random_state=7)
    assert sample.condition is None
    assert sample.restrict(relation) is relation


def test_only_the_sample_is_evaluated_in_every_effort(
    connection: duckdb.DuckDBPyConnection, log: Log
) -> None:
    efforts = interval_efforts(connection, records=100)
    found = evaluated(connection, efforts, sample=40)
    assert log.lines[0] == (
        "test: a sample of 40 of 100 records is evaluated, drawn with random state 1"
    )
    confusion = found[(found["kind"] == "confusion") & (found["model"] == "decision_tree")]
    assert confusion.groupby(["effort", "test_on"])["value"].sum().tolist() == [36] * 4
    digests = [hashlib.md5(f"{key}1".encode()).hexdigest() for key in range(100)]  # noqa: S324
    kept = np.argsort(digests)[:40]
    condition = f"record_id in ({', '.join(str(key) for key in kept)})"
    own = [{**e, "relation": e["relation"].filter(condition)} for e in efforts]
    expected = evaluated(connection, own)
    pd.testing.assert_frame_equal(measured(found), measured(expected))
    left = connection.execute("select table_name from duckdb_tables() where temporary").fetchall()
    assert not any("sample" in name for (name,) in left)
