"""Counts, shares and sums are measures, not keys of people, whatever they count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import is_key, is_measure, name_indicates
from dbt_anonymize.extensions.drafting.proposal import KEY
from dbt_anonymize.extensions.drafting.roles import find_key, propose, propose_role
from dbt_anonymize.extensions.drafting.subjects import propose_subject

# Columns of loans_full_schema of openintro, and how others write the same.
MEASURES = """
    num_satisfactory_accounts num_active_debit_accounts num_total_cc_accounts num_open_cc_accounts
    num_mort_accounts num_cc_carrying_balance account_never_delinq_percent num_patients numAccounts
    NumberOfAccounts number_of_customers number_accounts no_of_accounts no_claims nr_kunden_total
    n_accounts n_patients nb_clients count_patients patients_count account_count login_cnt
    pct_card percent_insurance card_share total_account account_total amount_insurance
    insurance_amount mean_account avg_card customer_number_of_visits total_number
    account_balance account_length account_age card_limit insurance_cost login_days max_no_of_cards
    anzahl_konto_wechsel numero_de_hijos num_phone_calls total_credit_limit sum_insured
"""
KEYS = """
    account_number account_no customer_account_no patient_number PatientNumber customer_id MRN
    num_client num_cliente num_account no_client nr patient_nr number record_number total_id
    numero_de_cliente kundennummer order_no count_id num_historia_clinica num_expediente num_poliza
    num_socio num_registro num_dossier num_contrat num_persona num_case num_policy num_mrn mrn_value
    num_patient_record number_of_id_card numero_de_seguridad_social nummer_des_ausweises
    athlete_id player_id emp_no std_no
"""
IDENTIFIERS = """
    account customer_account iban number_plate card_number max_phone share_email email_value
    social_media_account
"""


def number(name: str, distinct: int, records: int = 10_000, longest: int = 2) -> ColumnFacts:
    whole = {"longest": longest, "shortest": 1}
    return ColumnFacts(name, "bigint", "number", records, records, distinct, **whole)


@pytest.mark.parametrize("name", MEASURES.split())
def test_a_measure_is_no_key(name: str) -> None:
    assert is_measure(name)
    assert not is_key(name)
    assert not any(name_indicates(name, kind) for kind in ("identifier", "key"))
    for distinct in (45, 3000, 10_000):
        assert propose_role(number(name, distinct, longest=7)).role in {
            *("quasi_identifier", "sensitive", "insensitive")
        }


@pytest.mark.parametrize("name", KEYS.split())
def test_a_key_stays_one(name: str) -> None:
    assert not is_measure(name)
    assert is_key(name) or name == "kundennummer"
    assert propose_role(number(name, 3000, longest=7)).role == "identifier" or not is_key(name)


@pytest.mark.parametrize("name", IDENTIFIERS.split())
def test_an_identifier_stays_one(name: str) -> None:
    assert not is_measure(name)
    assert propose_role(number(name, 3000, longest=7)).role == "identifier"


def test_no_count_is_the_subject() -> None:
    columns = [number("id", 10_000, longest=5)]
    columns += [number(name, 45) for name in MEASURES.split() if name.startswith("num")]
    assert propose_subject(propose(columns, is_guessed=False)) is None


@pytest.mark.parametrize(
    ("column", "is_subject"),
    [
        (number("account_no", 3000, longest=4), True),
        (number("account_no", 45, records=400), True),
        (number("account_no", 45, longest=7), True),
        (number("account_no", 45), False),
        (number("unit_id", 45), False),
        (replace(number("unit_id", 45, longest=0), type="double"), False),
        # Few people with many records each, by a name that leaves no doubt.
        (number("patient_id", 45), True),
        (number("id", 45), True),
    ],
)
def test_a_subject_has_plausibly_many_people(column: ColumnFacts, is_subject: bool) -> None:
    """A few dozen small numbers among 10,000 records name nobody."""
    columns = [number("row_key", 10_000, 10_000, 5), column]
    columns = [replace(one, records=column.records) for one in columns]
    columns[0] = replace(columns[0], known=column.records, distinct=column.records)
    found = propose_subject(propose(columns, is_guessed=False))
    assert (found is not None) == is_subject
    # An account is never released, however few there are.
    is_identifier = is_subject or column.name == "account_no"
    assert propose_role(column).role == ("identifier" if is_identifier else "quasi_identifier")


def test_a_unique_measure_is_the_last_to_be_a_record_key() -> None:
    total, ticket = number("total_number", 10_000), number("ticket", 10_000)
    assert find_key([total, ticket]) is ticket
    assert find_key([total]) is total
    assert [one.role for one in propose([total, ticket], is_guessed=False)][1] == KEY


@pytest.mark.parametrize("drop", [["person_id"], ["person_id", "city_no"]])
def test_who_leaves_out_the_key_of_people_has_their_records_counted_as_theirs(
    drop: list[str],
) -> None:
    """Else k would count records, of which one person may have many."""
    columns = [number("record_no", 10_000, longest=5), number("person_id", 3_000, longest=4)]
    columns.append(number("city_no", 20))
    proposals = propose(columns, is_guessed=False, drop=drop)
    found = propose_subject(proposals)
    assert found is not None
    assert (found.name, found.role) == ("person_id", "identifier")
    assert "says whose records they are" in found.reason
    assert [one.role == "dropped" for one in proposals] == [False, False, "city_no" in drop]


def test_an_outcome_that_is_declared_sensitive_is_released_as_it_is() -> None:
    """Even if its name says that others know it, or it follows from another column."""
    age = number("age", 60)
    columns = [number("record_no", 10_000, longest=5), age, number("weight", 80)]
    columns.append(replace(number("band", 4), follows=("age",)))
    found = propose(columns, is_guessed=False, sensitive=["weight,band"])
    assert [one.role for one in found] == ["record_key", "quasi_identifier"] + ["sensitive"] * 2
    assert "by --sensitive" in found[2].reason


@pytest.mark.parametrize("name", ["record_no", "person_id", "weight", "height"])
def test_no_key_and_nothing_that_is_left_out_is_declared_sensitive(name: str) -> None:
    columns = [number("record_no", 10_000, longest=5), number("person_id", 3_000, longest=4)]
    columns.append(number("weight", 80))
    with pytest.raises(SpecError, match=f"--sensitive must name a column .*{name}"):
        propose(columns, is_guessed=False, drop=["weight"], sensitive=[name])


def test_a_sensitive_column_that_reveals_the_target_is_released_and_no_feature() -> None:
    target = replace(number("weight", 800), follows=())
    low = replace(number("low_weight", 2), known_with="each of its values has a range of weight")
    columns = [number("record_no", 10_000, longest=5), target, low, number("age", 60)]
    found = {one.name: one for one in propose(columns, "weight", sensitive=["low_weight"])}
    assert (found["low_weight"].role, found["low_weight"].is_leak) == ("sensitive", True)
    kept = propose(columns, "weight", sensitive=["low_weight"], keep=["low_weight"])
    assert [one.is_leak for one in kept] == [False] * 4


def test_free_text_is_never_declared_sensitive() -> None:
    notes = ColumnFacts("notes", "varchar", "text", 90, 90, 90, longest=300, phrases=80)
    with pytest.raises(SpecError, match="notes is not: free text, which may name anybody"):
        propose([number("record_no", 90, 90), notes], is_guessed=False, sensitive=["notes"])
