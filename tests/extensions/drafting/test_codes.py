"""Codes are told by their structure, and other columns that look a little like them are not."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from string import ascii_uppercase

import pytest

from dbt_anonymize.extensions.drafting.codes import structure_of
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.plans import plan_hierarchy
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.extensions.hierarchy_builders.systems import (
    SYSTEMS,
    code_system,
    share_of_system,
)
from tests.extensions.drafting.test_plans import column

DRAW = random.Random(5)
UK = [
    *("SW1A 1AA", "SW1A 2AA", "SW1P 3BT", "M1 1AE", "M60 1NW", "CR2 6XH", "DN55 1PT", "EC1A 1BB"),
    *("W1A 0AX", "B33 8TH", "LS1 4AP", "LS2 9JT", "EH1 1YZ", "G1 1XQ", "CF10 1EP", "BT1 5GS"),
]
ALPHA_2 = ["DE", "FR", "ES", "PT", "IT", "PL", "JP", "CN", "BR", "US", "ZA", "NG"]
ALPHA_3 = ["DEU", "FRA", "ESP", "PRT", "ITA", "POL", "JPN", "CHN", "BRA", "USA", "ZAF", "NGA"]
NAMES = [
    *("Germany", "France", "Spain", "Portugal", "Italy", "Poland", "Japan", "China", "Brazil"),
    *("United States of America", "South Africa", "Nigeria", "Korea, Republic of", "Viet Nam"),
    *("Bosnia & Herzegovina", "Côte d'Ivoire", "The Gambia", "Bolivia, Plurinational State of"),
]
NATIVE = [
    *("United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany", "India", "Japan"),
    *("Greece", "South", "China", "Cuba", "Iran", "Honduras", "Philippines", "Italy", "Poland"),
    *("Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France", "Laos", "Ecuador", "?"),
    *("Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua", "Scotland", "Thailand"),
]
CALLING = ["+351 91", "+351 96", "+34 6", "+34 7", "+49 151", "+1 212", "+1 415", "+44 7", "+81 3"]
STATES = [
    "AL",
    "AZ",
    "AR",
    "CA",
    "CO",
    "DE",
    "GA",
    "ID",
    "IL",
    "IN",
    "KY",
    "LA",
    "ME",
    "MD",
    "MA",
    "MN",
    "MS",
    "MO",
    "MT",
    "NE",
    "NC",
    "PA",
    "SC",
    "SD",
    "TN",
    "VA",
]
LANGUAGES = [
    "de",
    "es",
    "fr",
    "it",
    "pt",
    "nl",
    "pl",
    "ro",
    "ru",
    "sk",
    "bg",
    "fi",
    "hr",
    "hu",
    "is",
    "mk",
    "no",
]


@pytest.mark.parametrize(
    ("name", "values", "system"),
    [
        ("postcode", UK, "uk-postcodes"),
        ("anything", UK, "uk-postcodes"),
        ("postcode", [one.replace(" ", "").lower() for one in UK], "uk-postcodes"),
        ("country", ALPHA_2, "countries"),
        ("country_code", [one.lower() for one in ALPHA_2], "countries"),
        ("nationality", [*ALPHA_2[:3], "JP"], "countries"),
        ("place", ALPHA_3, "countries"),
        ("cntry", [*ALPHA_2, "ZZ"], "countries"),
        ("born_in", NAMES, "countries"),
        ("native-country", NATIVE, "countries"),
        ("phone_prefix", CALLING, "calling-codes"),
        ("calling code", ["351", "34", "49", "44", "1", "55", "81.0"], "calling-codes"),
    ],
)
def test_codes_of_a_system_are_told(name: str, values: list[str], system: str) -> None:
    found = structure_of(name, values)
    assert found is not None
    assert (found.system, found.command) == (system, f"codes --system {system}")
    tree = found.build(values)
    assert not violations(tree)
    assert tree.levels > 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("initials", ["".join(pair) for pair in product("ABDEFGMS", "AEILMNRST")]),
        ("country", ["".join(DRAW.sample(ascii_uppercase, 2)) for _ in range(200)]),
        ("state", STATES),
        ("language", LANGUAGES),
        ("currency", ["USD", "EUR", "GBP", "JPY", "CHF", "SEK", "PLN", "BRL"]),
        ("airport", ["LIS", "OPO", "MAD", "FRA", "JFK", "LHR", "CDG", "AMS"]),
        ("name", ["Chad", "Jordan", "Georgia", "Ann", "Bo", "Eva", "Israel"]),
        ("origin", ["USA", "Europe", "Japan"]),
        ("country", ["here", "there", "elsewhere", "nowhere"]),
        ("country", ["Spain", "Portugal", "Italy"]),
        ("plate", ["AB12 CDE", "LS04 XYZ", "M33 TUV", "SW51 ABC", "EH07 QRS", "G12 LMN"]),
        ("size", ["S1", "S2", "M1", "M2", "L1", "L2", "S10"]),
        ("change", ["+1", "+2", "+44", "+7", "+20", "+30"]),
        ("score", ["351", "34", "49", "44", "1", "55"]),
        ("phone_prefix", ["0151", "0171", "030", "089", "040", "0221"]),
    ],
)
def test_what_only_looks_a_little_like_codes_is_none_of_a_system(
    name: str, values: list[str]
) -> None:
    found = structure_of(name, values)
    assert found is None or not found.system


def test_parts_of_each_system_are_those_of_its_definition() -> None:
    assert SYSTEMS["countries"]("us") == SYSTEMS["countries"]("U.S.A.")
    assert SYSTEMS["countries"]("prt") == ("Southern Europe", "Europe")
    assert SYSTEMS["countries"]("St. Lucia") == ("Caribbean", "Americas")
    assert SYSTEMS["countries"]("No") is None
    assert SYSTEMS["uk-postcodes"]("ec1a1bb") == ("EC1A 1*", "EC1A *", "EC*")
    assert SYSTEMS["uk-postcodes"]("M1") == ("M1 *", "M1 *", "M*")
    assert SYSTEMS["uk-postcodes"]("XX1 1AA") is None
    assert SYSTEMS["calling-codes"]("0034 91") == ("+34*", "+3*")
    assert SYSTEMS["calling-codes"]("+1-212") == ("+1*", "+1*")
    # Others stand together, and no label holds their values.
    tree = code_system(["DE", "ES", "JP", "Narnia", "Oz"], "countries")
    assert tree.labels[1] == ("Europe", "Europe", "Asia", "other (2 values)", "other (2 values)")


def test_every_country_has_two_codes_and_a_name_of_one_region() -> None:
    """The file has each code once."""
    from dbt_anonymize.extensions.hierarchy_builders.systems import _countries

    codes = [key for key in _countries() if key.isupper()]
    assert (len([c for c in codes if len(c) == 2]), len(codes)) == (249, 2 * 249)
    regions = {region for _, region in _countries().values()}
    assert regions == {"Africa", "Americas", "Antarctica", "Asia", "Europe", "Oceania"}
    assert len({subregion for subregion, _ in _countries().values()}) == 23
    assert share_of_system(NAMES, "countries") == 1


@pytest.mark.parametrize(
    ("name", "values", "words", "path"),
    [
        ("nace", ["62.01", "62.02", "62.09", "62.1", "10.1", "47"], "4,2", ["62.0*", "62*"]),
        ("nace", ["J62.01", "J62.02", "J62.1", "J63.1", "C10.1", "C10.2"], "3,1", ["J62*", "J*"]),
        ("postcode", ["1011 AB", "1011 AC", "1012 AB", "3511 XZ", "3512 AA", "9711 BB"], "4,2", []),
        (
            "sic",
            ["111", "112", "1311", "1381", "5812", "5813", "7372"],
            "3,2 --zeros 4",
            ["011*", "01**"],
        ),
    ],
)
def test_industries_and_postcodes_are_shortened_by_their_parts(
    name: str, values: list[str], words: str, path: list[str]
) -> None:
    found = structure_of(name, values)
    assert found is not None
    assert found.command.startswith(f"codes --prefixes {words}")
    tree = found.build(values)
    assert [level[0] for level in tree.labels[: len(path)]] == path


def test_postcodes_in_two_parts_are_no_free_text_and_prefixes_name_nobody() -> None:
    facts, _ = column(UK, "postcode")
    spaced = ColumnFacts(
        **{**vars(facts), "phrases": 4000, "known": 9000, "records": 9000, "is_code": True}
    )
    assert not spaced.is_free_text
    assert not name_indicates("phone_prefix", "identifier")
    assert name_indicates("phone", "identifier")
    prefixes = ColumnFacts(
        "phone_prefix", "VARCHAR", "text", 9000, 9000, 40, 8, 3, 30, 0, None, is_code=False
    )
    (proposed,) = propose([prefixes])
    assert proposed.role == "quasi_identifier"


def test_area_codes_as_numbers_are_no_intervals() -> None:
    facts, found = column(["201", "202", "203", "212", "305", "415", "646"], "area_code")
    built = plan_hierarchy(
        replace(facts, kind="number"), found, "hierarchy", "--ref people", "seeds"
    )
    assert " others --ref people" in built.command
