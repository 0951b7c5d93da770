"""Builds that count people and the population."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest
import yaml

from tests.end_to_end.guaranteed import (
    QUASI_IDENTIFIERS,
    SPEC,
    declare,
    fetch,
    generalizer,
    read_seed,
    write_seed,
)
from tests.end_to_end.test_fail_closed import stops
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")
PEOPLE = 230


@pytest.fixture(scope="module")
def populated(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with people who have several records, within a population."""
    project = built_consumer.copy(tmp_path_factory.mktemp("populated") / "project")
    customers = read_seed(project, "customers")
    customers.sort(key=lambda row: [row[name] for name in QUASI_IDENTIFIERS])
    for number, row in enumerate(customers):
        row["e-mail"] = f"person-{number * PEOPLE // len(customers)}@example.org"
    write_seed(project, "customers", customers)
    write_seed(
        project,
        "inhabitants",
        [
            {name: row[name] for name in QUASI_IDENTIFIERS}
            for number, row in enumerate(customers)
            for _ in range(1 + number % 4)
        ],
    )
    project.edit(
        "seeds/_seeds.yml",
        # Equal dates of another type: one value, whose text is that of the source.
        lambda text: (
            text + "  - name: inhabitants\n    config:\n"
            "      column_types: {zip: text, birth_date: timestamp}\n"
        ),
    )

    def change(spec: dict[str, Any]) -> None:
        spec["subject"] = "e-mail"
        spec["population"] = {"ref": "inhabitants"}
        spec["suppression_limit"] = 0.3
        spec["guarantees"]["k_map"] = {"k": 15}
        spec["guarantees"]["delta_presence"] = {"minimum": 0.0, "maximum": 0.35}
        # The zero rule has either no F1 or much of it, as the half that is larger is drawn.
        spec["quality"]["measure"] = "accuracy"

    declare(project, change)
    outcome = project.dbt("build", "--exclude-resource-type", "test", "unit_test")
    assert outcome.succeeded, outcome.messages
    return project


def test_people_and_the_population_are_counted_exactly(populated: Project) -> None:
    generalize = generalizer(populated)
    efforts = yaml.safe_load((populated.folder / SPEC).read_text(encoding="utf-8"))["efforts"]
    source = read_seed(populated, "customers")
    broken: Counter[str] = Counter()
    for number, levels in enumerate(efforts, start=1):
        people: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for row in source:
            people[generalize(row, levels)].append(row["e-mail"])
        population = Counter(generalize(row, levels) for row in read_seed(populated, "inhabitants"))
        expected = {}
        for labels, mails in people.items():
            size = len(set(mails))
            reasons = {
                "k": size < 4,
                "k of records": len(mails) < 4,
                "k_map": population[labels] < 15,
                "delta_presence": size > 0.35 * population[labels],
            }
            broken.update(reason for reason, breaks in reasons.items() if breaks)
            breaks = reasons["k"] or reasons["k_map"] or reasons["delta_presence"]
            expected[labels] = (size, len(mails), population[labels], breaks)
        found = fetch(populated, f"from customers_classes where effort = {number}")
        assert {
            tuple(row[name] for name in QUASI_IDENTIFIERS): (
                row["class_size"],
                row["records"],
                row["population_size"],
                row["is_violating"],
            )
            for row in found
        } == expected
        violating = sum(records for _, records, _, breaks in expected.values() if breaks)
        meets = violating <= 120
        released = [c for c in expected.values() if not (meets and c[3])]
        (privacy,) = fetch(populated, f"from customers_privacy where effort = {number}")
        assert privacy["violating_records"] == violating
        assert privacy["meets_guarantees"] == meets
        assert privacy["k"] == min(size for size, *_ in released)
        assert privacy["journalist_highest_risk"] == pytest.approx(
            1 / min(inside for _, _, inside, _ in released)
        )
    assert broken["k"] > broken["k of records"], "people must matter"
    assert min(broken["k_map"], broken["delta_presence"]) > 0, "each guarantee must matter"


def test_the_release_keeps_k_people_in_each_class(populated: Project) -> None:
    people: dict[str, set[str]] = defaultdict(set)
    for row in fetch(populated, "from vault.main.customers_identifiers where cqi is not null"):
        people[row["cqi"]].add(row["e-mail"])
    assert min(map(len, people.values())) >= 4
    released = populated.query("select distinct cqi from release_customers.customers_anonymized")
    assert {cqi for (cqi,) in released} == people.keys()


def test_a_population_that_lacks_somebody_of_the_source_stops_the_build(
    populated: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = populated.copy(tmp_path_factory.mktemp("incomplete") / "project")
    somebody = {name: read_seed(project, "customers")[50][name] for name in QUASI_IDENTIFIERS}
    rows = read_seed(project, "inhabitants")
    write_seed(project, "inhabitants", [row for row in rows if row != somebody])
    stops(
        project,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "inhabitants+ customers_anonymized",
        says=("the population must contain everybody in the source; 1 of",),
    )


def test_the_gate_counts_people_in_the_effort_that_it_releases(
    populated: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Classes of an earlier build say that there are enough people; the records say otherwise."""
    project = populated.copy(tmp_path_factory.mktemp("stale") / "project")
    rows = read_seed(project, "customers")
    for row in rows:
        row["e-mail"] = "one-person@example.org"
    write_seed(project, "customers", rows)
    stops(
        project,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "path:seeds/customers.csv customers_microdata customers_frequencies customers_anonymized",
        says=(
            "k_anonymity requires at least 4 subjects in each equivalence class",
            "counting subjects",
        ),
    )


def test_the_gate_counts_the_population_of_today(
    populated: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Everybody of the source is still in the population, but few others are."""
    project = populated.copy(tmp_path_factory.mktemp("emigrated") / "project")
    customers = read_seed(project, "customers")
    write_seed(
        project,
        "inhabitants",
        [{name: row[name] for name in QUASI_IDENTIFIERS} for row in customers],
    )
    stops(
        project,
        "build",
        "--exclude-resource-type",
        "test",
        "unit_test",
        "-s",
        "path:seeds/inhabitants.csv customers_population customers_anonymized",
        says=(
            "delta_presence requires minimum = 0.0, maximum = 0.35; ",
            "results are of other data",
        ),
    )
