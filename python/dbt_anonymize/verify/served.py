"""Surroundings of a release that is a table of a server: grants, schema and order of rows.

Of a file that DuckDB publishes, mode, bytes and folder are checked instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt_anonymize.project.engines import server_of
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.duckdb_mirror import explain_read_errors
from dbt_anonymize.verify.finding import Finding


def check_surroundings(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Check the readers of vault and release, the order of its rows, and its schema.

    ``warehouse`` is the server itself. Checks of files are reported as not run.
    """
    release = warehouse.relation_of_ref(f"{spec.name}_anonymized")
    yield Finding(
        "recomputation",
        "release file",
        None,
        f"not run: {server_of(warehouse).UNSEEN_RELEASE}",
        was_run=False,
    )
    yield _order_finding(warehouse, spec, release)
    yield _schema_finding(warehouse, release)
    yield from server_of(warehouse).check_grants(warehouse, spec)


def _order_finding(warehouse: Warehouse, spec: Spec, release: Any) -> Finding:
    """Require that rows are stored in the order of the released columns, as the server sorts."""
    with explain_read_errors(warehouse, str(release)):
        misplaced = server_of(warehouse).misplaced_rows(warehouse, release, spec.released_columns)
    message = "the rows are stored in the order of what is released."
    if misplaced:
        message = (
            "the rows must be stored in the order of the released columns, so that their order "
            f"tells nothing else; {misplaced:,} are not. Build again."
        )
    return Finding(
        "recomputation", f"{spec.name}_anonymized, order of rows", not misplaced, message
    )


def _schema_finding(warehouse: Warehouse, release: Any) -> Finding:
    """Require that nothing lies beside a release but other releases of the project."""
    releases = set()
    for node in warehouse.manifest.nodes.values():
        declared = node.config.meta.get("dbt_anonymize")
        if declared and node.schema == release.schema:
            releases |= {node.alias, *declared.get("beside", ())} | (
                {f"{declared['anonymization']}_about"} if declared.get("about") else set()
            )
    others = server_of(warehouse).count_beside(warehouse, release, releases)
    message = "the schema holds releases of the project and nothing else."
    if others:
        message = (
            f"the schema must hold releases of the project and nothing else; got {others} other "
            "tables or views, which nothing has judged. Move them elsewhere."
        )
    return Finding("recomputation", f"schema {release.schema}", not others, message)
