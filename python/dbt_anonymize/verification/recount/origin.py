"""Whether the released rows are those of the source: none less, none more, none changed.

The vault leads from classes, or tokens, back to the records of the source; with it every released
row is traced. Without a mapping nothing leads back, and only numbers can be compared.
"""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Iterator
from pathlib import Path

from dbt_anonymize.literals import quote_name, quote_path
from dbt_anonymize.spec import Spec
from dbt_anonymize.verification.finding import Finding
from dbt_anonymize.verification.recount.limits import declared
from dbt_anonymize.verification.relations import (
    Released,
    cursor_of,
    is_duckdb,
    source_relation,
)
from dbt_anonymize.warehouse import Warehouse


def check_suppressed(warehouse: Warehouse, spec: Spec, released: Released) -> Finding:
    """Compare how many records are suppressed with the declared limit, as decimal numbers."""
    ((there,),) = released.rows(f"select count(*) from {released.relation}")  # noqa: S608
    source = source_relation(warehouse, spec.source)
    ((records,),) = warehouse.rows(f"select count(*) from {source}")  # noqa: S608
    allowed = math.floor(declared(spec.suppression_limit) * records)
    holds = 0 < there <= records and records - there <= allowed
    message = (
        f"{there:,} of {records:,} records of the source are released; at most {allowed:,} may be "
        "suppressed"
    )
    remedy = "" if holds else ". The source changed since, or the limit did: build again."
    return Finding("guarantees", "suppression_limit", holds, message + remedy)


def check_origin(warehouse: Warehouse, spec: Spec, release: Path) -> Finding:
    """Trace every released row to the source, through the vault.

    Parameters
    ----------
    warehouse : Warehouse
        With vault and source; the release is attached to it, for reading, while it is compared.
    spec : Spec
        The anonymization.
    release : Path
        The release file; nobody else in this process may have it open.

    Returns
    -------
    Finding
        By class (``cqi``): as many rows as the vault has records, with the same kept values, whose
        values lie in the released intervals. By token: the kept values of a record of its person.
    """
    subject = "origin"
    if spec.mapping == "none":
        message = "there is no mapping, so that no released row can be traced to the source"
        return Finding("guarantees", subject, None, message)
    with _attached(warehouse, spec, release) as relation:
        sql = (_by_class if spec.mapping == "class" else _by_token)(warehouse, spec, relation)
        (counts,) = warehouse.rows(sql)
    compared, number, values = (int(count or 0) for count in counts)
    unit = "classes" if spec.mapping == "class" else "records"
    if not number and not values:
        message = f"all of {compared:,} {unit} are those of the source, traced through the vault"
        return Finding("guarantees", subject, True, message)
    message = (
        "the release must hold the rows of the source; of "
        f"{compared:,} {unit} {number:,} are not in both release and vault with as many records, "
        f"and {values:,} have other values than the source. Release, vault or source was changed "
        "since: build again."
    )
    return Finding("guarantees", subject, False, message)


@contextlib.contextmanager
def _attached(warehouse: Warehouse, spec: Spec, release: Path) -> Iterator[str]:
    """Give the released table as a relation beside vault and source."""
    if not is_duckdb(warehouse):
        yield str(warehouse.relation_of_ref(f"{spec.name}_anonymized"))
        return
    alias = f"release_{uuid.uuid4().hex}"
    # What is looked up through dbt begins a transaction, in which nothing can be detached.
    connections = warehouse.adapter.connections
    connections.clear_transaction()
    cursor = cursor_of(warehouse)
    cursor.execute(f"attach {quote_path(release)} as {alias} (read_only)")
    try:
        yield f"{alias}.main.{quote_name(f'{spec.name}_anonymized')}"
    finally:
        connections.clear_transaction()
        cursor.execute(f"detach {alias}")


