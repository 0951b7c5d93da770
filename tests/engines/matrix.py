"""Matrix of tests and engines: a file that tests check, and write with UPDATE_GOLDEN=1.

The table of `docs/engines.md` is written from it.
"""

from __future__ import annotations

import json
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.golden.test_dialects import DIALECTS
from tests.projects import REPOSITORY

FILE = Path(__file__).with_name("ran.json")
PAGE = "docs/engines.md"
# Between these lines.
TABLE = re.compile(r"(?<=<!-- engines -->\n).*?(?=<!-- end of engines -->)", re.DOTALL)
IS_WRITING = bool(os.environ.get("UPDATE_GOLDEN"))
_SHOWN = {"databricks": "Databricks", "snowflake": "Snowflake", "bigquery": "BigQuery"}


def check_ran(engine: str, server: str, adapter: str, what: str, number: int) -> None:
    """Compare what a test has compared, and with which versions, with the file.

    The adapter is pinned; the server is that of the machine, where another one skips this check
    and is told at the end of the run. To write another version forgets what ran on the earlier one.
    """
    known = _read()
    ran = {"version": server, "adapter": f"{adapter} {version(adapter)}"}
    stated = known.setdefault(engine, {"compared": {}})
    if IS_WRITING:
        if any(stated.get(name) != value for name, value in ran.items()):
            stated["compared"] = {}
        stated |= ran
        stated["compared"][what] = number
        FILE.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    remedy = f"run all tests of {engine} with UPDATE_GOLDEN=1, and then tests/engines"
    assert stated["compared"].get(what) == number, remedy
    assert stated["adapter"] == ran["adapter"], remedy
    if stated["version"] != server:
        pytest.skip(
            f"NOT TESTED: {engine} {stated['version']}, which the README states; what ran here is "
            f"{engine} {server}. To state that, {remedy}."
        )


def unpinned() -> list[str]:
    """Return what ran on engines, or on DuckDB runs here, and `constraints.txt` does not pin."""
    pins = _pins((REPOSITORY / "constraints.txt").read_text("utf-8"))
    stated = _read()
    named = [f"{name} {version(name)}" for name in ("dbt-core", "dbt-duckdb", "duckdb")]
    named += [ran["adapter"] for ran in stated.values()]
    named += [f"pyspark {ran['version']}" for engine, ran in stated.items() if engine == "Spark"]
    return [text for text in named if pins.get(text.split()[0]) != text.split()[1]]


def table() -> str:
    """Return the table in Markdown."""
    pins = _pins((REPOSITORY / "constraints.txt").read_text("utf-8"))
    lines = sorted(
        _pins(path.read_text("utf-8"))["dbt-core"]
        for path in (REPOSITORY / "tests" / "compat").glob("dbt-*.txt")
    )
    others = sorted({*lines, pins["dbt-core"]}, key=lambda text: [*map(int, text.split("."))])
    dialects = ", ".join(_SHOWN[dialect] for dialect in DIALECTS)
    rows = [
        ["engine", "adapter", "what the tests do there"],
        ["---"] * 3,
        [
            f"DuckDB {pins['duckdb']}",
            f"dbt-duckdb {pins['dbt-duckdb']} on dbt {', '.join(others)}",
            "run: everything",
        ],
        *(
            [f"{engine} {ran['version']}", ran["adapter"], _compared(ran["compared"])]
            for engine, ran in sorted(_read().items())
        ),
        [
            dialects,
            "none",
            "compiles, not run: statements of DuckDB, translated by sqlglot, can be parsed; a "
            "build there stops",
        ],
        [
            "dbt 2",
            "none",
            "prepared, not run: MiniJinja parses macros and models, and with "
            "`dbt_anonymize_python: false` dbt runs no Python",
        ],
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _compared(numbers: dict[str, int]) -> str:
    parts = [f"{number} {what}" for what, number in sorted(numbers.items())]
    return f"run, and equal to DuckDB: {', '.join(parts)}"


def _pins(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE))


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return found
