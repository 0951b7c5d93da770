"""Vaults of a project, which are closed to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import VaultError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.vault.files import missing_vault, protect_vault

if TYPE_CHECKING:
    from dbt_anonymize.project.warehouse import Warehouse


def protect_vaults(
    warehouse: Warehouse, project: Project, database: str, *, is_writing: bool
) -> None:
    """Call `protect_vault` for every vault of a project; ``database`` is that of the warehouse."""
    # The release of an anonymization is <folder>/<target>/<name>.duckdb.
    declared = {node.config.meta["dbt_anonymize"].get("folder") for node in _ours(warehouse)}
    folders = declared - {None} or {"release"}
    session = warehouse.cursor()
    for vault in vaults_of(warehouse, database):
        for folder in folders:
            protect_vault(
                session,
                vault=vault,
                warehouse=database,
                project=str(project.root),
                release=str(folder),
                is_writing=is_writing,
            )


def require_vaults(warehouse: Warehouse) -> None:
    """Raise a `VaultError` if the file of a vault of the project is missing."""
    for vault in sorted({str(node.database) for node in _ours(warehouse)}):
        if file := warehouse.missing.get(vault.lower()):
            raise VaultError(
                f"{vault}: must exist; {missing_vault(file)} Else: Run `dbt build` first."
            )


def _ours(warehouse: Warehouse) -> list[Any]:
    nodes = warehouse.manifest.nodes.values()
    return [node for node in nodes if node.config.meta.get("dbt_anonymize")]


def vaults_of(warehouse: Warehouse, database: str) -> set[str]:
    """Return the databases of vaults; ``database`` is that of the warehouse."""
    return {node.database for node in _ours(warehouse) if node.database not in {database, None}}
