"""A frozen effort on Postgres: who waits, joins and leaves there is who does on DuckDB."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from tests.extensions.postgres.conftest import on_postgres
from tests.extensions.postgres.server import Server
from tests.projects import Project
from tests.second_month.customers import SEED, SPEC, Customers, K, diverse_copy, members_of, run

# Eight builds.
pytestmark = [pytest.mark.slow, pytest.mark.dbt, pytest.mark.needs("second_month")]

_MEMBERS = "select record_key, cqi, entered, left_at from {}.customers_members order by 1, 3"
_CLASSES = (
    "select zip, gender, class_size, records, churned_distinct_l "
    "from {}.customers_released_classes order by 1, 2, 3, 4"
)
_STATES = "select record_key, state from {}.customers_membership order by 1"


def released(rows: list[tuple[Any, ...]]) -> list[str]:
    """Return rows in an order of their own."""
    return sorted(str(tuple(str(value) for value in row)) for row in rows)


def test_every_promise_is_kept_as_on_duckdb(
    server: Server, built_consumer: Project, tmp_path: Path
) -> None:
    duckdb = diverse_copy(built_consumer, tmp_path / "duckdb", "duckdb")
    duckdb.build()
    postgres = on_postgres(duckdb, tmp_path / "postgres", server, ["customers"])
    # Copies are files, which DuckDB alone publishes.
    postgres.edit(SPEC, lambda text: text.replace("[duckdb]", "[duckdb, csv]"))
    generate(postgres.folder)
    stopped = postgres.dbt("build")
    assert not stopped.succeeded
    assert "release.formats are of files, which DuckDB alone publishes; got" in stopped.messages
    postgres.edit(SPEC, lambda text: text.replace("[duckdb, csv]", "[duckdb]"))
    generate(postgres.folder)
    postgres.build()
    for project in (duckdb, postgres):
        result = run(project, "freeze", "customers")
        assert result.exit_code == 0, result.output
    server.query(f"grant usage on schema shop_vault to {server.custodians}")
    first, second, third, *_ = members_of(duckdb).values()
    customers = Customers(duckdb)
    for month in range(2):
        alike = customers.join(first[0], K)
        for key in alike:
            customers.rows[key]["churned"] = ("yes", "no")[month]
        for place, key in enumerate(customers.join(second[0], K)):
            customers.rows[key]["churned"] = "yes" if place % 2 else "no"
        customers.leave(third[month * 3 : month * 3 + 3])
        customers.build()
        shutil.copy(duckdb.folder / SEED, postgres.folder / SEED)
        postgres.build()
        for sql in (_MEMBERS, _STATES):
            ours = server.query(sql.format("shop_vault"))
            assert sorted(map(str, ours)) == sorted(map(str, duckdb.query(sql.format("vault"))))
        told = duckdb.query(_CLASSES.format("main"))
        assert server.query(_CLASSES.format("shop")) == told
        bounds = "birth_date_lower, birth_date_upper, birth_date_midpoint"
        columns = f"birth_date, {bounds}, zip, gender, churned, cqi"
        rows = server.query(f"select {columns} from shop_release.customers_anonymized")
        with duckdb.connection() as connection:
            sql = f"select {columns} from release_customers.customers_anonymized"
            assert released(rows) == released(connection.execute(sql).fetchall())
    waiting = {state for _, state in server.query(_STATES.format("shop_vault"))}
    assert {"joined", "released"} <= waiting
    assert server.refuses("select 1 from shop_vault.customers_members", server.analyst)
