"""The dbt test and the query of linked tables, as the tests run them."""

from __future__ import annotations

from tests.properties.compilation import Ref, call

K = 3
PEOPLE, STAYS, RESULTS = "linked_people", "linked_stays", "linked_results"
# Name of the model: what is known, and the diversity that is demanded.
CASES: dict[str, dict[str, object]] = {
    "joined_risk_of_one": {"known_records": 1},
    "joined_risk_of_two": {"known_records": 2},
    "joined_risk_of_three": {"known_records": 3},
    "joined_risk_of_two_and_numbers": {"known_records": 2, "known_count": True},
    "joined_risk_of_all": {"known_records": "all"},
    "joined_risk_with_diversity": {"known_records": 2, "sensitive": ["illness"], "l": 2},
    "joined_risk_of_numbers_with_diversity": {
        "known_records": 1,
        "known_count": True,
        "sensitive": ["illness"],
        "l": 2,
    },
    "joined_risk_of_all_with_diversity": {"known_records": "all", "sensitive": ["illness"], "l": 2},
}


def arguments(case: dict[str, object]) -> dict[str, object]:
    """Return the arguments of a case; results are linked over stays."""
    stays = {
        "relation": Ref(STAYS),
        "key": "stay",
        "to_subject": "person",
        "quasi_identifiers": ["ward", "month"],
        **({"sensitive": ["diagnosis"]} if case.get("l") else {}),
    }
    results = {"relation": Ref(RESULTS), "to_subject": {"stays": "stay"}}
    return {
        "key": "person",
        "quasi_identifiers": ["age"],
        "k": K,
        "tables": {"stays": stays, "results": results | {"quasi_identifiers": ["test"]}},
        **case,
    }


def query(given: dict[str, object]) -> str:
    """Return the query for arguments of the test, which has those of the subject beside others."""
    own = {name: given[name] for name in ("key", "quasi_identifiers", "sensitive") if name in given}
    others = {name: value for name, value in given.items() if name not in own}
    return call("joined_risk", subject={"relation": Ref(PEOPLE), **own}, **others)


def _of_page(**case: object) -> str:
    """Return the query of the example of the page: wards alone, k = 2."""
    stays = {"relation": Ref(STAYS), "to_subject": "person", "quasi_identifiers": ["ward"]}
    given = {"key": "person", "quasi_identifiers": ["age"], "k": 2, "tables": {"stays": stays}}
    return query({**given, **case})


MODELS = {
    "risk_of_page": _of_page(),
    "risk_of_page_with_all": _of_page(known_records="all"),
    "risk_of_page_with_numbers": _of_page(known_count=True),
    "risk_without_own_values": _of_page(quasi_identifiers=[]),
    **{name: query(arguments(case)) for name, case in CASES.items()},
    **{
        f"test_{name}": call("test_k_km_anonymity", model=Ref(PEOPLE), **arguments(case))
        for name, case in CASES.items()
    },
}
SEEDS = [PEOPLE, STAYS, RESULTS]
