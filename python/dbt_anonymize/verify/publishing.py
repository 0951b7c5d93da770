"""Publish a release that a build without Python has checked, by running its recorded steps."""

from __future__ import annotations

import json
from pathlib import Path

from dbt_anonymize.errors import PublishError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.publish import publish
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.recomputation.build import require_recomputed

# The steps that `_steps_of_release` lists.
_STEPS = {step.__name__: step for step in (require_recomputed, publish)}


def is_published_by_command(project: Project, warehouse: Warehouse) -> bool:
    """Tell whether a build leaves publishing to the command: files, and no Python in dbt."""
    return warehouse.is_duckdb and not project.has_python


def publish_built(project: Project, warehouse: Warehouse, spec: Spec) -> Path:
    """Publish the release that the last build left in the warehouse; return its file.

    Only the very rows that this build checked are published, as it declared; anything else is a
    `PublishError`, and the earlier release is unchanged.
    """
    name = spec.name
    again = f"Run `dbt-anonymize build {name}`."
    if not is_published_by_command(project, warehouse):
        raise PublishError(
            f"{name}: dbt must leave publishing to this command, which it does with DuckDB and "
            "`vars: {dbt_anonymize_python: false}`; here `dbt build` publishes by itself."
        )
    release = warehouse.relation_of_ref(f"{name}_anonymized", remedy=again)
    declared = warehouse.find(release.incorporate(path={"identifier": f"{name}_publication"}))
    rows = warehouse.rows(f"select steps, digest from {declared}") if declared else []  # noqa: S608
    if not rows:
        raise PublishError(
            f"{release} must have been checked by a build without Python; none is known. {again}"
        )
    ((steps_text, digest),) = rows
    steps = json.loads(steps_text)
    columns = warehouse.meta(f"{name}_anonymized")["columns"]
    if (
        # After a rename the steps have the earlier name, which another table may have now.
        steps[-1]["arguments"]["relation"] != str(release)
        or [column for column, _ in warehouse.columns(release)] != columns
        or warehouse.rows(warehouse.macro("_digest_of_rows", relation=release, columns=columns))
        != [(digest,)]
    ):
        raise PublishError(
            f"{release} must have the rows that the last build checked; it has others. The earlier "
            f"release is unchanged. {again}"
        )
    path = Path()
    for step in steps:
        arguments = {**step["arguments"], "folder": str(project.root)}
        _STEPS[step["function"]](warehouse.cursor(), **arguments)
        path = Path(arguments.get("path", path))
    return path
