"""A dbt plugin that checks versions, and the vault's folder before DuckDB opens an attached file.

dbt imports all modules named `dbt_*` and runs the plugins in them, an experimental interface.
Without it dbt ends in a traceback if the folder is missing, and nothing keeps seeds and models in
the vault from `dbt clone`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dbt.adapters.factory import FACTORY
from dbt.artifacts.resources import Hook
from dbt.flags import get_flags
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtRuntimeError

from dbt_anonymize.errors import VaultError
from dbt_anonymize.vault.files import require_folders
from dbt_anonymize.versions import PACKAGE, mismatch

_WITHOUT_WAREHOUSE = {"parse", "list"}
_OF_VAULT = {"dbt_anonymize_vault", "dbt_anonymize_tokens"}
_REFUSED = "{{ dbt_anonymize._refuse_clone() }}"


class VaultFolder(dbtPlugin):  # type: ignore[misc]
    """Stops a command that would open a vault that has no folder."""

    def get_manifest_artifacts(self, manifest: Any) -> dict[str, Any]:
        """Check versions and profile once dbt has parsed the project; there are no artifacts."""
        _check_version()
        adapter: Any = FACTORY.adapters.get("duckdb")
        command = get_flags().WHICH
        is_ours = any(macro.package_name == PACKAGE for macro in manifest.macros.values())
        if adapter and is_ours and command not in _WITHOUT_WAREHOUSE:
            try:
                require_folders(adapter.config.credentials)
            except VaultError as error:
                raise DbtRuntimeError(str(error)) from None
        if is_ours and command == "clone":
            _refuse_clones(manifest)
        return {}

    # Set by hand: dbt's decorator would put the name of the method before the message.
    get_manifest_artifacts.is_dbt_hook = True  # type: ignore[attr-defined]


def _check_version() -> None:
    """Stop if the installed dbt package has another version than this command."""
    adapters: list[Any] = list(FACTORY.adapters.values())
    for adapter in adapters:
        if adapter.config.project_name == PACKAGE:
            continue
        package = (adapter.config.load_dependencies() or {}).get(PACKAGE)
        problem = mismatch(package.version) if package is not None else None
        if problem:
            raise DbtRuntimeError(problem)


def _refuse_clones(manifest: Any) -> None:
    """Refuse clones of everything in the vault, of this target or of the state.

    A clone is a view in another, unprotected schema, which exposes the vault. dbt runs hooks of the
    cloned node, but none of the project.
    """
    nodes = {name: node.to_dict() for name, node in manifest.nodes.items()}
    is_file = manifest.metadata.adapter_type == "duckdb"
    for name in _in_vault(nodes, is_file=is_file) | _in_vault(_nodes_of_state(), is_file=is_file):
        node = manifest.nodes.get(name)
        hooks = getattr(node.config, "pre_hook", None) if node else None
        if hooks is not None and _REFUSED not in [hook.sql for hook in hooks]:
            hooks.append(Hook(sql=_REFUSED))


def _in_vault(nodes: dict[str, Any], *, is_file: bool) -> set[str]:
    """Return the nodes in the same file or schema as generated models of the vault."""

    def place(node: dict[str, Any]) -> tuple[str, str | None]:
        return str(node.get("database")).lower(), None if is_file else node["schema"]

    vault = {place(n) for n in nodes.values() if n["config"].get("materialized") in _OF_VAULT}
    return {name for name, node in nodes.items() if place(node) in vault}


def _nodes_of_state() -> dict[str, Any]:
    """Return the nodes of the manifest to clone from; dbt reports a missing one."""
    folder = get_flags().DEFER_STATE or get_flags().STATE
    # As dbt does: relative to the project, not to the working directory.
    path = Path(get_flags().PROJECT_DIR or ".", folder, "manifest.json") if folder else None
    if path is None or not path.is_file():
        return {}
    nodes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["nodes"]
    return nodes


plugins = [VaultFolder]
