"""Tables of findings that `verify` writes beside ``<n>_results``."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import Field, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Finding

# The macro of a column's type, and its package, by the annotation of the field.
_TYPES = {
    "str": ("type_string", "dbt"),
    "bool": ("type_boolean", "dbt"),
    "int": ("type_bigint", "dbt"),
    "float": ("_type_double", "dbt_anonymize"),
}
# Columns that come last, as they are long.
_LONG = ("explanation", "message")


@dataclass(frozen=True)
class VerifiedFinding:
    """One row of ``<n>_verification``: a finding, its time (UTC), and the release it is about.

    ``content`` and ``spec`` are digests of the released rows and of the spec, as in
    ``<n>_register``; NULL if unknown.
    """

    proof: str
    subject: str
    status: str
    message: str
    verified_at: str
    content: str | None = None
    spec: str | None = None


def write_rows(
    warehouse: Warehouse, spec: Spec, part: str, kind: type[Any], rows: Sequence[Any]
) -> str:
    """Replace ``<n>_<part>`` by rows of a dataclass, a column for each field; return its name."""
    relation = _relation(warehouse, spec, part)
    columns = sorted(fields(kind), key=lambda field: field.name in _LONG)
    # Calling a macro takes longer than writing the rows; the names are of our own.
    kinds = {kind: _type(warehouse, kind) for kind in dict.fromkeys(map(_kind, columns))}
    types = {warehouse.adapter.quote(column.name): kinds[_kind(column)] for column in columns}
    values = [[getattr(row, column.name) for column in columns] for row in rows]
    warehouse.replace_table(relation, types, values)
    return str(relation.identifier)


def _kind(column: Field[Any]) -> str:
    return str(column.type).removesuffix(" | None")


def _type(warehouse: Warehouse, kind: str) -> str:
    macro, package = _TYPES[kind]
    return str(warehouse.macro(macro, package=package))


def write_findings(
    warehouse: Warehouse,
    spec: Spec,
    checks: Collection[str],
    findings: Sequence[Finding],
    content: str | None,
) -> None:
    """Replace the findings of some checks in ``<n>_verification``; those of others stay.

    ``content`` is the digest of the released rows that they are about. Nothing is written for an
    anonymization that was never built.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    with contextlib.suppress(WarehouseError):
        relation = _relation(warehouse, spec, "verification")
        rows = [row for row in _earlier_findings(warehouse, relation) if row.proof not in checks]
        about = (now, content, spec.fingerprint)
        rows += [VerifiedFinding(f.check, f.subject, f.status, f.message, *about) for f in findings]
        write_rows(warehouse, spec, "verification", VerifiedFinding, rows)


def _earlier_findings(warehouse: Warehouse, relation: Any) -> list[VerifiedFinding]:
    if warehouse.find(relation) is None:
        return []
    # Findings of earlier versions lack the columns about their release.
    present = {name for name, _ in warehouse.columns(relation)}
    columns = [field.name for field in fields(VerifiedFinding) if field.name in present]
    sql = f"select {', '.join(columns)} from {relation}"  # noqa: S608 (names of our own)
    return [VerifiedFinding(**dict(zip(columns, row, strict=True))) for row in warehouse.rows(sql)]


def _relation(warehouse: Warehouse, spec: Spec, part: str) -> Any:
    return warehouse.relation_of_ref(f"{spec.name}_results").incorporate(
        path={"identifier": f"{spec.name}_{part}"}, type="table"
    )
