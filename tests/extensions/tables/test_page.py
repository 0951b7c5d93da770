"""The example of docs/extensions/tables.md, computed."""

from __future__ import annotations

from dbt_anonymize.extensions.tables.hidden import Interval, hidden_intervals
from dbt_anonymize.extensions.tables.reading import read_table
from tests.docs.pages import DOCS, Page

PAGE = Page(DOCS / "extensions" / "tables.md")


def test_the_hidden_cell_is_told_as_the_page_says() -> None:
    rows = []
    for record in PAGE.table("patients", "young", "old", "all").records:
        for age in ("young", "old", "all"):
            shown = record[age]
            rows.append((record["patients"], age, None if "hidden" in shown else int(shown)))
    found = hidden_intervals(read_table(rows, ["ward", "age"], "all"))
    assert found == [Interval(("north", "old"), 2, 2, 1)]
    assert "The hidden cell is 9 - 7 = 2." in PAGE.text
