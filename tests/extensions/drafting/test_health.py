"""Columns of health conditions have one role, however they are abbreviated."""

from __future__ import annotations

import pytest
import yaml

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.table import Draft
from dbt_anonymize.extensions.drafting.text import spec_text
from dbt_anonymize.spec.sources import Source
from tests.extensions.drafting.test_content import facts

# Yes-or-no columns of public medical tables, and how others write the same.
CONDITIONS = """
    diabetes angina stroke highbp hichol asthma bronch pepticulcer colitis hepatitis chroniccough
    hayfever polio tumor nervousbreak headache weakheart allergies nerves infection high_bp highChol
    COPD.1 gout arthritis epilepsy anemia anaemia hypothyroid hip_fracture leukaemia migraine
    sclerosis kidney_disease WeightLoss hypercholesterolemia_history
"""
ABBREVIATIONS = "premi hbp hbpmed hf tb MI prior_mi CHF hx_chf bp UTI"
NO_CONDITIONS = "tbl family mileage premium goutte hydrolic_fracturing state_mi mitral spain fhb"


def roles_of(*columns: ColumnFacts) -> dict[str, Proposal]:
    key = facts("id", "bigint", distinct=1000)
    return {one.name: one for one in propose([key, *columns], is_guessed=False)}


@pytest.mark.parametrize("name", CONDITIONS.split())
@pytest.mark.parametrize("distinct", [2, 3])
def test_a_condition_is_sensitive(name: str, distinct: int) -> None:
    assert roles_of(facts(name, distinct=distinct))[name].role == "sensitive"


@pytest.mark.parametrize("name", ABBREVIATIONS.split())
def test_an_abbreviation_is_a_condition_among_others_alone(name: str) -> None:
    stroke, gout = (facts(one, "integer", distinct=2) for one in ("stroke", "gout"))
    answer, amount = facts(name, "integer", distinct=3), facts(name, "double", distinct=60)
    age = facts("age", "integer")
    assert roles_of(answer, age, stroke, gout)[name].role == "sensitive"
    # A mile, a Swiss franc, a hit by pitch.
    for columns in ([answer, age], [answer, age, stroke], [amount, age, stroke, gout]):
        assert roles_of(*columns)[name].role == "quasi_identifier"


@pytest.mark.parametrize("name", NO_CONDITIONS.split())
def test_a_word_that_only_holds_a_condition_is_none(name: str) -> None:
    others = [facts(one, distinct=2) for one in ("age", "stroke", "gout")]
    assert roles_of(facts(name, distinct=2), *others)[name].role == "quasi_identifier"


def test_an_answer_between_conditions_is_one_of_them() -> None:
    names = ("lackpep", "nerves", "lackpip", "gout", "sex", "hbp", "active", "older")
    found = roles_of(*(facts(name, "integer", distinct=2) for name in names))
    sensitive = [name for name, one in found.items() if one.role == "sensitive"]
    assert sensitive == ["nerves", "lackpip", "gout", "hbp"]
    assert "between conditions (nerves, gout)" in found["lackpip"].reason
    # Released as it is because of its place: a person should read why.
    assert [name for name, one in found.items() if not one.is_decided] == ["lackpip"]
    many = roles_of(facts("gout", distinct=2), facts("x", distinct=4), facts("flu", distinct=2))
    assert many["x"].role == "quasi_identifier"


# Numbers of public medical tables, and how others write the same.
MEASUREMENTS = """
    sysbp diasbp sys_bp systolic_bp SBP bmi BMI pulse heart_rate chol HDL totChol trig glucose
    blood_glucose a1c hba1c creatinine serum_creatinine eGFR bili albumin hemoglobin platelets wbc
    ldh psa cd4 chol2 stab.gluc
"""
MEASUREMENT_CODES = "hr HR ef alt ast hb temp glu bp bp.1"
NO_MEASUREMENTS = "hrs altitude cholo templates plated pulsed mapping glue bpx"


@pytest.mark.parametrize("name", MEASUREMENTS.split())
def test_a_measurement_of_a_clinic_is_sensitive_however_many_values_it_has(name: str) -> None:
    """Nobody else knows it, so that nobody finds a person by it."""
    for column in (facts(name, "double", distinct=400, singled=90), facts(name, "integer")):
        found = roles_of(column)[name]
        assert found.role == "sensitive"
        assert found.is_decided


@pytest.mark.parametrize("name", MEASUREMENT_CODES.split())
def test_an_abbreviation_is_a_measurement_among_others_alone(name: str) -> None:
    column, age = facts(name, "double", distinct=300, singled=9), facts("age", "integer")
    sysbp, chol = (facts(one, "double", distinct=90) for one in ("sysbp", "chol"))
    found = roles_of(column, age, sysbp, chol)
    assert found[name].role == "sensitive"
    assert found["age"].role == "quasi_identifier"
    # Hours, old, a temporary key.
    for columns in ([column, age], [column, age, chol]):
        assert roles_of(*columns)[name].role == "quasi_identifier"


@pytest.mark.parametrize("name", NO_MEASUREMENTS.split())
def test_a_word_that_only_holds_a_measurement_is_none(name: str) -> None:
    others = [facts(one, "double", distinct=90) for one in ("sysbp", "chol")]
    column = facts(name, "double", distinct=300)
    assert roles_of(column, *others)[name].role == "quasi_identifier"


def test_a_person_in_a_table_of_heart_attacks_is_found_by_age_and_sex() -> None:
    """Abbreviations beside measurements are conditions; `mitype` says nothing."""
    answers = ("gender", "cvd", "afb", "sho", "chf", "av3", "miord", "mitype")
    columns = [facts("age", "double", distinct=60), facts(answers[0], "integer", distinct=2)]
    columns += [facts(one, "double", distinct=200) for one in ("hr", "sysbp", "diasbp", "bmi")]
    columns += [facts(one, "integer", distinct=2) for one in answers[1:]]
    found = roles_of(*columns)
    known = [name for name, one in found.items() if one.role == "quasi_identifier"]
    assert known == ["age", "gender", "av3", "miord", "mitype"]


def test_a_draft_proposes_diversity_of_its_target_and_of_all_that_is_sensitive() -> None:
    columns = [facts("id", "bigint", distinct=1000), facts("diabetes", distinct=3)]
    columns += [facts("age", "integer"), facts("outcome", distinct=2), facts("gout", distinct=3)]
    text = spec_text(
        "heart",
        Source(ref="heart"),
        Draft(propose(columns, "outcome"), {}, {}, [], []),
        takes_all=True,
    )
    lines = [line.removeprefix("  # ") for line in text.splitlines() if line.startswith("  # ")]
    start = lines.index("l_diversity:")
    block = yaml.safe_load("\n".join(lines[start : start + 4]))
    assert [one["attribute"] for one in block["l_diversity"]] == ["diabetes", "outcome", "gout"]
