"""Every query of docs/dashboards.md runs on what a build left behind, and finds something."""

from __future__ import annotations

import re

import duckdb
import pytest

from dbt_anonymize.spec.of_extensions import owner_of
from tests.docs.pages import DOCS
from tests.projects import Project

PAGE = (DOCS / "dashboards.md").read_text(encoding="utf-8")
QUERIES = {
    title: (place, sql)
    for title, place, sql in re.findall(
        r"^## ([^\n]+)\n(?:(?!^## |^```).)*?^```sql (\w+)\n(.*?)^```$", PAGE, re.M | re.S
    )
}


def test_all_queries_are_read() -> None:
    assert len(QUERIES) == PAGE.count("```sql") >= 10


def owners(sql: str) -> set[str]:
    """Return the extensions of the details that a query reads."""
    found = (owner_of(f"details.{name}") for name in re.findall(r"customers_(\w+)", sql))
    return {*filter(None, found)}


@pytest.mark.parametrize(
    "title",
    [pytest.param(title, marks=pytest.mark.needs(*owners(QUERIES[title][1]))) for title in QUERIES],
)
def test_a_query_finds_what_its_heading_says(built_consumer: Project, title: str) -> None:
    place, sql = QUERIES[title]
    if place == "warehouse":
        assert built_consumer.query(sql)
        return
    file = built_consumer.release_file("customers")
    with duckdb.connect(str(file), read_only=True) as connection:
        assert connection.execute(sql).fetchall()
