"""A dbt plugin that checks versions, and the vault's folder before DuckDB opens an attached file.

Without it dbt ends in a traceback where the folder is missing. dbt imports all modules named
`dbt_*` and runs the plugins in them, an experimental interface; only the clear message needs it.
"""

from __future__ import annotations

from typing import Any

from dbt.adapters.factory import FACTORY
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtRuntimeError

from dbt_anonymize.errors import VaultError
from dbt_anonymize.vault.files import require_folders
from dbt_anonymize.versions import PACKAGE, mismatch

_WITHOUT_WAREHOUSE = {"parse", "list"}


class VaultFolder(dbtPlugin):  # type: ignore[misc]
    """Stops a command that would open a vault that has no folder."""

    def get_manifest_artifacts(self, manifest: Any) -> dict[str, Any]:
        """Look at versions and profile once dbt has read the project; there are no artifacts."""
        _check_version()
        adapter: Any = FACTORY.adapters.get("duckdb")
        command = get_flags().WHICH
        is_ours = any(macro.package_name == PACKAGE for macro in manifest.macros.values())
        if adapter and is_ours and command not in _WITHOUT_WAREHOUSE:
            try:
                require_folders(adapter.config.credentials)
            except VaultError as error:
                raise DbtRuntimeError(str(error)) from None
        return {}

    # As the decorator of dbt does, which would put the name of the method before the message.
    get_manifest_artifacts.is_dbt_hook = True  # type: ignore[attr-defined]


def _check_version() -> None:
    """Stop where the dbt package that a project has installed is not that of this command."""
    adapters: list[Any] = list(FACTORY.adapters.values())
    for adapter in adapters:
        if adapter.config.project_name == PACKAGE:
            continue
        package = (adapter.config.load_dependencies() or {}).get(PACKAGE)
        problem = mismatch(package.version) if package is not None else None
        if problem:
            raise DbtRuntimeError(problem)


plugins = [VaultFolder]
