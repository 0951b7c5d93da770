"""Erasing in files, and its refusals, without a project."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import VaultError
from dbt_anonymize.extensions.custody.erase import run
from dbt_anonymize.extensions.custody.erase.files import (
    files_with_texts,
    rewrite_files,
    searchable_texts,
)
from dbt_anonymize.relations import ALL
from dbt_anonymize.spec import load_specs
from tests.projects import CONSUMER_PROJECT, REPOSITORY

NAME = "Rasmussen, Sofia"
KNOWN = {name for name, one in ALL.items() if one.erased_by or one.nobody}


def as_warehouse(connection: duckdb.DuckDBPyConnection) -> Any:
    """Return what is needed of a warehouse."""
    return SimpleNamespace(
        cursor=lambda: connection,
        rows=lambda sql: connection.execute(sql).fetchall(),
        adapter=SimpleNamespace(connections=SimpleNamespace(clear_transaction=lambda: None)),
    )


def test_deleted_rows_are_gone_from_the_bytes_and_all_else_is_there(tmp_path: Path) -> None:
    path = tmp_path / 'it\'s a "vault".duckdb'
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table people (number bigint primary key, name varchar)")
        connection.execute("insert into people select i, 'Person ' || i from range(5000) as r(i)")
        connection.execute("insert into people values (-1, ?)", [NAME])
        connection.execute("create schema other; create view other.all_of_them as from people")
        connection.execute("checkpoint")
        connection.execute("delete from people where number = -1")
    path.chmod(0o600)
    assert [*files_with_texts([path], searchable_texts([NAME, "Al"]))] == [(path, 1)]
    with duckdb.connect(str(path)) as connection:
        (database,) = connection.execute("select current_database()").fetchone() or ()
        assert rewrite_files(as_warehouse(connection), [database, "none"]) == [path]
    assert [*files_with_texts([path], [NAME])] == []
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.stat().st_mode & 0o777 == 0o600
    with duckdb.connect(str(path)) as connection:
        assert connection.sql("select count(*) from other.all_of_them").fetchall() == [(5000,)]
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("insert into people values (1, 'again')")


def test_a_file_that_cannot_be_rewritten_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "vault.duckdb"
    with duckdb.connect() as connection:
        connection.execute("set force_mbedtls_unsafe = 'true'")
        connection.execute(f"attach '{path}' as vault (encryption_key 'secret')")
        connection.execute("create table vault.people as select 1 as number")
        with pytest.raises(VaultError, match="would lose its encryption"):
            rewrite_files(as_warehouse(connection), ["vault"])
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("create table people as select 1 as number")
        (tmp_path / ".shop.duckdb.rewritten").mkdir()
        with pytest.raises(VaultError, match="It is unchanged"):
            rewrite_files(as_warehouse(connection), ["shop"])
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        assert connection.sql("from people").fetchall() == [(1,)]


@pytest.mark.parametrize("engine", ["postgres", "spark", "duckdb"])
def test_what_was_not_tested_is_refused_with_what_to_do(engine: str) -> None:
    (spec,) = load_specs(CONSUMER_PROJECT)
    if engine == "duckdb":
        spec = spec.model_copy(update={"mapping": "none"})
    warehouse: Any = SimpleNamespace(
        is_duckdb=engine == "duckdb", adapter=SimpleNamespace(type=lambda: engine)
    )
    with pytest.raises(VaultError, match="composition" if engine == "duckdb" else "vacuum full"):
        run.plan_erasure(warehouse, spec, key="1")


@pytest.mark.needs("second_month")
def test_whatever_lies_beside_a_model_is_known_to_be_erased_or_not() -> None:
    patterns = {
        "macros": r'identifier=\w+ ~ "_(\w+)"|path=\{"identifier": \w+ ~ "_(\w+)"',
        "python": r'"identifier": f"\{[\w.]+\}_(\w+)"',
    }
    found: set[str] = set()
    for folder, pattern in patterns.items():
        for path in (REPOSITORY / folder).rglob("*.sql" if folder == "macros" else "*.py"):
            for groups in re.findall(pattern, path.read_text("utf-8")):
                found |= {groups} if isinstance(groups, str) else {*groups} - {""}
    appended = {
        path.stem
        for path in (REPOSITORY / "macros" / "relations").glob("*.sql")
        if re.search(r'materialized="(dbt_anonymize_tokens|incremental)"', path.read_text("utf-8"))
    } - {"anonymization_results"}
    assert {"releases", "members", "relinkings"} <= found
    assert {"tokens", "sample", "mask_keys"} == appended
    assert found | appended <= KNOWN
