"""Recoded efforts in a stranger's project, counted again in Python from the records themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.end_to_end.guaranteed import (
    CLOSE,
    ONLY_MICRODATA,
    QUASI_IDENTIFIERS,
    STALE,
    Row,
    by_label,
    declare,
    fetch,
    generalizer,
    is_close,
    read_seed,
    write_seed,
)
from tests.end_to_end.test_fail_closed import stops
from tests.extensions import has
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(1)

ROUNDS = (
    {"birth_date": 2, "zip": 1, "gender": 0},
    {"birth_date": 3, "zip": 2, "gender": 1},
    {"birth_date": 4, "zip": 3, "gender": 1},
)
PAID = {"publisher_benefit": 100, "publisher_loss": 20, "adversary_gain": 9, "adversary_cost": 1}
GAME = {"profitable": PAID} if has("payouts") else {}


def keeps_k_and_alpha(records: list[Row]) -> bool:
    most_frequent = max(Counter(row["churned"] for row in records).values())
    return len(records) >= 4 and most_frequent <= 0.95 * len(records)


@pytest.fixture(scope="module")
def recoded(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with three recoded efforts more, of which the local one is released."""
    project = built_consumer.copy(tmp_path_factory.mktemp("recoded") / "project")

    def change(spec: dict[str, Any]) -> None:
        spec["efforts"] += [
            {"recoding": "local", "rounds": list(ROUNDS)},
            {
                "recoding": "multidimensional",
                "k": 6,
                "guarantees": {"t_closeness": CLOSE} | GAME,
            },
            {
                "recoding": "microaggregation",
                "method": "mondrian",
                "k": 12,
                "categories": "mode",
                **({"guarantees": GAME} if GAME else {}),
            },
        ]
        spec["guarantees"]["alpha_k_anonymity"] = {"attribute": "churned", "alpha": 0.95, "k": 4}
        spec["release"] = {"effort": 4}

    declare(project, change)
    outcome = project.dbt("run")
    assert outcome.succeeded, outcome.messages
    return project


def test_local_recoding_gives_every_record_the_labels_of_the_first_round_that_protects_it(
    recoded: Project,
) -> None:
    generalize = generalizer(recoded)
    rest = read_seed(recoded, "customers")
    expected: dict[int, tuple[str, ...]] = {}
    for levels in ROUNDS:
        classes: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in rest:
            classes[generalize(row, levels)].append(row)
        rest = []
        for labels, members in classes.items():
            if keeps_k_and_alpha(members) or levels is ROUNDS[-1]:
                expected |= {int(row["customer_id"]): labels for row in members}
            else:
                rest += members
    found = {
        row["customer_id"]: tuple(row[name] for name in QUASI_IDENTIFIERS)
        for row in fetch(recoded, "from customers_effort_4")
    }
    assert found == expected
    assert len({labels[2] == "*" for labels in expected.values()}) == 2, "rounds must differ"


@pytest.mark.parametrize(("effort", "k"), [(4, 4), (5, 6)])
def test_recoded_efforts_keep_every_guarantee(recoded: Project, effort: int, k: int) -> None:
    rows = fetch(recoded, f"from customers_effort_{effort}")
    kept = [row for row in rows if not row["is_suppressed"]]
    classes = list(by_label(kept))
    assert len(rows) == 400
    assert len(rows) - len(kept) <= 40
    assert len(classes) > 1
    assert all(len(members) >= k and keeps_k_and_alpha(members) for members in classes)
    assert effort == 4 or all(is_close(members, rows) for members in classes)
    assert all(row["class_size"] == len(members) for members in classes for row in members)
    (privacy,) = fetch(recoded, f"from customers_privacy where effort = {effort}")
    assert privacy["meets_guarantees"]
    assert privacy["k"] == min(map(len, classes))
    assert privacy["equivalence_classes"] == len(classes)
    assert privacy["suppressed_records"] == len(rows) - len(kept)
    assert privacy["churned_highest_share"] == pytest.approx(
        max(max(Counter(r["churned"] for r in m).values()) / len(m) for m in classes)
    )
    (loss,) = fetch(recoded, f"from customers_information_loss where effort = {effort}")
    assert 0 < loss["loss"] < 1
    assert 0 < loss["granularity"] < 1
    assert loss["discernibility"] == pytest.approx(
        sum(len(m) ** 2 for m in classes) + 400 * (len(rows) - len(kept))
    )


