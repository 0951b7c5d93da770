"""The SQL of other engines compiles: more is not known of it, since nothing runs there."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from sqlglot.errors import ErrorLevel, UnsupportedError

from tests.golden.test_golden_sql import GOLDEN

DIALECTS = ("databricks", "snowflake", "bigquery")
FILES = sorted(GOLDEN.glob("*.sql"))
# What is ordered there has no NULL.
_WITHOUT_EFFECT = "'NULLS LAST' translation not supported"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_statement_can_be_parsed(dialect: str, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    translated = sqlglot.transpile(
        text, read="duckdb", write=dialect, unsupported_level=ErrorLevel.IGNORE
    )
    lost = _lost(text, dialect)
    assert all(line.startswith(_WITHOUT_EFFECT) for line in lost), lost
    assert translated
    for statement in translated:
        sqlglot.parse_one(statement, dialect=dialect, error_level=ErrorLevel.RAISE)


def _lost(text: str, dialect: str) -> list[str]:
    """Return what sqlglot says that a dialect cannot express."""
    try:
        sqlglot.transpile(
            text,
            read="duckdb",
            write=dialect,
            unsupported_level=ErrorLevel.RAISE,
            max_unsupported=1000,
        )
    except UnsupportedError as error:
        return [line.strip() for line in str(error).splitlines() if line.strip()]
    return []
