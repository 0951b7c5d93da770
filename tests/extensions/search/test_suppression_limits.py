"""Limits of suppression in SQL and in the search: the share as it is written."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table
from tests.properties.conftest import warehouse
from tests.properties.statements import SUPPRESSION_LIMITS
from tests.properties.warehouse import Warehouse

__all__ = ["warehouse"]


def of_search(limit: float, records: int) -> int:
    table = Table((), leaves=np.zeros((1, 0), dtype=np.int64), records=np.array([records]))
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": 2}], table)
    return Checker(table, guarantees, make_loss("loss"), Decimal(str(limit))).most_suppressed


def test_sql_and_search_allow_the_whole_part_of_the_decimal_share(warehouse: Warehouse) -> None:
    draw = random.Random(20260104)
    counts = {0, 1, 100, 100_000, 10**9, *(draw.randrange(10**d) for d in range(1, 12))}
    warehouse.load("counted", {"records": "bigint"}, [(count,) for count in counts])
    rows = warehouse.rows("suppression_limits")
    assert len(rows) == len(counts)
    for row in rows:
        for name, limit in SUPPRESSION_LIMITS.items():
            expected = math.floor(Fraction(repr(limit)) * row["records"])
            assert (limit, row[name]) == (limit, expected)
            assert (limit, of_search(limit, row["records"])) == (limit, expected)