def assert_released_with_matching_vault(project: Project, effort: int) -> None:
    vault = fetch(project, "select customer_id, cqi from vault.main.customers_identifiers")
    released = fetch(project, "from release_customers.customers_anonymized")
    kept = fetch(project, f"from customers_effort_{effort} where not is_suppressed")
    shown = (*QUASI_IDENTIFIERS, "order", "spending", "churned", "cqi")
    classes = {row["customer_id"]: row["equivalence_class"] for row in kept}
    assert {row["customer_id"]: row["cqi"] for row in vault if row["cqi"] is not None} == classes
    assert len(vault) == 400
    assert Counter(tuple(row[name] for name in shown) for row in released) == Counter(
        tuple({**row, "cqi": row["equivalence_class"]}[name] for name in shown) for row in kept
    )


def test_a_recoded_effort_is_released_with_the_vault_that_leads_to_it(recoded: Project) -> None:
    assert_released_with_matching_vault(recoded, 4)
    declare(recoded, lambda spec: spec["release"].update(effort=5))
    outcome = recoded.dbt("run", "-s", "customers_results+")
    assert outcome.succeeded, outcome.messages
    assert_released_with_matching_vault(recoded, 5)


def test_the_gate_measures_along_the_hierarchy_of_today(
    recoded: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Under one label two values are half as far from each other as under two."""
    project = recoded.copy(tmp_path_factory.mktemp("regrouped") / "project")
    ((worst,),) = project.query("select churned_t from customers_privacy where effort = 4")
    tree = [{"value": value, "level_1": "told", "level_2": "*"} for value in ("yes", "no")]
    write_seed(project, "customers_hierarchy_churned", tree)

    def change(spec: dict[str, Any]) -> None:
        spec["columns"]["churned"]["hierarchy"] = {
            "ref": "customers_hierarchy_churned",
            "kind": "categorical",
            "levels": 2,
        }
        spec["guarantees"]["t_closeness"] = {
            "attribute": "churned",
            "t": round(0.75 * worst, 3),
            "distance": "hierarchical",
        }
        spec["release"] = {"effort": 4}

    declare(project, change)
    outcome = project.dbt("build", "--exclude-resource-type", "test", "unit_test")
    assert outcome.succeeded, outcome.messages
    write_seed(
        project, "customers_hierarchy_churned", [{**row, "level_1": row["value"]} for row in tree]
    )
    stops(
        project,
        "build",
        "-s",
        "path:seeds/customers_hierarchy_churned.csv customers_anonymized",
        "--exclude-resource-type",
        "test",
        "unit_test",
        says=("t_closeness of churned requires", "results are of other data"),
    )


def test_a_label_with_two_meanings_stops_a_recoding(consumer: Project) -> None:
    """The decade is labelled like its first year: together they would look like one class."""
    consumer.edit(
        "seeds/customers_hierarchy_birth_date.csv", lambda text: text.replace("0s,", "0,")
    )
    rounds = [{"birth_date": level, "zip": 3, "gender": 1} for level in (1, 2, 3)]
    declare(
        consumer,
        lambda spec: spec["efforts"].append({"recoding": "local", "rounds": rounds, "k": 8}),
    )
    stops(
        consumer,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "customers_hierarchy_birth_date customers_microdata customers_recoding_4",
        says=("a label of birth_date must stand for one interval where the level differs",),
    )


def test_modes_are_released_and_counted_again(
    recoded: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = recoded.copy(tmp_path_factory.mktemp("modes") / "project")
    declare(project, lambda spec: spec["release"].update(effort=6, recompute=True))
    outcome = project.dbt("run", "-s", "customers_results+")
    assert outcome.succeeded, outcome.messages
    assert_released_with_matching_vault(project, 6)
    # Some labels are values that not all of their records have.
    ((other,),) = project.query(
        "select count(*) from customers_effort_6 inner join customers_microdata "
        "using (customer_id) where customers_effort_6.zip <> customers_microdata.zip "
        "and customers_effort_6.zip in (select zip from customers_microdata)"
    )
    assert other > 0


@pytest.mark.parametrize("effort", [4, 6])
def test_labels_of_other_values_are_not_released(
    effort: int, recoded: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = recoded.copy(tmp_path_factory.mktemp("permuted") / "project")
    declare(project, lambda spec: spec["release"].update(effort=effort))
    assert project.dbt("run", "-s", "customers_results+").succeeded
    rows = read_seed(project, "customers")
    values = [{name: row[name] for name in QUASI_IDENTIFIERS} for row in rows]
    moved = values[37:] + values[:37]
    write_seed(
        project, "customers", [{**row, **other} for row, other in zip(rows, moved, strict=True)]
    )
    stops(
        project,
        "build",
        *STALE,
        "-s",
        ONLY_MICRODATA,
        says=("every record must be under labels that cover its values",),
    )
