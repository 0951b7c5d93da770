"""What only runs while dbt builds: hooks, macros that stand before others, and what came of both.

Compiled SQL is what a build would run if nothing else ran. So nothing else may run: no hook but our
own, and no macro in place of one that our models are made by. What models of the user make of
Jinja nobody can judge from its text; there, what is stored is compared with what their SQL gives.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Environment

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import PACKAGE, Warehouse
from dbt_anonymize.spec.models import Spec
from dbt_anonymize.verify.finding import Finding

_OWN_HOOK = re.compile(
    r"\s*\{\{\s*dbt_anonymize\._(check_\w+|forget_recoding|before_materializations)\(\d*\)\s*\}\}\s*"
)
# They name relations, which everybody can see, and do nothing else.
_ORDINARY = {f"generate_{part}_name" for part in ("schema", "database", "alias")}
# Generated models call the first three; dbt and its adapters call the others themselves.
_CALLED_BY_OTHERS = (
    "config",
    "ref",
    "source",
    "create_schema",
    "drop_relation",
    "get_columns_in_relation",
    "list_relations_without_caching",
    "rename_relation",
    "truncate_relation",
)


def build_findings(
    warehouse: Warehouse, spec: Spec, compiled: Mapping[str, str]
) -> Iterator[Finding]:
    """Give what can make a build do something else than its compiled SQL says.

    Parameters
    ----------
    warehouse : Warehouse
        Warehouse of the built project.
    spec : Spec
        The anonymization.
    compiled : mapping
        Compiled SQL of the models that the release is made of, by unique id.

    Yields
    ------
    Finding
        About hooks, about macros, and one of each relation that is compared with its SQL.
    """
    ends = {f"{spec.name}_anonymized"}
    if spec.mapping == "token":
        ends.add(f"{spec.name}_identifiers")
    reached = upstream(warehouse.manifest, ends)
    yield from _hook_findings(warehouse.manifest, reached)
    yield from _macro_findings(warehouse, reached)
    yield from _data_findings(warehouse, spec, compiled)


def upstream(manifest: Any, names: Collection[str]) -> set[str]:
    """Return the unique ids of the nodes of these names and of all upstream."""
    waiting = [i for i, node in manifest.nodes.items() if node.name in names]
    reached: set[str] = set()
    while waiting:
        unique_id = waiting.pop()
        if unique_id in reached:
            continue
        reached.add(unique_id)
        node = manifest.nodes.get(unique_id)
        waiting += node.depends_on.nodes if node and hasattr(node.depends_on, "nodes") else []
    return reached


def _hook_findings(manifest: Any, reached: Collection[str]) -> Iterator[Finding]:
    """Look for statements that a build runs beside the SQL of the models."""
    problems = 0
    for unique_id, node in sorted(manifest.nodes.items()):
        kinds = []
        if str(node.resource_type) == "operation":
            kinds = [] if _OWN_HOOK.fullmatch(node.raw_code) else ["on-run hook"]
        elif unique_id in reached:
            kinds = sorted(_foreign_hooks(node))
        if kinds:
            problems += 1
            name = node.name
            yield Finding(
                "provenance",
                f"{name} of {node.package_name}" if kinds == ["on-run hook"] else name,
                False,
                f"must have no {' or '.join(kinds)} of its own: it runs while the release is "
                "built, and compiled SQL does not show what it does. Remove it, or run it as a "
                "command of its own after the build.",
            )
    if not problems:
        message = "nothing runs beside the models that the release is made of."
        yield Finding("provenance", "hooks", True, message)


def _foreign_hooks(node: Any) -> Iterator[str]:
    config = node.config
    for kind in ("pre_hook", "post_hook"):
        hooks = getattr(config, kind, None) or []
        if any(not _OWN_HOOK.fullmatch(hook.sql) for hook in hooks):
            yield kind.replace("_", "-")
    if config.get("sql_header"):
        yield "sql_header"


def _macro_findings(warehouse: Warehouse, reached: Collection[str]) -> Iterator[Finding]:
    """Look for macros that run in place of ours, or of those of dbt that ours call."""
    overriding = sorted(_Macros.of(warehouse, reached).overriding())
    for name, package in overriding:
        yield Finding(
            "provenance",
            f"macro {name} of {package}",
            False,
            "must not take the place of a macro that makes the release: what it does while the "
            "release is built, compiled SQL does not show. Rename it or remove it, and build "
            "again.",
        )
    if not overriding:
        message = (
            f"no macro stands in place of those of {PACKAGE} and of dbt that make the release."
        )
        yield Finding("provenance", "macros", True, message)


@dataclass(frozen=True)
class _Macros:
    """All macros of a project, seen from the package.

    Parameters
    ----------
    macros : sequence
        Those of the manifest.
    internal : collection of str
        Packages of dbt and its adapter.
    searched : collection of str
        Packages in which dbt looks before it looks in those: the root project, and what its
        `dispatch:` names.
    prefixes : sequence of str
        Prefixes of macros that are dispatched, by adapter.
    materializations : collection of str
        Materializations of the nodes that the release is made of.
    """

    macros: Iterable[Any]
    internal: Collection[str]
    searched: Collection[str]
    prefixes: Collection[str]
    materializations: Collection[str]

    @classmethod
    def of(cls, warehouse: Warehouse, reached: Collection[str]) -> _Macros:
        from dbt.adapters.factory import (  # noqa: PLC0415 (takes more than a second)
            get_adapter_package_names,
            get_adapter_type_names,
        )

        adapter = warehouse.adapter
        config = adapter.config
        internal = set(get_adapter_package_names(adapter.type()))
        searched = {config.project_name}
        for namespace in (PACKAGE, *internal):
            searched |= set(config.get_macro_search_order(namespace) or ())
        nodes = [warehouse.manifest.nodes[i] for i in reached if i in warehouse.manifest.nodes]
        return cls(
            macros=list(warehouse.manifest.macros.values()),
            internal=internal,
            searched=searched,
            prefixes={"default", *get_adapter_type_names(adapter.type())},
            materializations={str(node.config.materialized) for node in nodes},
        )

    def overriding(self) -> Iterator[tuple[str, str]]:
        """Give name and package of each macro that runs in place of a trusted one."""
        called, dispatched = self._used
        replaced = {_kind(macro) for macro in self._trusted if self._is_materialization(macro)}
        for macro in self.macros:
            prefix, _, base = macro.name.partition("__")
            is_dispatched = prefix in self.prefixes and bool(base)
            if macro.package_name in {PACKAGE, *self.internal}:
                continue
            if macro.name in _ORDINARY or (is_dispatched and base in _ORDINARY):
                continue
            if macro.name.startswith("materialization_"):
                # Those of any package are looked for, and those of an adapter before the default.
                if _kind(macro) in replaced:
                    yield macro.name, macro.package_name
            elif macro.package_name in self.searched and (
                macro.name in called or (is_dispatched and base in dispatched)
            ):
                yield macro.name, macro.package_name

    @cached_property
    def _trusted(self) -> list[Any]:
        return [m for m in self.macros if m.package_name in {PACKAGE, *self.internal}]

    def _is_materialization(self, macro: Any) -> bool:
        return _kind(macro) in {f"materialization_{name}" for name in self.materializations}

    @cached_property
    def _used(self) -> tuple[set[str], set[str]]:
        """Return the names that our macros call or dispatch, and those that these call, ..."""
        named: dict[str, list[Any]] = {}
        for macro in self._trusted:
            named.setdefault(macro.name, []).append(macro)
        called, dispatched = set(_CALLED_BY_OTHERS), set[str]()
        start = [m for m in self._trusted if m.package_name == PACKAGE]
        start += [m for m in self._trusted if self._is_materialization(m)]
        start += [macro for name in _CALLED_BY_OTHERS for macro in named.get(name, ())]
        waiting = [macro.macro_sql for macro in start]
        seen = {macro.unique_id for macro in start}
        while waiting:
            calls, dispatches = _calls(waiting.pop())
            called |= calls
            dispatched |= dispatches
            by_adapter = {f"{prefix}__{name}" for prefix in self.prefixes for name in dispatches}
            for macro in (m for name in calls | by_adapter for m in named.get(name, ())):
                if macro.unique_id not in seen:
                    seen.add(macro.unique_id)
                    waiting.append(macro.macro_sql)
        return called, dispatched


def _kind(macro: Any) -> str:
    """Return the name of a materialization without that of its adapter."""
    return str(macro.name).rpartition("_")[0]


def _calls(text: str) -> tuple[set[str], set[str]]:
    """Return the names that Jinja looks up and calls, and those it has the adapter choose.

    >>> sorted(_calls("{{ ref('a') }} {{ dbt.type_int() }} {{ dbt_anonymize.effort(x.y()) }}")[0])
    ['ref', 'type_int']
    >>> _calls("{{ adapter.dispatch('cast', 'dbt')() }} max(1)")[1]
    {'cast'}
    """
    lexed = Environment().lex(text)  # noqa: S701 (nothing is rendered)
    tokens = [(kind, value) for _, kind, value in lexed if kind != "whitespace"]
    called, dispatched = set[str](), set[str]()
    for place, (kind, value) in enumerate(tokens[:-1]):
        if kind != "name" or tokens[place + 1] != ("operator", "("):
            continue
        if place and tokens[place - 1] == ("name", "macro"):
            continue  # This defines one.
        is_attribute = place > 1 and tokens[place - 1] == ("operator", ".")
        owner = tokens[place - 2][1] if is_attribute else None
        if owner in {None, "dbt", "adapter"}:
            called.add(value)
        if value == "dispatch":
            strings = (text for kind, text in tokens[place + 2 :] if kind == "string")
            dispatched.add(next(strings, "").strip("'\""))
    return called, dispatched


def _data_findings(
    warehouse: Warehouse, spec: Spec, compiled: Mapping[str, str]
) -> Iterator[Finding]:
    """Compare what is stored with what the SQL gives, from what the user makes to the microdata."""
    declared = {hierarchy.ref for hierarchy in spec.quasi_identifiers.values()}
    declared |= {hierarchy.ref for hierarchy in spec.sensitive_hierarchies.values()}
    for relation in (spec.source, spec.population_relation):
        declared |= {relation.ref} if relation is not None and relation.ref else set()
    manifest = warehouse.manifest
    made = upstream(manifest, declared)
    made |= {i for i, node in manifest.nodes.items() if node.name == f"{spec.name}_microdata"}
    for unique_id in sorted(made & compiled.keys()):
        node = manifest.nodes[unique_id]
        # dbt writes ephemeral models into those that read them.
        if str(node.config.materialized) != "ephemeral":
            problem = _difference(warehouse, node, compiled[unique_id])
            message = f"{problem}. {_REMEDY}" if problem else "holds what its SQL gives now."
            yield Finding("provenance", node.name, not problem, message)


_REMEDY = (
    "Run `dbt build --full-refresh` on it and all that reads it, and verify again. SQL that does "
    "not give the same twice (random or current values, snapshots) cannot be proved: load what it "
    "makes as a table, check its columns, and declare that as a dbt source."
)


def _difference(warehouse: Warehouse, node: Any, sql: str) -> str:
    """Return how what is stored differs from what the SQL gives: counts and names only."""
    if str(node.resource_type) == "snapshot":
        return "a snapshot holds what was, which its SQL does not give"
    try:
        relation = warehouse.relation_of_ref(node.name)
    except WarehouseError:
        return "must be stored, to be compared with its SQL"
    try:
        columns = warehouse.columns(relation)
        quoted = {name: str(warehouse.macro("_quote", name=name)) for name, _ in columns}
        stored = f"select {', '.join(quoted.values())} from {relation}"  # noqa: S608
        # A contract or a constraint gives a column another type than its SQL.
        cast = ", ".join(f"cast({quoted[n]} as {kind}) as {quoted[n]}" for n, kind in columns)
        made = f"select {cast} from (\n{sql}\n) as made"  # noqa: S608
        if warehouse.adapter.type() == "duckdb":
            return _by_checksum(warehouse, stored, made, quoted)
        return _by_rows(warehouse, stored, made)
    except Exception as error:  # Drivers have errors of their own.
        # Not the message: it may quote a value.
        return f"its SQL could not be run to be compared ({type(error).__name__})"


def _by_checksum(warehouse: Warehouse, stored: str, made: str, quoted: Mapping[str, str]) -> str:
    """Compare the rows, in whatever order, by one scan of each.

    The sum of hashes with a salt that nobody can foresee is equal for other rows by chance only.
    """
    salt = secrets.randbits(62)

    def sums(query: str, hashed: Iterable[str]) -> tuple[int, ...]:
        totals = ", ".join(f"sum(hash({salt}, {value}))" for value in hashed)
        ((*found,),) = warehouse.rows(f"select count(*), {totals} from ({query}) as compared")  # noqa: S608
        return tuple(int(value or 0) for value in found)

    rows = [", ".join(quoted.values())]
    before, after = sums(stored, rows), sums(made, rows)
    if before == after:
        return ""
    if before[0] != after[0]:
        return f"holds {before[0]} rows, and its SQL gives {after[0]}"
    each = zip(
        quoted, sums(stored, quoted.values())[1:], sums(made, quoted.values())[1:], strict=True
    )
    differing = [name for name, there, given in each if there != given]
    return f"holds other values than its SQL gives (columns: {', '.join(differing) or 'together'})"


def _by_rows(warehouse: Warehouse, stored: str, made: str) -> str:
    """Compare the rows as any engine can."""
    counts = [
        warehouse.rows(f"select count(*) from ({one} except all {other}) as differing")[0][0]  # noqa: S608
        for one, other in ((stored, made), (made, stored))
    ]
    if not any(counts):
        return ""
    return f"holds {counts[0]} rows that its SQL does not give, and lacks {counts[1]} that it gives"
