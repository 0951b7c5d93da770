"""Findings of `verify` on an engine, beside those on DuckDB."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from click.testing import Result

from tests.commands.conftest import command
from tests.projects import Project

# What is about a file on DuckDB.
OF_FILES = {
    ("recomputation", "release file, customers_anonymized"),
    ("recomputation", "release file, customers_anonymized, order of rows"),
    ("recomputation", "release/dev"),
    ("recomputation", "release/dev/customers.duckdb"),
    ("recomputation", "vault"),
    ("recomputation", "vault/vault.duckdb"),
    ("content", "release/dev/customers.duckdb"),
    ("content", "warehouse/shop.duckdb"),
}


def verified(project: Project, *arguments: str) -> tuple[list[dict[str, Any]], Result]:
    """Return the findings of `verify`, and what it printed."""
    result = command(project, "verify", "customers", "--format", "json", *arguments)
    lines = (line for line in result.stdout.splitlines() if line.startswith("{"))
    return [json.loads(line) for line in lines], result


def statuses(findings: list[dict[str, Any]], without: set[tuple[str, str]]) -> Counter[Any]:
    return Counter(
        (f["check"], f["subject"], f["holds"])
        for f in findings
        if (f["check"], f["subject"]) not in without
    )