def _by_class(warehouse: Warehouse, spec: Spec, relation: str) -> str:
    """Query of one row: classes; those with another number of records; those with other values.

    The values of a class are compared by a sum of hashes, which does not depend on the order of its
    rows.
    """
    vault, source, key = _vault_and_source(warehouse, spec)
    hashed = _hash(spec, "source")
    released, traced, outside = [], [], ["false"]
    for number, name in enumerate(_intervals(spec)):
        column = quote_name(name)
        lower, upper = quote_name(f"{name}_lower"), quote_name(f"{name}_upper")
        released += [f"min({lower}) as lower_{number}", f"max({upper}) as upper_{number}"]
        traced += [
            f"min(source.{column}) as low_{number}",
            f"max(source.{column}) as high_{number}",
        ]
        outside.append(
            f"low_{number} < lower_{number} or high_{number} > upper_{number} "
            f"or (high_{number} = upper_{number} and lower_{number} < upper_{number})"
        )
    return (
        "with released as ("  # noqa: S608
        f"select encode(cqi) as class, count(*) as records, {_hash(spec, 'rows_')} as hashes"
        f"{_and(released)} from {relation} as rows_ group by encode(cqi)"
        "), traced as ("
        f"select encode(vault.cqi) as class, count(*) as records, {hashed} as hashes{_and(traced)} "
        f"from {vault} as vault inner join {source} as source on vault.{key} = source.{key} "
        "where vault.cqi is not null group by encode(vault.cqi)"
        ") select count(*), "
        "sum(case when released.records is distinct from traced.records then 1 else 0 end), "
        "sum(case when released.records = traced.records and (released.hashes <> traced.hashes "
        f"or {' or '.join(outside)}) then 1 else 0 end) "
        "from released full outer join traced on released.class = traced.class"
    )


def _by_token(warehouse: Warehouse, spec: Spec, relation: str) -> str:
    """Query of one row: released records; those whose token the vault lacks; with other values."""
    vault, source, key = _vault_and_source(warehouse, spec)
    conditions = ["true"]
    for name in _intervals(spec):
        column = f"source.{quote_name(name)}"
        lower, upper = (f"rows_.{quote_name(f'{name}_{end}')}" for end in ("lower", "upper"))
        conditions.append(
            f"({column} is null or ({column} >= {lower} and ({column} < {upper} "
            f"or {column} = {lower})))"
        )
    same = [
        f"source.{quote_name(name)} is not distinct from rows_.{quote_name(name)}"
        for name in spec.kept_columns
    ]
    return (
        "with matched as ("  # noqa: S608
        "select rows_.rowid as place, "
        "max(case when source.found is null then 0 else 1 end) as is_known, "
        f"max(case when source.found is not null and {' and '.join([*same, *conditions])} "
        "then 1 else 0 end) as is_same "
        f"from {relation} as rows_ left join (select vault.token as found, source.* "
        f"from {vault} as vault inner join {source} as source on vault.{key} = source.{key}) "
        "as source on encode(rows_.token) = encode(source.found) group by rows_.rowid"
        ") select count(*), sum(1 - is_known), sum(is_known - is_same) from matched"
    )


def _vault_and_source(warehouse: Warehouse, spec: Spec) -> tuple[str, str, str]:
    vault = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    source = source_relation(warehouse, spec.source)
    return str(vault), str(source), quote_name(spec.record_key)


def _intervals(spec: Spec) -> list[str]:
    return [name for name, h in spec.quasi_identifiers.items() if h.kind == "interval"]


def _hash(spec: Spec, rows: str) -> str:
    if not spec.kept_columns:
        return "0"
    # Texts: whether a number is kept as an integer or as a decimal says nothing.
    columns = ", ".join(f"cast({rows}.{quote_name(name)} as varchar)" for name in spec.kept_columns)
    return f"sum(cast(hash({columns}) as hugeint))"


def _and(columns: list[str]) -> str:
    return "".join(f", {column}" for column in columns)
