"""Several guarantees, subjects, a population and recoded efforts in a stranger's project.

Whatever the warehouse says is counted again in Python, from the records themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.end_to_end.guaranteed import (
    QUASI_IDENTIFIERS,
    SPEC,
    Row,
    declare,
    fetch,
    generalizer,
    read_seed,
    write_seed,
)
from tests.end_to_end.test_fail_closed import PLANTED, everything_written, stops
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(5)

ROUNDS = (
    {"birth_date": 2, "zip": 1, "gender": 0},
    {"birth_date": 3, "zip": 2, "gender": 1},
    {"birth_date": 4, "zip": 3, "gender": 1},
)


# Of one effort alone.
CLOSE = {"attribute": "churned", "t": 0.35}
GAME = {"publisher_benefit": 100, "publisher_loss": 20, "adversary_gain": 9, "adversary_cost": 1}


def by_label(rows: list[Row]) -> Iterator[list[Row]]:
    """Group records by what everybody sees of them: labels, not texts of our own."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in QUASI_IDENTIFIERS)].append(row)
    yield from groups.values()


def is_close(records: list[Row], everybody: list[Row]) -> bool:
    """Tell whether the share of two values differs by at most t from that of everybody."""
    shares = [sum(row["churned"] == "yes" for row in of) / len(of) for of in (records, everybody)]
    return abs(shares[0] - shares[1]) <= CLOSE["t"]


def keeps_k_and_alpha(records: list[Row]) -> bool:
    most_frequent = max(Counter(row["churned"] for row in records).values())
    return len(records) >= 4 and most_frequent <= 0.95 * len(records)


