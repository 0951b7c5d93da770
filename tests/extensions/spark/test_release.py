"""Releases on Spark: rows from counts, and the digest of the checked rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from tests.extensions.spark.conftest import OnSpark
from tests.extensions.spark.session import query
from tests.projects import Project

pytestmark = pytest.mark.slow

MODEL = "models/customers/customers_anonymized.sql"
RELEASE = "select * from shop_release.customers_anonymized"
# What everybody sees as another row, though the engine holds some for equal.
ROWS = (
    "('b', 0d, timestamp'2026-01-01 00:00:00.000001')",
    "('b', -0d, timestamp'2026-01-01 00:00:00.000001')",
    "('b', -0d, timestamp'2026-01-01 00:00:00.000002')",
    "('B', double('nan'), null)",
    "('', null, null)",
    "(null, null, null)",
    "('null', null, null)",
)
NAMES = ["`records of`", "first", "`select`"]
COLUMNS = ["records of", "first", "select"]


@pytest.fixture
def project(built: OnSpark, tmp_path: Path) -> Project:
    return built.project.copy(tmp_path / "project")


@pytest.fixture
def warehouse(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Warehouse]:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    with open_warehouse(find_project(project.folder)) as warehouse:
        yield warehouse


def create(warehouse: Warehouse, name: str, rows: str) -> Any:
    """Create a table, and return its relation."""
    query(f"drop table if exists shop.{name}")
    query(f"create table shop.{name} using parquet as {rows}")
    return warehouse.adapter.Relation.create(schema="shop", identifier=name)


def values(rows: tuple[str, ...]) -> str:
    return f"select * from values {', '.join(rows)} as listed ({', '.join(NAMES)})"


def shown(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    return [tuple(map(repr, row)) for row in rows]


def test_a_counted_release_is_that_of_rows(built: OnSpark, project: Project) -> None:
    before = query(RELEASE)
    project.edit(
        MODEL,
        lambda text: text.replace("    'microdata'", "    'is_counted': true,\n    'microdata'"),
    )
    try:
        outcome = project.dbt("run", "-s", "customers_anonymized")
        assert outcome.succeeded, outcome.messages
        after = query(RELEASE)
        assert after == query(f"{RELEASE} order by all")
        # What `verify` reads the provenance of released columns from.
        clinic = pytest.importorskip("tests.extensions.provenance.leaks.clinic")
        with clinic.compiled(project, "customers") as (relations, _):
            sql = relations.by_name["customers_anonymized"].sql
            assert set(shown(query(str(sql)))) == set(shown(before))
    finally:
        assert built.project.dbt("run", "-s", "customers_anonymized").succeeded
    assert Counter(shown(after)) == Counter(shown(before))
    assert query("show tables in shop like '*candidate*'") == []


def test_a_build_that_stops_before_the_view_is_switched_leaves_the_earlier_release(
    built: OnSpark, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complete; the register is ahead of it, and the next build needs no repair."""
    from dbt.adapters.spark.connections import SparkConnectionManager

    add_query = SparkConnectionManager.add_query
    registered = "select count(*) from shop.customers_register"
    before, ((rows,),) = query(RELEASE), query(registered)
    folders = "show tables in shop_release like 'customers_anonymized__*'"
    assert len(query(folders)) == 1

    def stopped(self: Any, sql: str, *arguments: Any, **more: Any) -> Any:
        if "create or replace view" in sql and "customers_anonymized" in sql:
            raise RuntimeError("stopped")
        return add_query(self, sql, *arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SparkConnectionManager, "add_query", stopped)
        assert not project.dbt("run", "-s", "customers_anonymized").succeeded
    assert query(RELEASE) == before
    assert query(registered) == [(rows + 1,)]
    assert len(query(folders)) == 2
    outcome = project.dbt("run", "-s", "customers_anonymized")
    assert outcome.succeeded, outcome.messages
    assert query(RELEASE) == before
    assert len(query(folders)) == 1


def test_counts_of_rows_are_repeated_in_their_order(warehouse: Warehouse) -> None:
    rows = [*ROWS * 2, *ROWS[1:3]]
    many = f"select * from ({values(tuple(rows))}) union all {values(ROWS[:1])} "
    columns = ", ".join(NAMES)
    effort = create(
        warehouse,
        "shown_rows",
        f"select {columns}, 'class' as equivalence_class, false as is_suppressed from ({many}) "
        f"union all select {columns}, 'class', false from ({values(ROWS[2:3])}) "
        "lateral view explode(sequence(1, 70000)) as number "
        f"union all select {columns}, 'none', true from ({values(ROWS[:1])})",
    )
    expected = Counter(
        shown(query(f"select {columns}, 'class' from {effort} where not is_suppressed"))
    )
    assert len(expected) == len(ROWS)
    sql = warehouse.macro("_counted_release", effort=effort, columns=COLUMNS, has_class=True)
    counts = create(warehouse, "shown_counts", sql)
    assert {row[:-1]: int(row[-1]) for row in shown(query(f"select * from {counts}"))} == expected
    names = [*NAMES, "cqi"]
    copied = query(warehouse.macro("_ordered_copy", checked=counts, names=names, is_counted=True))
    assert Counter(shown(copied)) == expected
    listed = ", ".join(names)
    in_order = query(f"select {listed} from {effort_of(effort)} order by {listed}")
    # The engine puts -0.0 and 0.0 anywhere among each other.
    assert [row[0] for row in copied] == [row[0] for row in in_order]
    digests = {
        query(warehouse.macro("_digest_of_copy", relation=relation, names=names, records=records))[
            0
        ]
        for relation, records in ((counts, "records"), (effort_of(effort), "1"))
    }
    assert len(digests) == 1


def effort_of(effort: Any) -> str:
    return f"(select *, equivalence_class as cqi from {effort} where not is_suppressed)"


def test_whoever_writes_another_row_is_found(warehouse: Warehouse) -> None:
    def digest(*rows: str) -> str:
        relation = f"({values(rows)})"
        sql = warehouse.macro("_digest_of_copy", relation=relation, names=NAMES, records="1")
        return str(query(sql)[0][0])

    assert_told_apart(digest)


def test_a_fingerprint_tells_apart_what_everybody_does(warehouse: Warehouse) -> None:
    def digest(*rows: str) -> str:
        sql = warehouse.macro("_sum_of_hashes", relation_alias="digested")
        return str(query(f"select {sql} from ({values(rows)}) as digested")[0][0])

    assert_told_apart(digest)


def assert_told_apart(digest: Callable[..., str]) -> None:
    known = digest(*ROWS)
    assert digest(*reversed(ROWS)) == known
    found = [known, digest(*ROWS, ROWS[0]), digest(*ROWS[1:])]
    found += [
        digest(*ROWS[:place], other, *ROWS[place + 1 :])
        for place, row in enumerate(ROWS)
        for other in ROWS
        if other != row
    ]
    swapped = ("('1', 2d, null)", "(null, 2d, timestamp'2026-01-01')", "(null, null, null)")
    found += [digest(row) for row in swapped]
    assert len(set(found)) == len(found)
