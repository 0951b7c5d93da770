"""Whoever changes, removes or adds an attempt is found out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256

import duckdb
import pytest

from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.vault.relink.audit import FIRST_HASH, Receipt, check_audit
from tests.projects import Project
from tests.vault.relink.running import (
    AUDIT,
    POLICY,
    SPEC,
    Session,
    as_csv,
    audit_of,
    groups_of,
    open_session,
    relink,
)


@pytest.fixture(scope="module")
def shop(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project after three attempts and a new vault."""
    project = built_consumer.copy(tmp_path_factory.mktemp("relinking") / "project")
    project.edit(SPEC, lambda text: text + POLICY)
    with open_session(project) as session:
        assert check_audit(session.warehouse, "customers").problems == ()
        assert not check_audit(session.warehouse, "customers", [Receipt(1, "0")]).is_intact
        session.ask(*session.groups)
        for _ in range(2):
            with pytest.raises(AnonymizeError):
                session.ask("x")
    before = audit_of(project)
    assert project.dbt("run", "--full-refresh", "-s", "customers_identifiers").succeeded
    assert audit_of(project) == before
    relink(project, as_csv(*groups_of(project)))
    return project


@pytest.fixture(scope="module")
def session(shop: Project) -> Iterator[Session]:
    with open_session(shop) as opened:
        opened.ask(*opened.groups)
        yield opened


def receipts(session: Session) -> list[Receipt]:
    return [Receipt(row["attempt"], row["hash"]) for row in session.audit()]


def test_an_audit_that_nobody_touched_is_intact(session: Session) -> None:
    """Also over a rebuild of the vault, and over several processes."""
    found = check_audit(session.warehouse, "customers", receipts(session))
    assert (found.attempts, found.problems) == (5, ())
    assert [row["outcome"] for row in session.audit()] == [
        "granted",
        "refused",
        "refused",
        "granted",
        "granted",
    ]


CHANGED = {
    "attempted_at": "attempted_at + interval 1 microsecond",
    "os_user": "'somebody else'",
    "database_user": "''",
    "purpose": "null",
    "given_rows": "0",
    "unknown_rows": "7",
    "shown_groups": "1",
    "shown_people": "1",
    "outcome": "'granted'",
    "reason": "''",
    "effort": "9",
    "fingerprint": "'x'",
    "policy": "null",
    "hash": "previous_hash",
}


def test_every_column_is_in_the_chain(session: Session) -> None:
    assert {*session.audit()[0]} == {"attempt", "previous_hash", *CHANGED}


def test_no_number_is_given_twice(session: Session) -> None:
    """Two requests at once would otherwise continue the same link."""
    session.warehouse.adapter.connections.begin()
    with pytest.raises(duckdb.ConstraintException, match="primary key"):
        session.execute(f"insert into {AUDIT} from {AUDIT} where attempt = 5")
    session.warehouse.adapter.connections.rollback_if_open()


def test_an_attempt_says_which_policy_was_in_force(session: Session) -> None:
    policy = {
        "purposes": ["contact tracing", "quality review"],
        "highest_information_loss": 0.6,
        "k": 4,
    }
    assert [json.loads(row["policy"]) for row in session.audit()] == [policy] * 5


@pytest.fixture
def older(session: Session) -> Iterator[Session]:
    """Give an audit as it was before attempts had a policy."""
    session.execute(f"alter table {AUDIT} rename to kept")
    session.execute(f"create table {AUDIT} as select * exclude (policy) from vault.main.kept")
    session.execute(f"alter table {AUDIT} add primary key (attempt)")
    chain = FIRST_HASH
    for row in session.audit():
        values = [value for name, value in row.items() if not name.endswith("hash")]
        values[1] = values[1].isoformat(timespec="microseconds")
        hashed = sha256(json.dumps([chain, "customers", *values]).encode()).hexdigest()
        session.execute(
            f"update {AUDIT} set previous_hash = '{chain}', hash = '{hashed}'"
            f" where attempt = {values[0]}"
        )
        chain = hashed
    yield session
    session.execute(f"drop table {AUDIT}")
    session.execute("alter table vault.main.kept rename to customers_relinkings")


def test_attempts_from_before_policies_were_recorded_stay_in_the_chain(older: Session) -> None:
    before = receipts(older)
    assert check_audit(older.warehouse, "customers", before).problems == ()
    older.ask(*older.groups)
    policies = [row["policy"] for row in older.audit()]
    assert policies[:-1] == [None] * len(before)
    assert policies[-1] is not None
    found = check_audit(older.warehouse, "customers", [*before, receipts(older)[-1]])
    assert (found.attempts, found.problems) == (len(before) + 1, ())
    older.execute(f"update {AUDIT} set policy = 'none' where attempt = 1")
    (problem,) = check_audit(older.warehouse, "customers", before).problems
    assert "attempt 1 must be as written" in problem


@pytest.mark.parametrize(
    ("change", "says"),
    [
        *(
            (f"update {AUDIT} set {column} = {value} where attempt = 2", "attempt 2 must be as")
            for column, value in CHANGED.items()
        ),
        (
            f"update {AUDIT} set previous_hash = hash where attempt = 2",
            "attempt 2 must follow the attempt before",
        ),
        (f"delete from {AUDIT} where attempt = 1", "attempt 2 must follow"),
        (f"delete from {AUDIT} where attempt in (2, 3)", "attempt 4 must follow"),
        (f"update {AUDIT} set attempt = 9 where attempt = 5", "attempt 9 must follow"),
        (
            f"insert into {AUDIT} by name"
            f" select 0 as attempt, * exclude (attempt) from {AUDIT} where attempt = 1",
            "attempt 0, 1 must follow",
        ),
        (
            f"delete from {AUDIT} where attempt = 5",
            "attempt 5 must be there, as there is a receipt",
        ),
        (f"delete from {AUDIT}", "attempt 1, 2, 3, 4, 5 must be there, as there is a receipt"),
    ],
)
def test_whoever_changes_the_audit_is_found_out(session: Session, change: str, says: str) -> None:
    kept = receipts(session)
    connections = session.warehouse.adapter.connections
    if connections.get_thread_connection().transaction_open:
        connections.commit()
    connections.begin()
    session.execute(change)
    found = check_audit(session.warehouse, "customers", kept)
    connections.rollback_if_open()
    assert not found.is_intact
    assert says in " ".join(found.problems)
