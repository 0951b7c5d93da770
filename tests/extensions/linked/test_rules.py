"""Specs of linked tables that cannot be built, said before anything is computed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from dbt_anonymize.extensions.linked.shown import promise
from dbt_anonymize.project.descriptions import in_words
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import validate
from tests.extensions.linked.hospital import HIERARCHIES, spec


def declared() -> dict[str, Any]:
    """Return the spec with the levels of hierarchies, which are read from seeds otherwise."""
    raw = copy.deepcopy(spec())
    columns = [raw["columns"], *(t["columns"] for t in raw["linked"]["tables"].values())]
    for tree in (c.get("hierarchy") for group in columns for c in group.values()):
        if tree:
            tree["levels"] = sum("level" in name for name in HIERARCHIES[tree["ref"]][0])
    return raw


def problems(change: Callable[[dict[str, Any]], object]) -> str:
    """Return the problems of the spec after a change, as a user reads them."""
    raw = declared()
    change(raw)
    return "\n".join(map(str, validate(raw)[1]))


def _table(raw: dict[str, Any], name: str = "stays") -> dict[str, Any]:
    table: dict[str, Any] = raw["linked"]["tables"][name]
    return table


def test_the_spec_is_valid() -> None:
    parsed: Any = Spec.model_validate(declared())

    assert list(parsed.linked_tables) == ["stays", "results"]
    assert parsed.linked_tables["results"].released_parent == "stays_key"
    assert [*parsed.tables_beside] == ["hospital_released_stays", "hospital_released_results"]
    assert list(parsed.linked_features) == [
        "stays_count",
        "stays_mean_cost",
        "stays_any_ward",
        "results_count",
    ]
    assert parsed.limit_of("stays") == 0.3
    trees, effort = parsed.described_trees, parsed.numbered_efforts[1]
    assert in_words(effort, trees) == (
        "keeps age at level 1 of 3, stays.ward at level 1 of 2, results.test at level 1 of 2; "
        "gives up stays.month"
    )
    assert in_words(parsed.numbered_efforts[0], trees) == "leaves everything as it is"


def test_tables_stand_behind_those_that_they_lead_over() -> None:
    raw = declared()
    raw["linked"]["tables"] = dict(reversed(raw["linked"]["tables"].items()))
    parsed: Any = Spec.model_validate(raw)

    assert list(parsed.linked_tables) == ["stays", "results"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mapping", "class"),
        ("mapping", "none"),
        ("subject", "name"),
        ("sample", {"share": 0.5}),
        ("release", {"formats": ["duckdb", "csv"]}),
        ("release", {"recompute": True}),
    ],
)
def test_what_is_not_counted_over_tables_is_refused(key: str, value: object) -> None:
    text = problems(lambda raw: raw.update({key: value}))

    assert "beside linked tables" in text
    assert text.startswith(key) or f"\n{key}" in text


@pytest.mark.needs("second_month")
@pytest.mark.parametrize("joiners", [{}, {"joiners": "wait"}])
def test_people_who_would_wait_are_refused(joiners: dict[str, str]) -> None:
    frozen = {"freeze": True, "release": {"effort": 1, **joiners}}

    text = problems(lambda raw: raw.update(frozen))

    assert text.startswith("release.joiners: must be publish beside linked tables where freeze")
    assert "Write release: {joiners: publish}" in text
    frozen["release"] = {"effort": 1, "joiners": "publish"}
    assert problems(lambda raw: raw.update(frozen)) == ""


@pytest.mark.parametrize("change", [{"outer_share": 0.2}, {"fit": "per_split"}])
def test_scores_that_suppress_anew_are_refused(change: dict[str, object]) -> None:
    assert "beside linked tables" in problems(lambda raw: raw["quality"].update(change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda raw: _table(raw, "results").update(to_subject={"visits": "v"}),
            "Linked tables are",
        ),
        (lambda raw: _table(raw).update(to_subject={"results": "r"}), "it leads in a circle"),
        (
            lambda raw: _table(raw, "results").update(to_subject={"stays": "s", "results": "r"}),
            "must be one path to the subject",
        ),
        (
            lambda raw: _table(raw)["columns"].update(cost={"role": "identifier"}),
            "must be 'quasi_identifier', 'sensitive', 'insensitive' or 'dropped'",
        ),
        (
            lambda raw: _table(raw, "results")["columns"].update(test={"role": "dropped"}),
            "must hold at least one quasi-identifier",
        ),
        (
            lambda raw: _table(raw)["columns"].update(stay_id={"role": "dropped"}),
            "must not repeat key",
        ),
        (
            lambda raw: _table(raw)["columns"].update(patient_id={"role": "dropped"}),
            "must not repeat to_subject",
        ),
        (
            lambda raw: _table(raw)["columns"].update(month_lower={"role": "insensitive"}),
            "must not be the name of a column that we add",
        ),
        (
            lambda raw: raw["efforts"][0].pop("linked"),
            "must name a level for every quasi-identifier; ward, month is missing",
        ),
        (
            lambda raw: raw["efforts"][0]["linked"]["stays"].update(ward=9),
            "must be a level of its hierarchy, 0 to 2",
        ),
        (
            lambda raw: raw["efforts"][0]["linked"]["stays"].update(cost=1),
            "must be a quasi-identifier",
        ),
        (
            lambda raw: raw["efforts"][0]["linked"].update(visits={"ward": 1}),
            "efforts.1.linked.visits: must be a linked table",
        ),
        (
            lambda raw: raw["linked"]["features"].update(visits={"count": True}),
            "linked.features.visits: must be a linked table",
        ),
        (
            lambda raw: raw["linked"]["features"]["stays"].update(mean=["ward"]),
            "must name columns of stays with the role insensitive or sensitive",
        ),
        (
            lambda raw: raw["linked"]["features"]["stays"].update(any={"cost": ["1"]}),
            "must name columns of stays with the role quasi_identifier",
        ),
        (
            lambda raw: raw["columns"].update(Stays_Count={"role": "insensitive"}),
            "another feature; stays_count is",
        ),
        (
            lambda raw: raw["linked"].update(l=2),
            "linked.l: must be beside columns with the role sensitive; there is none",
        ),
        (
            lambda raw: (raw["linked"].update(l=2), raw["columns"]["sex"].update(role="sensitive")),
            "must be beside a guarantee that own values alone do not tell sex",
        ),
        (
            lambda raw: raw["linked"].update(known_records=9),
            "linked.known_records",
        ),
        (
            lambda raw: _table(raw)["source"].update(ref="hospital_released_stays"),
            "must not be the name of a relation that we build for hospital",
        ),
    ],
)
def test_what_cannot_be_built_is_said(
    change: Callable[[dict[str, Any]], object], message: str
) -> None:
    assert message in problems(change)


@pytest.mark.parametrize(
    ("alpha", "values", "holds"), [(0.5, None, True), (0.6, None, False), (0.5, ["f"], False)]
)
def test_own_values_must_not_be_told_alone(alpha: float, values: Any, *, holds: bool) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["linked"]["l"] = 2
        raw["columns"]["sex"]["role"] = "sensitive"
        guarantee = {"attribute": "sex", "alpha": alpha, "k": 4}
        raw["guarantees"]["alpha_k_anonymity"] = guarantee | ({"values": values} if values else {})

    assert ("own values alone do not tell sex" not in problems(change)) == holds
    assert ("linked" in problems(change)) != holds


def test_an_effort_promises_its_own_k() -> None:
    raw = declared()
    raw["efforts"][0]["k"] = 50
    spec = Spec.model_validate(raw)
    assert f"finds at least {spec.largest_k} people" in promise(spec, 2)
    assert "finds at least 50 people" in promise(spec, 1)
