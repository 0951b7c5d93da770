"""Hierarchies of visits to a clinic, as SQL: ages in tens and twenties, two postcodes of a town."""

from __future__ import annotations

AGES = """
select
    10 * i as lower_bound, 10 * i + 10 as upper_bound,
    '[' || 10 * i || ', ' || 10 * i + 10 || ')' as level_1,
    '[' || 20 * (i // 2) || ', ' || 20 * (i // 2) + 20 || ')' as level_2,
    '*' as level_3
from range(10) as numbers(i)
"""
ZIPS = """
select * from (values ('01067', '010**', '*'), ('01097', '010**', '*'))
    as tree(value, level_1, level_2)
"""
