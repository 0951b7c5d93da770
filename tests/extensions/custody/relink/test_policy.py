"""A group of at least k people, as the policy allows: whoever asks, whatever is given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import duckdb
import pytest

from dbt_anonymize.errors import RelinkingError, WarehouseError
from dbt_anonymize.extensions.custody.relink.links import Links
from dbt_anonymize.extensions.custody.relink.released_rows import GivenRows, RelinkingInputError
from dbt_anonymize.spec import Spec
from tests.extensions.custody.relink.running import (
    AUDIT,
    POLICY,
    RELEASED,
    SPEC,
    VAULT,
    Session,
    open_session,
)
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(6)

PLANTED = "Jane-of-the-test"
# Of the guarantee in the spec.
K = 4


@pytest.fixture(scope="module")
def session(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Give an open warehouse; tests that change it put it back."""
    project = built_consumer.copy(tmp_path_factory.mktemp("relinking") / "project")
    project.edit(SPEC, lambda text: text + POLICY)
    with open_session(project) as opened:
        yield opened


def with_policy(spec: Spec, **changes: object) -> Spec:
    assert spec.relinking is not None
    return spec.model_copy(update={"relinking": spec.relinking.model_copy(update=changes)})


def test_whoever_gives_a_row_gets_its_whole_group(session: Session) -> None:
    assert len(session.groups) > 3
    for cqi, group in session.groups.items():
        assert session.ask(cqi, cqi) == {cqi: group}
        assert len(group) >= K


def test_all_rows_of_the_release_lead_to_all_its_people(session: Session) -> None:
    released = [cqi for (cqi,) in session.warehouse.rows(f"select cqi from {RELEASED}")]
    assert session.ask(*released) == session.groups
    last = session.audit()[-1]
    assert last["given_rows"] == last["shown_people"] == len(released)
    assert last["shown_groups"] == len(session.groups)


def test_many_small_requests_never_separate_a_group(session: Session) -> None:
    """Whatever answers are put together, they differ by whole groups."""
    cqis = sorted(session.groups)[:3]
    requests = (cqis[:1], cqis[:2], cqis, cqis[1:], cqis[::2])
    answers = [set().union(*session.ask(*request).values()) for request in requests]
    for one, other in permutations(answers, 2):
        assert not 0 < len(one - other) < K
        assert not 0 < len(one & other) < K


def test_a_forged_cqi_leads_to_nobody(session: Session) -> None:
    """Suppressed people have no cqi, whatever their class would be; patterns are only texts."""
    sql = "select equivalence_class from customers_classes where is_suppressed or effort <> 3"
    forged = [cqi for (cqi,) in session.warehouse.rows(sql) if cqi not in session.groups]
    assert len(forged) > 3
    forged += ["%", "_%", "null", "None", " ", "n1:*", "' or '1' = '1", "x'); drop table x; --"]
    session.refuse(RelinkingInputError, "leads to anybody", *forged, "")
    cqi = next(iter(session.groups))
    found = session.ask(cqi, cqi.upper(), f"{cqi} ", *forged)
    assert found == {cqi: session.groups[cqi]}
    assert session.audit()[-1]["unknown_rows"] == len(forged) + 2


