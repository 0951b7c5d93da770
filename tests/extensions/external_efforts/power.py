"""Measure how much noise on all records is found.

``python -m tests.extensions.external_efforts.power`` writes it into the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from dbt_anonymize.extensions.external_efforts.nearness import close_alone
from tests.extensions.external_efforts.naive import sign_test
from tests.extensions.external_efforts.synthesizers import NOISY, Table
from tests.projects import REPOSITORY

PAGE = REPOSITORY / "docs" / "extensions" / "external_efforts.md"
LEVEL = 0.01
_DRAWS = 20
# Columns of the table, and its records.
_TABLES = (
    ((0, 1, 2, 3, 4, 5), 300),
    ((0, 1, 2, 3, 4, 5), 1000),
    ((2, 3, 5), 300),
    ((2, 3, 5), 1000),
)


def p_value_of(tables: Sequence[Sequence[NDArray[Any]]]) -> float:
    """Return the least p-value of outer records, rows and inner records, times the tests."""
    counts = [*close_alone(*tables)]
    slack = math.ceil(0.01 * len(tables[0][0]))
    # Beside them there are two tests of equal rows.
    return min(sign_test(more, less + slack) for more, less in counts) * (len(counts) + 2)


def _found(name: str, columns: Sequence[int], records: int) -> str:
    found = 0
    for seed in range(_DRAWS):
        table = Table(records, seed)
        rows = NOISY[name](table, table.chance)
        found += p_value_of(table.split(lambda *_, rows=rows: rows, columns)) < LEVEL
    return f"{found / _DRAWS:.0%}".replace("%", " %")


def power_table() -> str:
    """Return the table of the page."""
    heads = [f"{len(columns)} columns, {records:,}" for columns, records in _TABLES]
    lines = [["noise", *heads], ["---"] * (len(heads) + 1)]
    lines += [[name, *(_found(name, *table) for table in _TABLES)] for name in NOISY]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(r"\| noise \|.*?(?=\n\n)", power_table(), text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
