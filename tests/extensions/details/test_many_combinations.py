"""Of a table with many combinations of values, the risk of large subsets is estimated."""

from __future__ import annotations

from pathlib import Path

from tests.engines.compared import assert_same
from tests.oracle.subsets import MODEL, TUPLES, expected_risk
from tests.projects import Project


def test_one_class_in_some_stands_for_all(built_consumer: Project, tmp_path: Path) -> None:
    project = built_consumer.copy(tmp_path / "project")
    (project.folder / "models" / "estimated.sql").write_text(MODEL, encoding="utf-8")
    outcome = project.dbt("run", "--select", "estimated")
    assert outcome.succeeded, outcome.messages
    expected = expected_risk(project.query(TUPLES))
    assert {row[-1] > 1 for row in expected} == {True, False}
    assert_same(project.query("from estimated"), expected, "estimated")