def test_a_hundred_thousand_rows_are_one_request(session: Session) -> None:
    known = list(session.groups) * (50_000 // len(session.groups))
    unknown = [f"n1:*|{number}" for number in range(50_000)]
    assert session.ask(*known, *unknown) == session.groups
    last = session.audit()[-1]
    assert (last["given_rows"], last["unknown_rows"]) == (len(known) + 50_000, 50_000)


@pytest.mark.parametrize("purpose", [None, "", f"find {PLANTED}", "Contact Tracing"])
def test_a_purpose_that_is_not_declared_is_refused(session: Session, purpose: str | None) -> None:
    """A free text may name people, so it is not even recorded."""
    says = "must be one of relinking.purposes (contact tracing, quality review)"
    last = session.refuse(RelinkingError, says, next(iter(session.groups)), purpose=purpose)
    assert (last["purpose"], last["given_rows"]) == (None, 1)
    assert PLANTED not in str(session.audit())


def test_without_a_policy_nobody_may(session: Session) -> None:
    spec = session.spec.model_copy(update={"relinking": None})
    session.refuse(RelinkingError, "must be declared", next(iter(session.groups)), spec=spec)


def test_without_a_mapping_nothing_leads_back(session: Session) -> None:
    spec = session.spec.model_copy(update={"mapping": "none"})
    with pytest.raises(RelinkingError, match="nothing leads back"):
        session.ask(next(iter(session.groups)), spec=spec)


def test_the_release_must_have_lost_less_than_the_limit(session: Session) -> None:
    sql = "select loss from customers_information_loss where effort = 3"
    ((loss,),) = session.warehouse.rows(sql)
    cqi = next(iter(session.groups))
    spec = with_policy(session.spec, highest_information_loss=loss)
    says = "the information loss of the release must be below"
    assert session.refuse(RelinkingError, says, cqi, spec=spec)["effort"] == 3
    above = with_policy(session.spec, highest_information_loss=loss + 1e-9)
    assert session.ask(cqi, spec=above)
    with session.changed(
        "customers_information_loss", "update customers_information_loss set loss = null"
    ):
        session.refuse(RelinkingError, "is not measured", cqi, spec=above)


def test_one_small_group_refuses_the_whole_request(session: Session) -> None:
    sizes = {cqi: len(group) for cqi, group in session.groups.items()}
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    k = sizes[small] + 1
    spec = with_policy(session.spec, k=k)
    for given in ((large, small), (small,)):
        last = session.refuse(RelinkingError, f"at least {k} people; 1 of", *given, spec=spec)
        assert small not in last["reason"]
    assert session.ask(large, spec=spec) == {large: session.groups[large]}
    assert session.ask(small, spec=with_policy(session.spec, k=k - 1))


def test_a_small_group_is_left_out_by_the_statement_itself(session: Session) -> None:
    """Also if nothing before it had asked how large the group is."""
    sizes = {cqi: len(group) for cqi, group in session.groups.items()}
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    spec = with_policy(session.spec, k=sizes[small] + 1)
    vault = session.warehouse.relation_of_ref("customers_identifiers")
    links = Links(session.warehouse, spec, vault)
    matches = links.matches(GivenRows(2, {small: 1, large: 1}))
    shown = [cqi for batch in links.people(matches) for cqi, *_ in batch]
    assert shown == [large] * sizes[large]
    assert links.count_people(matches) == sizes[large]


def test_nothing_of_a_request_is_spilled_to_a_disk(session: Session) -> None:
    session.ask(next(iter(session.groups)))
    sql = "select current_setting('temp_directory')"
    assert session.warehouse.rows(sql) == [("",)]


def test_a_group_counts_people_where_the_spec_has_a_subject(session: Session) -> None:
    """All records of one person are one person."""
    cqi = next(iter(session.groups))
    spec = session.spec.model_copy(update={"subject": "full name"})
    change = f"update customers_results set fingerprint = '{spec.fingerprint}'"
    same = f"""update {VAULT} set "full name" = 'one person' where cqi = '{cqi}'"""
    with session.changed("customers_results", change):
        assert session.ask(cqi, spec=spec)
        with pytest.raises(RelinkingError, match="must be of the spec as it is"):
            session.ask(cqi)
    with session.changed(VAULT, same):
        session.execute(change)
        session.refuse(RelinkingError, "1 of 1 have fewer", cqi, spec=spec)
        session.execute(change.replace(spec.fingerprint, session.spec.fingerprint))
    assert session.ask(cqi)


@pytest.mark.parametrize(
    ("table", "change", "says"),
    [
        (
            VAULT,
            f"delete from {VAULT} where customer_id ="
            f" (select min(customer_id) from {VAULT} where cqi is not null)",
            "must be of one build",
        ),
        (VAULT, f"update {VAULT} set cqi = cqi || '!'", "must be of one build"),
        (
            # Groups of the same sizes, of other people.
            VAULT,
            f"update {VAULT} set customer_id = (select max(customer_id) + min(customer_id)"
            f" from {VAULT}) - customer_id",
            "must be of one build",
        ),
        (
            RELEASED,
            f"delete from {RELEASED} where cqi = (select min(cqi) from {RELEASED})",
            "must be of one build",
        ),
        (RELEASED, f"update {RELEASED} set cqi = null", "must be of one build"),
        (
            "customers_results",
            "update customers_results set is_chosen = (effort = 2)",
            "must be of one build",
        ),
        (
            "customers_results",
            "update customers_results set is_chosen = false",
            "exactly one effort must be released; 0 are chosen",
        ),
        (
            "customers_results",
            "update customers_results set is_chosen = effort > 1",
            "exactly one effort must be released; 2 are chosen",
        ),
        (
            "customers_results",
            "update customers_results set fingerprint = 'x'",
            "it is of another version",
        ),
    ],
)
def test_what_is_not_of_one_build_is_refused(
    session: Session, table: str, change: str, says: str
) -> None:
    with session.changed(table, change):
        session.refuse(RelinkingError, says, *session.groups)


def test_a_vault_of_another_mapping_is_refused(session: Session) -> None:
    spec = session.spec.model_copy(update={"mapping": "token"})
    session.refuse(RelinkingError, "it has no token", "x", spec=spec)


def test_a_failure_is_an_attempt_without_the_words_of_the_driver(session: Session) -> None:
    session.execute("alter table customers_information_loss rename column loss to lost")
    with pytest.raises(duckdb.BinderException):
        session.ask(next(iter(session.groups)))
    session.execute("alter table customers_information_loss rename column lost to loss")
    last = session.audit()[-1]
    assert (last["outcome"], last["reason"]) == ("refused", "it failed (BinderException)")


def test_nobody_is_shown_where_the_attempt_cannot_be_written(session: Session) -> None:
    session.ask(cqi := next(iter(session.groups)))
    before = session.audit()
    session.execute(f"alter table {AUDIT} rename to kept")
    session.execute(f"create table {AUDIT} (attempt bigint)")
    with pytest.raises(WarehouseError, match="every attempt must be written"):
        session.ask(cqi)
    with pytest.raises(WarehouseError, match="Nobody is shown"):
        session.ask(cqi, purpose="no")
    assert session.warehouse.rows(f"from {AUDIT}") == []
    session.execute(f"drop table {AUDIT}")
    session.execute("alter table vault.main.kept rename to customers_relinkings")
    assert session.audit() == before
