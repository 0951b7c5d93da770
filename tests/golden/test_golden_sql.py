"""The SQL that the macros write, as files that a review shows.

After an intended change: ``UPDATE_GOLDEN=1 pytest tests/golden`` and read the difference.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import sqlglot

from dbt_anonymize.project.generate import generate
from tests.projects import Project, copy_consumer
from tests.vault.projects import SPECS

GOLDEN = Path(__file__).parent / "sql"
VOLATILE = (
    (re.compile(r"'[0-9a-f]{8}-[0-9a-f-]{27}'"), "'<run_id>'"),
    (re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+'"), "'<run_at>'"),
)


# Of the anonymizations with other mappings, what differs by them.
OTHER_MAPPINGS = sorted(SPECS.glob("*.yml"))
OF_MAPPINGS = ("_anonymized.sql", "_identifiers.sql", "_tokens.sql")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    project = copy_consumer(tmp_path_factory.mktemp("golden") / "project")
    others = [Path(shutil.copy(spec, project.folder / "anonymizations")) for spec in OTHER_MAPPINGS]
    generate(project.folder, [spec.stem for spec in others])
    outcome = project.dbt("compile")
    assert outcome.succeeded, outcome.messages
    # dbt shortens the names of tests.
    names = re.compile("|".join(f"(^|_){spec.stem[:4]}" for spec in others))
    return {
        file: sql
        for file, sql in compiled_sql(project).items()
        if not names.search(file) or file.endswith(OF_MAPPINGS)
    }


def compiled_sql(project: Project) -> dict[str, str]:
    sql = {}
    for path in sorted((project.folder / "target" / "compiled").rglob("*.sql")):
        if "unit_tests" in str(path) or path.name.startswith(("not_null_", "unique_")):
            continue  # written by dbt, not by our macros
        text = path.read_text(encoding="utf-8").strip() + "\n"
        for pattern, replacement in VOLATILE:
            text = pattern.sub(replacement, text)
        sql[path.name] = text
    return sql


def test_the_compiled_sql_is_the_golden_sql(compiled: dict[str, str]) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        for stale in GOLDEN.glob("*.sql"):
            stale.unlink()
        for name, text in compiled.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    golden = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.sql")}
    assert compiled.keys() == golden.keys()
    for name, text in compiled.items():
        assert text == golden[name], name


def test_the_sql_is_one_statement_that_another_parser_understands(compiled: dict[str, str]) -> None:
    for name, text in compiled.items():
        assert len(sqlglot.parse(text, dialect="duckdb")) == 1, name


def test_the_sql_uses_no_construct_that_other_engines_lack(compiled: dict[str, str]) -> None:
    forbidden = re.compile(
        r"\b(asof|qualify|columns\s*\(|exclude\s*\(|group\s+by\s+all|distinct\s+on)\b",
        re.IGNORECASE,
    )
    for name, text in compiled.items():
        assert not forbidden.search(re.sub(r"'[^']*'", "''", text)), name
