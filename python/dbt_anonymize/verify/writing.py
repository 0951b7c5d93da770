"""What `verify` leaves in the warehouse beside ``<n>_results``: tables of what it found."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import Field, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.finding import Check, Finding

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
    """One row of ``<n>_verification``: a finding, and when it was made (UTC)."""

    proof: str
    subject: str
    status: str
    message: str
    verified_at: str


def write_rows(
    warehouse: Warehouse, spec: Spec, part: str, kind: type[Any], rows: Sequence[Any]
) -> str:
    """Replace ``<n>_<part>`` by rows of a dataclass, a column for each field; return its name."""
    relation = _relation(warehouse, spec, part)
    columns = sorted(fields(kind), key=lambda field: field.name in _LONG)
    types = {
        warehouse.macro("_quote", name=column.name): _type(warehouse, column) for column in columns
    }
    values = [[getattr(row, column.name) for column in columns] for row in rows]
    warehouse.replace_table(relation, types, values)
    return str(relation.identifier)


def _type(warehouse: Warehouse, column: Field[Any]) -> str:
    macro, package = _TYPES[str(column.type).removesuffix(" | None")]
    return str(warehouse.macro(macro, package=package))


def write_findings(
    warehouse: Warehouse, spec: Spec, checks: Collection[Check], found: Sequence[Finding]
) -> None:
    """Replace the findings of some checks in ``<n>_verification``; those of others stay.

    Nothing is written about an anonymization that was never built.
    """
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    with contextlib.suppress(WarehouseError):
        relation = _relation(warehouse, spec, "verification")
        columns = [field.name for field in fields(VerifiedFinding)]
        before = []
        if warehouse.find(relation) is not None:
            sql = f"select {', '.join(columns)} from {relation}"  # noqa: S608 (names of our own)
            before = [VerifiedFinding(*row) for row in warehouse.rows(sql)]
        rows = [row for row in before if row.proof not in checks]
        rows += [VerifiedFinding(f.check, f.subject, f.status, f.message, now) for f in found]
        write_rows(warehouse, spec, "verification", VerifiedFinding, rows)


def _relation(warehouse: Warehouse, spec: Spec, part: str) -> Any:
    return warehouse.relation_of_ref(f"{spec.name}_results").incorporate(
        path={"identifier": f"{spec.name}_{part}"}, type="table"
    )
