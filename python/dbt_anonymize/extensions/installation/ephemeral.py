"""Ephemeral models that anonymizations read: nothing holds their rows."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Sequence

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.installation.missing_refs import refs_of
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.manifest import parse_project
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec import Spec

_DECLARED = re.compile(r"materialized\W+ephemeral")


def ephemeral_sources(
    project: Project, specs: Sequence[Spec], target: str | None
) -> dict[str, list[str]]:
    """Return the ephemeral models that each anonymization reads.

    dbt parses only if a file of the project declares one, and writes nothing there.
    """
    files = [project.root / PROJECT_FILE]
    files += [f for f in project.models.rglob("*") if f.suffix in {".sql", ".yml", ".yaml"}]
    if target is None or not any(
        _DECLARED.search(file.read_text(encoding="utf-8", errors="ignore")) for file in files
    ):
        return {}
    with tempfile.TemporaryDirectory() as aside:
        # So that dbt parses only changed files.
        with contextlib.suppress(OSError):
            shutil.copy(project.root / "target" / "partial_parse.msgpack", aside)
        arguments = ["--target-path", aside, "--target", target]
        try:
            manifest = parse_project(project, arguments)
        except WarehouseError:
            return {}  # The build says why.
    ephemeral = {
        node.name for node in manifest.nodes.values() if node.config.materialized == "ephemeral"
    }
    models_read = {spec.name: sorted(ephemeral & refs_of(spec)) for spec in specs}
    return {name: models for name, models in models_read.items() if models}
