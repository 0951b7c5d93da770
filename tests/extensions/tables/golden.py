"""The SQL of a declared table, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dbt_anonymize.project.generate import generate
from tests.extensions.tables.projects import declare
from tests.projects import copy_consumer


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        project = copy_consumer(Path(folder) / "project")
        hide = {"method": "hide", "levels": {"zip": 1}}
        details = {"details": ["table_audit"]}
        declare(project, sums=["spending"], subtotals={"zip": [2]}, efforts=[hide], more=details)
        generate(project.folder, ["counts"])
        outcome = project.dbt("compile", "--select", "path:models/counts")
        assert outcome.succeeded, outcome.messages
        paths = (project.folder / "target" / "compiled").rglob("counts_table*.sql")
        texts = {path.name: path.read_text(encoding="utf-8").strip() for path in paths}
    return {name.removeprefix("counts_"): f"{text}\n" for name, text in texts.items()}
