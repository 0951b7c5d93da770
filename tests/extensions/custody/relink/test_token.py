"""A token leads to one person, and only where k people of the release are alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbt_anonymize.errors import RelinkingError
from dbt_anonymize.extensions.custody.relink.released_rows import RelinkingInputError
from tests.extensions.custody.relink.running import (
    POLICY,
    RELEASED,
    SPEC,
    VAULT,
    Session,
    open_session,
)
from tests.projects import Project

# What `mapping: token` builds: a token for everybody, released for who is not suppressed.
TOKENS = f"""
alter table {VAULT} rename column cqi to token;
update {VAULT} set token = 'token-' || customer_id;
drop table {RELEASED};
create table {RELEASED} as
select birth_date, birth_date_lower, birth_date_upper, zip, gender, churned,
    'token-' || customer_id as token
from customers_effort_3 where not is_suppressed
"""


@pytest.fixture(scope="module")
def session(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    project = built_consumer.copy(tmp_path_factory.mktemp("tokens") / "project")
    project.edit(SPEC, lambda text: text + POLICY + "mapping: token\n")
    with open_session(project) as opened:
        for statement in TOKENS.split(";"):
            opened.execute(statement)
        opened.publish()
        yield opened


def test_a_token_leads_to_its_person_alone(session: Session) -> None:
    people = sorted({person for group in session.groups.values() for person in group})[:3]
    tokens = {f"token-{person[0]}": {person} for person in people}
    assert session.ask(*tokens) == tokens
    assert session.audit()[-1]["shown_people"] == 3


def test_a_token_of_the_suppressed_leads_to_nobody(session: Session) -> None:
    suppressed = session.warehouse.rows(
        "select 'token-' || customer_id from customers_effort_3 where is_suppressed"
    )
    assert suppressed
    session.refuse(RelinkingInputError, "leads to anybody", *(token for (token,) in suppressed))


def test_the_class_of_a_released_row_must_have_k_people(session: Session) -> None:
    sizes = {cqi: len(group) for cqi, group in session.groups.items()}
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    first, other = (f"token-{min(session.groups[cqi])[0]}" for cqi in (small, large))
    assert session.spec.relinking is not None
    stricter = session.spec.relinking.model_copy(update={"k": sizes[small] + 1})
    spec = session.spec.model_copy(update={"relinking": stricter})
    session.refuse(RelinkingError, "1 of 2 have fewer", first, other, spec=spec)
    assert session.ask(other, spec=spec)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        (VAULT, f"delete from {VAULT} where token = (select min(token) from {RELEASED})"),
        (RELEASED, f"update {RELEASED} set token = (select min(token) from {RELEASED})"),
        (RELEASED, f"update {RELEASED} set gender = 'other'"),
    ],
)
def test_what_is_not_of_one_build_is_refused(session: Session, table: str, change: str) -> None:
    token = f"token-{min(next(iter(session.groups.values())))[0]}"
    with session.changed(table, change):
        session.refuse(RelinkingError, "must be of one build", token)
