"""Every attempt to re-link stays in the audit, with its number and the policy in force."""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb
import pytest

from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.extensions.custody.relink.audit import check_audit
from tests.extensions.custody.relink.running import (
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
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="relink")


@pytest.fixture(scope="module")
def shop(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project after three attempts and a new vault."""
    project = built_consumer.copy(tmp_path_factory.mktemp("relinking") / "project")
    project.edit(SPEC, lambda text: text + POLICY)
    with open_session(project) as session:
        assert check_audit(session.warehouse, "customers") == (0, 0)
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


def test_attempts_stay_over_builds_and_processes(session: Session) -> None:
    assert check_audit(session.warehouse, "customers") == (5, 0)
    assert [(row["attempt"], row["outcome"]) for row in session.audit()] == [
        (1, "granted"),
        (2, "refused"),
        (3, "refused"),
        (4, "granted"),
        (5, "granted"),
    ]


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


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (f"delete from {AUDIT} where attempt = 1", (4, 1)),
        (f"delete from {AUDIT} where attempt in (2, 3)", (3, 2)),
        (f"update {AUDIT} set attempt = 9 where attempt = 5", (5, 4)),
        # No count shows it: the number that `relink` told last is larger.
        (f"delete from {AUDIT} where attempt = 5", (4, 0)),
    ],
)
def test_attempts_that_are_gone_are_counted(
    session: Session, change: str, found: tuple[int, int]
) -> None:
    connections = session.warehouse.adapter.connections
    if connections.get_thread_connection().transaction_open:
        connections.commit()
    connections.begin()
    session.execute(change)
    counted = check_audit(session.warehouse, "customers")
    connections.rollback_if_open()
    assert counted == found
