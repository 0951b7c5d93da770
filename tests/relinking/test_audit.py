"""Whoever changes, removes or adds an attempt is found out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.vault.audit import Receipt, check_audit
from tests.projects import Project
from tests.relinking.running import (
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
    "hash": "previous_hash",
}


def test_every_column_is_in_the_chain(session: Session) -> None:
    assert {*session.audit()[0]} == {"attempt", "previous_hash", *CHANGED}


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
        (f"delete from {AUDIT} where attempt = 5", "attempt 5 must have the hash of the receipt"),
        (f"delete from {AUDIT}", "attempt 1, 2, 3, 4, 5 must have the hash of the receipt"),
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
