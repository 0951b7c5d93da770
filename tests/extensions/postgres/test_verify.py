"""`dbt-anonymize verify` on Postgres: what holds there as on DuckDB, and which leaks are found."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
import yaml

from dbt_anonymize.extensions.postgres.text import write_as_postgres
from dbt_anonymize.project.engines import WRITTEN
from tests.commands.conftest import command
from tests.engines.verified import OF_FILES, statuses, verified
from tests.extensions.postgres.conftest import on_postgres
from tests.extensions.postgres.server import Server
from tests.projects import Project

# Builds, and some ten seconds for each leak; `test_demonstration` has what `make test` runs.
pytestmark = pytest.mark.slow

RELEASE, VAULT = "shop_release.customers_anonymized", "shop_vault.customers_identifiers"
EVERYWHERE = ("provenance", "content", "recomputation", "guarantees", "attacks", "audit")
# What stands in the place of what is about a file on DuckDB.
OF_SERVERS = {
    ("content", "files"),
    ("recomputation", "release file"),
    ("recomputation", "schema shop_release"),
    ("recomputation", "customers_anonymized, grants"),
    ("recomputation", "vault, schema shop_vault"),
    ("recomputation", "vault, tables"),
}


@dataclass(frozen=True)
class Leak:
    """A change to a built project, and the findings that must not hold then."""

    plants: str
    broken: frozenset[tuple[str, str]]
    undoes: str = ""


LEAKS = {
    "a label that was updated": Leak(
        f"update {RELEASE} set zip = '99***' where ctid = (select min(ctid) from {RELEASE})",
        frozenset({("recomputation", "customers_anonymized")}),
    ),
    "an identifier in a kept column": Leak(
        f'update {RELEASE} set churned = (select min("e-mail") from {VAULT}) '
        f"where ctid = (select min(ctid) from {RELEASE})",
        frozenset({("content", "customers_anonymized.churned")}),
    ),
    "an identifier in a comment": Leak(
        "do $$ begin execute format('comment on table "
        f"""{RELEASE} is %L', (select min("e-mail") from {VAULT})); end $$""",
        frozenset({("content", "customers_anonymized (comments and defaults)")}),
        f"comment on table {RELEASE} is null",
    ),
    "a class that was removed": Leak(
        f"delete from {RELEASE} where cqi = (select min(cqi) from {RELEASE})",
        frozenset({("recomputation", "customers_anonymized")}),
    ),
    "a class of two": Leak(
        f"delete from {RELEASE} where cqi = (select min(cqi) from {RELEASE}) and ctid not in "
        f"(select ctid from {RELEASE} order by cqi limit 2)",
        frozenset({("guarantees", "k_anonymity (k 4)"), ("attacks", "linkage, highest_success")}),
    ),
    "rows in another order": Leak(
        f"create table shop.moved as select * from {RELEASE}; truncate {RELEASE}; "
        f"insert into {RELEASE} select * from shop.moved order by cqi desc",
        frozenset({("recomputation", "customers_anonymized, order of rows")}),
        "drop table shop.moved",
    ),
    "an altered privacy row": Leak(
        "create table shop.kept as select * from shop.customers_privacy; "
        "update shop.customers_privacy set average_risk = average_risk / 2",
        frozenset({("attacks", "linkage, average_success")}),
        "update shop.customers_privacy as p set average_risk = k.average_risk from shop.kept as k "
        "where p.effort = k.effort; drop table shop.kept",
    ),
    "an identifier in a working table": Leak(
        f'create table shop.copied as select "e-mail" as mail from {VAULT}',
        frozenset({("content", "shop.copied.mail")}),
        "drop table shop.copied",
    ),
    "a vault that others enter": Leak(
        "grant usage on schema shop_vault to {analyst}; "
        "grant select on shop_vault.customers_identifiers to public",
        frozenset(
            {("recomputation", "vault, schema shop_vault"), ("recomputation", "vault, tables")}
        ),
        "revoke usage on schema shop_vault from {analyst}; "
        "revoke select on shop_vault.customers_identifiers from public",
    ),
    "a release that others change or read": Leak(
        f"grant update (churned) on {RELEASE} to {{analyst}}; grant select on {RELEASE} to public",
        frozenset(
            {
                ("recomputation", "customers_anonymized, grants"),
                ("recomputation", "customers_anonymized, grants to public"),
            }
        ),
        f"revoke update (churned) on {RELEASE} from {{analyst}}; "
        f"revoke select on {RELEASE} from public",
    ),
    "a table beside the release": Leak(
        f"create table shop_release.more as select * from {RELEASE}",
        frozenset({("recomputation", "schema shop_release")}),
        "drop table shop_release.more",
    ),
}


