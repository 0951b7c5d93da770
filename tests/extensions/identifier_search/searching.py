"""Search for the identifiers of a small clinic."""

from __future__ import annotations

import duckdb

from dbt_anonymize.extensions.identifier_search.content import check_content
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.verify.checked import Checked
from dbt_anonymize.verify.finding import Finding
from tests.verify.clinic import Clinic

# Somebody who is in the vault, and the number.
NAME, PHONE = "Person Dowsky-55", "0113 496055 77"


RELEASE = "release/visits.duckdb"


def search(clinic: Clinic) -> list[Finding]:
    with clinic.open() as warehouse:
        return search_in(warehouse, clinic)


def search_in(warehouse: Warehouse, clinic: Clinic) -> list[Finding]:
    release = clinic.release
    return check_content(
        Checked(warehouse, warehouse, clinic.project, clinic.spec, release, content=None)
    )


def rename(clinic: Clinic, text: str) -> None:
    with clinic.open() as warehouse:
        warehouse.rows(f"update vault.visits_identifiers set name = '{text}' where visit = 1009")


def in_warehouse(clinic: Clinic, *statements: str) -> None:
    with duckdb.connect(str(clinic.warehouse_file)) as connection:
        connection.execute(f"attach '{clinic.vault_file}' as vault (read_only)")
        for sql in statements:
            connection.execute(sql)