@pytest.fixture(scope="module")
def recoded(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with two recoded efforts more, of which the local one is released."""
    project = built_consumer.copy(tmp_path_factory.mktemp("recoded") / "project")

    def change(spec: dict[str, Any]) -> None:
        spec["efforts"] += [
            {"recoding": "local", "rounds": list(ROUNDS)},
            {
                "recoding": "multidimensional",
                "k": 6,
                "guarantees": {"t_closeness": CLOSE, "profitable": GAME},
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


def test_what_guarantees_cannot_judge_stops_the_build_and_is_counted(consumer: Project) -> None:
    def change(spec: dict[str, Any]) -> None:
        spec["subject"] = "e-mail"
        spec["columns"]["order"]["role"] = "sensitive"
        spec["guarantees"]["l_diversity"] = [
            {"attribute": "order", "l": 1000},
            {"attribute": "churned", "l": 3},
        ]
        spec["guarantees"]["alpha_k_anonymity"] = {
            "attribute": "churned",
            "alpha": 0.9,
            "k": 4,
            "values": ["yes", "Yes"],
        }

    declare(consumer, change)
    rows = (f"1,{PLANTED},,,01067,male,7,170,1.0,yes", f"2,{PLANTED},a@b.org,,,,,170,1.0,no")
    consumer.edit("seeds/customers.csv", lambda text: text + "".join(f"{r}\n" for r in rows))
    values = len({row["order"] for row in read_seed(consumer, "customers")} - {""})
    stops(
        consumer,
        "build",
        "--full-refresh",
        "--exclude-resource-type",
        "test",
        "unit_test",
        says=(
            "the subject e-mail must not be NULL; 1 of 402 records have none",
            "the sensitive attribute order must not be NULL, since a guarantee is about it; 1 of",
            f"l_diversity requires l = 1000 of order, which has {values} values only",
            "l_diversity requires l = 3 of churned, which has 2 values only",
            "alpha_k_anonymity limits 2 values of churned, of which 1 do not occur",
        ),
    )
    assert PLANTED not in everything_written(consumer)


def test_a_sensitive_hierarchy_that_lacks_a_value_stops_the_build(consumer: Project) -> None:
    write_seed(
        consumer,
        "customers_hierarchy_churned",
        [{"value": "no", "level_1": "stays", "level_2": "*"}],
    )

    def change(spec: dict[str, Any]) -> None:
        tree = {"ref": "customers_hierarchy_churned", "kind": "categorical", "levels": 2}
        spec["columns"]["churned"]["hierarchy"] = tree
        spec["guarantees"]["t_closeness"] = {
            "attribute": "churned",
            "t": 0.9,
            "distance": "hierarchical",
        }

    declare(consumer, change)
    stops(
        consumer,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "customers_hierarchy_churned+",
        says=("a value of churned is not in the hierarchy customers_hierarchy_churned",),
    )


STALE = ("--exclude-resource-type", "test", "unit_test")


ONLY_MICRODATA = "path:seeds/customers.csv customers_microdata customers_anonymized"


def test_the_gate_counts_the_average_risk_of_people(
    built_consumer: Project, tmp_path: Path
) -> None:
    """Everybody was somebody else when the classes were built; now each class is four people."""
    project = built_consumer.copy(tmp_path / "project")

    def change(spec: dict[str, Any]) -> None:
        spec["subject"] = "e-mail"
        spec["guarantees"]["reidentification_risk"] = {"average": 0.12}
        spec["release"] = {"effort": 3}
        spec["suppression_limit"] = 0.2

    declare(project, change)
    assert project.dbt("build", *STALE).succeeded
    generalize = generalizer(project)
    levels = yaml.safe_load((project.folder / SPEC).read_text(encoding="utf-8"))["efforts"][2]
    rows = read_seed(project, "customers")
    seen: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        labels = generalize(row, levels)
        row["e-mail"] = f"{'-'.join(labels)}-{seen[labels] % 4}@example.org"
        seen[labels] += 1
    write_seed(project, "customers", rows)
    stops(
        project,
        "build",
        *STALE,
        "-s",
        ONLY_MICRODATA,
        says=("reidentification_risk requires average = 0.12", "counting subjects"),
    )


def test_the_gate_compares_with_the_records_of_today(
    built_consumer: Project, tmp_path: Path
) -> None:
    """Many more suppressed records of one value: other shares, and more than may be suppressed.

    Effort 1 has a guarantee of its own, which the gate knows and the other efforts do not have.
    """
    project = built_consumer.copy(tmp_path / "project")

    def change(spec: dict[str, Any]) -> None:
        first, *others = spec["efforts"]
        own = {"levels": first, "guarantees": {"t_closeness": CLOSE}}
        spec["efforts"] = [own, {"levels": first}, *others[1:]]
        spec["release"] = {"effort": 1}
        spec["suppression_limit"] = 0.5

    declare(project, change)
    assert project.dbt("build", *STALE).succeeded
    gone: dict[int, set[int]] = {}
    for effort in (1, 2):
        rows = fetch(project, f"from customers_effort_{effort}")
        gone[effort] = {row["customer_id"] for row in rows if row["is_suppressed"]}
        assert gone[effort] == {
            row["customer_id"]
            for members in by_label(rows)
            for row in members
            if len(members) < 4 or (effort == 1 and not is_close(members, rows))
        }
    assert gone[2] < gone[1]
    broken = dict(project.query("select effort, broken_guarantees from customers_privacy"))
    assert "t_closeness of churned" in broken[1]
    assert "t_closeness" not in broken[2]
    ((key,), *_) = project.query(
        "select customer_id from customers_effort_1 where is_suppressed order by 1"
    )
    rows = read_seed(project, "customers")
    (lonely,) = (row for row in rows if row["customer_id"] == str(key))
    new = [{**lonely, "customer_id": str(100_000 + n), "churned": "yes"} for n in range(1000)]
    write_seed(project, "customers", rows + new)
    stops(
        project,
        "build",
        *STALE,
        "-s",
        ONLY_MICRODATA,
        says=("t_closeness of churned requires t = 0.35", "of the records may be suppressed"),
    )


def test_labels_of_other_values_are_not_released(
    recoded: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = recoded.copy(tmp_path_factory.mktemp("permuted") / "project")
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