@pytest.fixture(scope="module")
def built(
    server: Server, built_consumer: Project, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    folder = tmp_path_factory.mktemp("verified") / "project"
    project = on_postgres(built_consumer, folder, server, ["customers"])
    project.build()
    server.query(f"create table public.released as select * from {RELEASE}")
    return project


@pytest.fixture
def untouched(built: Project, server: Server) -> Iterator[Project]:
    yield built
    server.query(f"truncate {RELEASE}; insert into {RELEASE} select * from public.released")


def test_verify_holds_as_on_duckdb_but_for_what_it_names(
    built: Project, built_consumer: Project, server: Server
) -> None:
    here, result = verified(built)
    there, _ = verified(built_consumer)
    assert result.exit_code == 0, result.output
    # There the source with identifiers lies in the file of the warehouse.
    in_file = {("content", f"main.customers.{name}") for name in ("e-mail", "full name")}
    in_cells = {("content", "warehouse")}
    assert statuses(here, OF_SERVERS) == statuses(there, OF_FILES | in_file | in_cells) | Counter(
        {("content", "warehouse", True): 1}
    )
    not_run = {(f["check"], f["subject"]) for f in here if not f["was_run"]}
    assert not_run == {("content", "files"), ("recomputation", "release file")}
    numbers = [
        {f["subject"]: f["message"] for f in found if f["check"] in {"guarantees", "attacks"}}
        for found in (here, there)
    ]
    assert numbers[0] == numbers[1]
    text = command(built, "verify", "customers", "--check", "content")
    assert "not run" in text.output
    # What was found belongs to the rows that the register has.
    registered = server.query("select content, spec from shop.customers_register")
    for part in ("verification", "attacks"):
        found = server.query(f"select distinct content, spec from shop.customers_{part}")
        assert found == registered, part


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_found(untouched: Project, server: Server, name: str) -> None:
    leak = LEAKS[name]
    server.query(leak.plants.replace("{analyst}", server.analyst))
    try:
        checks = [part for check in dict(leak.broken) for part in ("--check", check)]
        found, result = verified(untouched, *checks)
    finally:
        if leak.undoes:
            server.query(leak.undoes.replace("{analyst}", server.analyst))
    broken = {(f["check"], f["subject"]) for f in found if f["holds"] is False}
    assert leak.broken <= broken, result.output
    assert result.exit_code == 1


def test_roles_that_may_read_a_release_undeclared_are_named(
    untouched: Project, server: Server
) -> None:
    server.query(f"grant select on {RELEASE} to {server.analyst}")
    found, _ = verified(untouched, "--check", "recomputation")
    server.query(f"revoke select on {RELEASE} from {server.analyst}")
    (warning,) = (f["message"] for f in found if f["is_warning"])
    assert server.analyst in warning


@pytest.mark.parametrize("user", ["analyst", "custodian"])
def test_who_may_not_read_is_told_so(
    built: Project, server: Server, tmp_path: Path, user: str
) -> None:
    """The custodian may read vault and models, but write nothing, nor enter the schemas."""
    project = built.copy(tmp_path / "project")
    profile = {"shop": {"target": "dev", "outputs": {"dev": server.output(getattr(server, user))}}}
    (project.folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    found, result = verified(project)
    assert result.exit_code == 1, result.output
    refused = {f["check"] for f in found if "refused it" in f["message"]}
    assert {"content", "recomputation", "attacks"} <= refused
    assert "tables of findings" in {f["subject"] for f in found if not f["was_run"]}


def test_a_custodian_with_grants_proves_everything(
    built: Project, server: Server, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "project")
    profile = {"shop": {"target": "dev", "outputs": {"dev": server.output(server.custodian)}}}
    (project.folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    server.query(f"grant usage on schema shop, shop_release to {server.custodians}")
    server.query(
        "grant select on all tables in schema shop, shop_release, shop_vault "
        f"to {server.custodians}"
    )
    found, result = verified(project)
    assert [f for f in found if f["holds"] is False] == [], result.output
    assert {f["check"] for f in found if f["holds"]} == {*EVERYWHERE}
    assert "tables of findings" in {f["subject"] for f in found if not f["was_run"]}


def test_floats_are_written_as_postgres_writes_them(server: Server) -> None:
    draw = random.Random(7)
    drawn = [repr(struct.unpack("d", draw.randbytes(8))[0]) for _ in range(2000)]
    drawn += [f"{draw.randrange(-(10**6), 10**6)}e{draw.randrange(-20, 20)}" for _ in range(2000)]
    special = ["0", "-0", "1e15", "1e14", "0.0001", "0.00001", "NaN", "Infinity", "-Infinity"]
    plain = [f"{draw.randrange(-(10**9), 10**9)}e{draw.randrange(-9, 0)}" for _ in range(2000)]
    exact = [*special, *plain]
    for kind, of_duckdb, others in (("float8", "double", drawn), ("float4", "float", [])):
        listed = ", ".join(f"('{text}')" for text in exact + others)
        there = server.query(
            f"select cast(cast(t as {kind}) as text) from (values {listed}) as rows_ (t)"
        )
        with duckdb.connect() as session:
            write_as_postgres(session)
            text = WRITTEN.format(f"cast(t as {of_duckdb})")
            sql = f"select {text} from (values {listed}) as rows_ (t)"
            here = session.execute(sql).fetchall()
        assert here[: len(exact)] == there[: len(exact)]
        differing = [pair for pair in zip(here, there, strict=True) if pair[0] != pair[1]]
        assert len(differing) <= len(others) / 50
        assert all(float(ours) == float(theirs) for (ours,), (theirs,) in differing)
