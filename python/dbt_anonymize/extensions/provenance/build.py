"""Code that a build runs beside the compiled SQL: warnings for reviewers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dbt_anonymize.extensions.provenance.compiled import reached_from
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.versions import PACKAGE

_OWN_HOOK = re.compile(r"\s*\{\{\s*dbt_anonymize\.\w+\([^(){}]*\)\s*\}\}\s*")
_DYNAMIC = re.compile(
    r"\b(run_query|statement|load_result|env_var|invocation_args_dict|modules)\b|\b(adapter|flags)\."
)


def build_warnings(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Yield warnings of hooks, dynamic Jinja, and macros that override others."""
    manifest = warehouse.manifest
    reached = reached_from(manifest, {f"{spec.name}_anonymized", f"{spec.name}_identifiers"})
    for unique_id, node in sorted(manifest.nodes.items()):
        if str(node.resource_type) == "operation":
            if not _OWN_HOOK.fullmatch(node.raw_code):
                yield _warning(node.name, "is an on-run hook: what it does is not in the models")
        elif unique_id in reached:
            yield from _node_warnings(node)
    yield from _macro_warnings(warehouse)


def _node_warnings(node: Any) -> Iterator[Finding]:
    hooks = [
        kind.replace("_", "-")
        for kind in ("pre_hook", "post_hook")
        if any(not _OWN_HOOK.fullmatch(h.sql) for h in getattr(node.config, kind, None) or ())
    ]
    hooks += ["sql_header"] if node.config.get("sql_header") else []
    if hooks:
        yield _warning(node.name, f"has a {' and a '.join(hooks)}: its SQL does not show what runs")
    dynamic = {match[0].rstrip(".") for match in _DYNAMIC.finditer(node.raw_code or "")}
    if dynamic:
        used = ", ".join(sorted(dynamic))
        yield _warning(node.name, f"uses {used}: its SQL may differ from one build to the next")


def _macro_warnings(warehouse: Warehouse) -> Iterator[Finding]:
    """Yield warnings of macros in the root project, or a package before ours, that override."""
    from dbt.adapters.factory import get_adapter_package_names  # noqa: PLC0415 (slow)

    config = warehouse.adapter.config
    trusted = {PACKAGE, *get_adapter_package_names(warehouse.adapter.type())}
    searched = {config.project_name}
    searched |= {name for p in trusted for name in config.get_macro_search_order(p) or ()}
    macros = sorted(warehouse.manifest.macros.values(), key=lambda macro: str(macro.unique_id))
    replaced = {"ref", "source", "config"}
    replaced |= {_plain(macro.name) for macro in macros if macro.package_name in trusted}
    for macro in macros:
        if macro.package_name in searched - trusted and _plain(macro.name) in replaced:
            subject = f"macro {macro.name} of {macro.package_name}"
            yield _warning(subject, "has the name of a macro of dbt or of this package")


def _plain(name: str) -> str:
    """Return the name of a macro or materialization without its adapter.

    Examples
    --------
    >>> _plain("duckdb__create_view_as"), _plain("materialization_table_duckdb")
    ('create_view_as', 'materialization_table')
    """
    if name.startswith("materialization_"):
        return name.rpartition("_")[0]
    return name.split("__", 1)[-1] if name[0] != "_" else name


def _warning(subject: str, text: str) -> Finding:
    return Finding("provenance", subject, None, f"{text}. Review it.", is_warning=True)
