"""Findings of `verify` on grants: who may read and change release and vault."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbt_anonymize.literals import quote_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

# Grants on schemas, and on tables and their columns; grantee 0 is everybody.
_GRANTS = """
select nspname as place, null as name, nspowner as owner, granted.grantee, granted.privilege_type
from pg_namespace cross join lateral aclexplode(nspacl) as granted
union all
select nspname, relname, relowner, granted.grantee, granted.privilege_type
from pg_class inner join pg_namespace on relnamespace = pg_namespace.oid
cross join lateral (
    select grantee, privilege_type from aclexplode(relacl)
    union all
    select of_column.grantee, of_column.privilege_type
    from pg_attribute cross join lateral aclexplode(attacl) as of_column
    where attrelid = pg_class.oid
) as granted
"""
_GRANTEE = "case when grantee = 0 then 'public' else pg_get_userbyid(grantee) end"


def check_grants(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Check who has rights on a release, and on the vault, if there is one."""
    yield from _release_findings(warehouse, spec)
    if spec.mapping != "none":
        yield from _vault_findings(warehouse, spec)


def _release_findings(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Require that only its owner may change a release, and name undeclared readers."""
    release = warehouse.relation_of_ref(f"{spec.name}_anonymized")
    node = next(n for n in warehouse.manifest.nodes.values() if n.name == f"{spec.name}_anonymized")
    declared = (node.config.grants or {}).get("select", [])
    declared = {declared} if isinstance(declared, str) else {*declared}
    published = [str(release.identifier), *spec.tables_beside]
    granted = _grants(warehouse, str(release.schema), published)
    writers = sorted({who for _, who, right in granted if right not in {"SELECT", "REFERENCES"}})
    readers = sorted({who for _, who, right in granted if right == "SELECT"} - declared)
    subject = f"{spec.name}_anonymized, grants"
    message = "nobody but its owner may change the release."
    if writers:
        message = (
            f"nobody but its owner may change a release; these may: {', '.join(writers)}. Revoke "
            "it, and build again."
        )
    yield Finding("recomputation", subject, not writers, message)
    if "public" in readers and spec.release.access != "public":
        message = (
            "every role may read the release, and release.access is not public. Revoke it "
            f"(revoke select on {', '.join(published)} from public)."
        )
        yield Finding("recomputation", f"{subject} to public", False, message)
    if others := [who for who in readers if who != "public"]:
        message = (
            f"may be read by roles that `grants` of the model does not name: {', '.join(others)}. "
            "Declare them, or revoke it."
        )
        yield Finding("recomputation", f"{subject} to read", None, message, is_warning=True)


def _vault_findings(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Require that nobody but owner and custodians may enter the vault or has rights in it."""
    from dbt_anonymize.verify.relations import belongs_to  # noqa: PLC0415 (needs DuckDB)

    identifiers = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    schema = str(identifiers.schema)
    relations = warehouse.rows(
        "select relname, pg_get_userbyid(relowner) from pg_class inner join pg_namespace "
        f"on relnamespace = pg_namespace.oid where nspname = {quote_text(schema)} "
        "and relkind in ('r', 'v', 'm', 'p')"
    )
    owners = {str(name): str(owner) for name, owner in relations}
    tables = [name for name in owners if belongs_to(warehouse, spec, name)]
    # The building role may need to enter a schema of another owner.
    custodians = {owners[str(identifiers.identifier)]} | _custodians(warehouse)
    for subject, places in ((f"vault, schema {schema}", None), ("vault, tables", tables)):
        grants = _grants(warehouse, schema, places)
        others = sorted({who for _, who, _ in grants} - custodians)
        message = "nobody but its owner and custodians has a right."
        if others:
            names = sorted({name for name, who, _ in grants if who not in custodians and name})
            of = f" on {', '.join(names)}" if names else ""
            message = (
                "nobody but owner and custodians may have a right in the vault; got "
                f"{', '.join(others)}{of}. Revoke it, or name custodians in the variable "
                "dbt_anonymize_custodians."
            )
        yield Finding("recomputation", subject, not others, message)


def is_closed(warehouse: Warehouse, schema: str) -> bool:
    """Tell whether only owner and custodians have rights on a schema."""
    return {who for _, who, _ in _grants(warehouse, schema, None)} <= _custodians(warehouse)


def _custodians(warehouse: Warehouse) -> set[str]:
    return {
        _role_name(str(name)) for name in warehouse.macro("_custodian_grants").get("select", [])
    }


def _role_name(role: str) -> str:
    """Return the role that a name in a statement refers to."""
    return role[1:-1].replace('""', '"') if role.startswith('"') else role.lower()


def _grants(
    warehouse: Warehouse, schema: str, tables: Sequence[str] | None
) -> list[tuple[str | None, str, str]]:
    """Return the rights of others than the owner on a schema, or on some of its tables."""
    condition = "name is null"
    if tables is not None:
        names = ", ".join(map(quote_text, tables)) or "null"
        condition = f"name in ({names})"
    grants = warehouse.rows(
        f"select distinct name, {_GRANTEE}, privilege_type from ({_GRANTS}) as granted "
        f"where place = {quote_text(schema)} and {condition} and grantee <> owner"
    )
    return [(name, str(who), str(right)) for name, who, right in grants]
