"""Combinations that do not fit into memory are told before they are written down."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

from dbt_anonymize.extensions.linked.suppression import deciding
from dbt_anonymize.extensions.linked.suppression.matching import items_of, rare_sets
from dbt_anonymize.extensions.linked.suppression.memory import memory_by_default, memory_of
from dbt_anonymize.extensions.linked.suppression.records import LinkError
from tests.extensions.linked.test_deciding import OLD, A, decide


def test_two_people_with_ten_thousand_records() -> None:
    subject, value = np.repeat([0, 1], 10_000), np.tile(np.arange(10_000), 2)
    items = items_of(np.arange(20_000), subject, np.zeros(20_000, dtype=np.int64), value)
    assert list(rare_sets(items, 2, 1, 10**9)) == []
    with pytest.raises(LinkError) as told:
        list(rare_sets(items, 2, 2, 10**9))
    assert "combinations of 2 known records must be counted in 0.9 GiB" in str(told.value)
    assert "99,990,000 take 9.3 GiB" in str(told.value)
    assert "(one has 10,000)" in str(told.value)


def test_the_memory_is_that_of_the_connection() -> None:
    with duckdb.connect() as connection:
        assert memory_of(connection.sql("select 1")) == memory_by_default() > 2**28
        connection.execute("set memory_limit = '3GB'")
        assert memory_of(connection.sql("select 1")) == pytest.approx(3e9, rel=0.1)


def test_a_build_is_told(monkeypatch: Any) -> None:
    monkeypatch.setattr(deciding, "memory_of", lambda _: 10)
    with pytest.raises(LinkError, match=r"known records must be counted in 0\.0 GiB"):
        decide(OLD, [*A[:2], ("stays", "12", "1", "b"), ("stays", "13", "2", "b")])
