"""A spec with linked tables, built in a stranger's project."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.extensions.linked.shown import raised_to_root
from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec import load_spec
from tests.commands.conftest import command
from tests.extensions.linked.hospital import (
    HIERARCHIES,
    WARDS,
    K,
    forget,
    spec,
    tables,
    write,
)
from tests.extensions.linked.released import released, subjects
from tests.oracle.linked import Subject, found_by
from tests.projects import REPOSITORY, Project, run_command


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project, built."""
    folder = tmp_path_factory.mktemp("hospital") / "project"
    project = write(folder)
    generate(folder)
    project.build("-s", "+hospital_anonymized")
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    """Return a copy of the built project."""
    return built.copy(tmp_path / "project")


def test_nobody_is_found_by_two_records_of_the_file(built: Project) -> None:
    everybody = subjects(built)

    assert found_by(everybody, 2, K) == (set(), set())
    assert len(everybody) == 400


def test_without_suppression_somebody_is_found(built: Project) -> None:
    ages = dict(built.query("select patient_id, age from hospital_effort_2"))
    people = {patient: Subject(age) for patient, age in ages.items()}
    for patient, ward, month in built.query(
        "select parent, split_part(value, '|', 1), split_part(value, '|', 2) "
        "from hospital_linked_values_4 where linked_table = 'stays'"
    ):
        people[int(patient)].records.append((ward, month))

    assert len(found_by(list(people.values()), 2, K)[0]) > 50


def test_every_record_is_released_or_counted_as_lost(built: Project) -> None:
    file, source = released(built), tables(400)
    ((effort,),) = built.query("select effort from hospital_results where is_chosen")
    losses = built.query(
        "select linked_table, records, raised_records, hidden_records, left_out_records, "
        f"lost_share from hospital_linked_losses where effort = {effort}"
    )

    for name, records, raised, hidden, left_out, lost_share in losses:
        rows = file[f"released_{name}"]
        assert records == len(source[f"clinic_{name}"]) - 1
        assert len(rows) == records - left_out
        assert lost_share == pytest.approx((hidden + left_out) / records)
        decided = built.query(
            f"select status, count(*) from hospital_linked_decisions_{effort} "
            f"where linked_table = '{name}' and status in ('raised', 'hidden') group by status"
        )
        assert dict(decided) == {k: n for k, n in (("raised", raised), ("hidden", hidden)) if n}


def test_values_one_level_up_are_what_a_raised_record_shows(built: Project) -> None:
    efforts = list(enumerate(spec()["efforts"], start=1))
    for number, effort in efforts:
        rows = built.query(
            "select status, ward, month, value, raised_value from hospital_linked_table_stays "
            f"join hospital_linked_values_{number} on record = stay_id::varchar "
            f"join hospital_linked_decisions_{number} using (linked_table, record) "
            "where linked_table = 'stays'"
        )
        levels = effort["linked"]["stays"]
        up = {name: level + 1 for name, level in levels.items()}
        for status, ward, month, value, raised in rows:
            assert value == shown_text(ward, month, levels)
            assert raised == shown_text(ward, month, up)
            assert status != "raised" or (raised != value and raised is not None)
        if number == len(efforts):
            assert {"raised", "released"} <= {status for status, *_ in rows}


def test_features_see_the_labels_of_raised_records(built: Project) -> None:
    """Of the last effort wards are released by name, and by their group where they are raised."""
    number = len(spec()["efforts"])
    rows = built.query(
        "select patient_id, status, ward from hospital_linked_table_stays "
        f"join hospital_linked_decisions_{number} on record = stay_id::varchar "
        "where linked_table = 'stays' and status in ('released', 'raised')"
    )
    labelled = {
        patient
        for patient, status, ward in rows
        if (ward if status == "released" else WARDS[ward]) in {"heart", "operative"}
    }
    features = f"from hospital_linked_features_{number} where not is_suppressed"
    found = built.query(f"select patient_id, stays_any_ward {features}")
    assert {patient for patient, has_ward in found if has_ward} == labelled
    assert any(status == "raised" and WARDS[ward] == "operative" for _, status, ward in rows)


def shown_text(ward: str, month: int, levels: dict[str, int]) -> str | None:
    """Return the labels and bounds of a stay as one text, None if they are roots."""
    group = {0: ward, 1: WARDS[ward]}.get(levels["ward"], "*")
    width = {0: 0, 1: 1, 2: 6}.get(levels["month"], 12)
    lower = 1 + (month - 1) // max(1, width) * max(1, width)
    label = {0: str(month), 12: "*"}.get(width, f"[{lower}, {lower + width})")
    text = f"t{len(group)}:{group}|n{len(label)}:{label}|{lower}|{lower + width}"
    return None if (group, label) == ("*", "*") else text


def covered(tree: str, value: Any, level: int) -> float:
    """Return the share of a hierarchy that the label of a value covers, beyond that of itself."""
    if level == 0:
        return 0.0
    header, *rows = HIERARCHIES[tree]
    labels = {row[0]: row[header.index(f"level_{level}")] for row in rows}
    share = sum(one == labels[value] for one in labels.values()) / len(rows)
    least = 0 if header[0] == "lower_bound" else 1 / len(rows)
    return (share - least) / (1 - least)


def test_a_record_loses_what_its_labels_cover_and_all_if_it_is_not_shown(built: Project) -> None:
    columns = {"stays": {"ward": "clinic_wards", "month": "clinic_months"}}
    columns["results"] = {"test": "clinic_tests"}
    for number, effort in enumerate(spec()["efforts"], start=1):
        for table, trees in columns.items():
            _, *rows = tables(400)[f"clinic_{table}"]
            status = dict(
                built.query(
                    f"select record, status from hospital_linked_decisions_{number} "
                    f"where linked_table = '{table}'"
                )
            )
            losses = []
            for place, (column, tree) in enumerate(trees.items(), start=2):
                level = effort["linked"][table][column]
                most = sum("level" in name for name in HIERARCHIES[tree][0])
                levels = {"released": level, "raised": min(level + 1, most)}
                shares = [
                    covered(tree, row[place], levels[kept])
                    if (kept := status.get(str(row[0]), "left out")) in levels
                    else 1.0
                    for row in rows
                ]
                losses.append(sum(shares) / len(shares))
            expected = math.prod(1 + one for one in losses) ** (1 / len(losses)) - 1
            ((loss,),) = built.query(
                "select loss from hospital_linked_losses "
                f"where effort = {number} and linked_table = '{table}'"
            )
            assert loss == pytest.approx(expected, abs=1e-9)


def test_models_learn_from_what_is_released_and_are_scored_on_the_source(built: Project) -> None:
    _, *stays = tables(400)["clinic_stays"]
    costs: dict[int, list[int]] = {}
    wards: dict[int, set[str]] = {}
    for _, patient, ward, _, cost in stays:
        costs.setdefault(patient, []).append(cost)
        wards.setdefault(patient, set()).add(ward)
    named = "stays_count, stays_mean_cost, stays_any_ward"
    untouched = built.query(f"select patient_id, {named} from hospital_linked_features_0")

    assert len(untouched) == 400
    for patient, count, mean, has_ward in untouched:
        own = costs.get(patient, [])
        assert count == len(own)
        assert mean == (pytest.approx(sum(own) / len(own)) if own else None)
        assert has_ward == ("heart" in wards.get(patient, ()))
    everywhere = "select sum(stays_count), sum(results_count) from hospital_linked_features_{}"
    ((stays_before, results_before),) = built.query(everywhere.format(0))
    ((stays_after, results_after),) = built.query(everywhere.format(3))
    assert stays_after < stays_before
    assert results_after < results_before


def test_rows_of_another_build_are_not_published(project: Project) -> None:
    before = project.release_file("hospital").read_bytes()
    # As if they were of an effort that hides nothing.
    project.execute("update hospital_released_stays set ward = 'ward ' || stays_key")

    outcome = project.dbt("run", "-s", "hospital_anonymized")

    assert not outcome.succeeded
    assert "would be found by their own values and linked records" in outcome.messages
    assert project.release_file("hospital").read_bytes() == before


def test_new_tokens_alone_are_not_published(project: Project) -> None:
    before = {row["token"] for row in released(project)["anonymized"]}

    outcome = project.dbt(
        "run", "-s", "hospital_tokens", "hospital_identifiers", "hospital_anonymized"
    )

    assert not outcome.succeeded
    assert "a record of stays has no subject" in outcome.messages
    assert {row["token"] for row in released(project)["anonymized"]} == before
    project.build("-s", "+hospital_anonymized")
    assert not {row["token"] for row in released(project)["anonymized"]} & before


def test_a_count_of_no_rows_publishes_nothing(project: Project) -> None:
    project.dbt("run", "--empty", "-s", "hospital_linked_risk")

    outcome = project.dbt(
        "run", "-s", "hospital_tokens", "hospital_identifiers", "hospital_anonymized"
    )

    assert not outcome.succeeded
    assert "must be counted with the chosen effort" in outcome.messages


def test_a_count_by_another_spec_publishes_nothing(project: Project) -> None:
    project.edit(
        "anonymizations/hospital.yml",
        lambda text: text.replace("known_records: 2", "known_records: 3"),
    )
    generate(project.folder)

    outcome = project.dbt("run", "-s", "hospital_results", "hospital_anonymized")

    assert not outcome.succeeded
    assert "by the spec as it is" in outcome.messages


def test_records_that_the_effort_does_not_release_are_not_published(project: Project) -> None:
    project.dbt("run", "--empty", "-s", "hospital_released_results")

    outcome = project.dbt("run", "-s", "hospital_anonymized")

    assert not outcome.succeeded
    assert "the records of results must be those that effort" in outcome.messages


def test_records_hidden_for_a_smaller_k_of_the_effort_are_not_published(project: Project) -> None:
    project.edit(
        "anonymizations/hospital.yml", lambda text: text.replace("- levels:", "- k: 6\n  levels:")
    )
    generate(project.folder)
    later = [f"hospital_{name}" for name in ("privacy", "linked_privacy", "results", "linked_risk")]

    outcome = project.dbt(
        "run",
        "-s",
        *later,
        "hospital_released_stays",
        "hospital_released_results",
        "hospital_anonymized",
    )

    assert not outcome.succeeded
    assert "would be found by their own values and linked records" in outcome.messages


def test_records_of_nobody_stop_the_build(project: Project) -> None:
    project.execute("insert into vault.main.clinic_stays values (99999, 77777, 'eye', 1, 10)")

    outcome = project.dbt("run", "-s", "hospital_linked_table_stays")

    assert not outcome.succeeded
    assert "1 have none, or lead nowhere" in outcome.messages
    assert "77777" not in outcome.messages


def test_erase_writes_nothing_while_a_linked_source_has_the_person(project: Project) -> None:
    project.execute("delete from vault.main.clinic_patients where patient_id = 7")

    output = run_command("! dbt-anonymize erase hospital --subject 7 --yes", project.folder)

    assert "must have forgotten the person first" in output
    assert 'clinic_stays" still has' in output
    assert "clinic_patients" not in output
    assert project.query(
        "select count(*) from vault.main.hospital_identifiers where patient_id::text = '7'"
    ) == [(1,)]


def test_an_erased_person_is_in_no_table(project: Project) -> None:
    forget(project, 7)

    output = run_command("dbt-anonymize erase hospital --subject 7 --yes", project.folder)

    assert "hospital: erased" in output
    everybody = subjects(project)
    # Whom she would be seen missing from leave with her.
    assert 399 - K < len(everybody) <= 399
    assert found_by(everybody, 2, K) == (set(), set())
    for relation, column in (("table_stays", "patient_id"), ("values_1", "parent")):
        ((number,),) = project.query(
            f"select count(*) from hospital_linked_{relation} where {column}::text = '7'"
        )
        assert number == 0


def test_results_and_report_say_what_is_promised(project: Project) -> None:
    output = " ".join(run_command("dbt-anonymize results hospital", project.folder).split())

    assert "own values and up to 2 linked records of a person finds at least 4 people" in output
    ((effort,),) = project.query("select effort from hospital_results where is_chosen")
    declared = load_spec(project.folder / "anonymizations" / "hospital.yml")
    shown = {number: raised_to_root(declared, number, "stays") for number in (1, 2, 3, 4)}
    assert shown == {1: " (ward to *)", 2: "", 3: " (ward, month to *)", 4: ""}
    assert f"of stays raised by a level{shown[effort]}," in output
    page = json.loads(run_command("dbt-anonymize report hospital --format json", project.folder))
    assert "Linked tables" in json.dumps(page)
    summary = run_command("dbt-anonymize report hospital --format md", project.folder)
    assert "- Generalized: age, stays.ward, stays.month, results.test." in summary
    assert "As they are: sex, returned, stays.cost, results.value." in summary


def test_the_mean_of_texts_is_refused(project: Project) -> None:
    project.execute("alter table hospital_linked_table_stays alter cost type varchar")

    outcome = project.dbt("run", "-s", "hospital_linked_features_1")

    assert not outcome.succeeded
    assert "the mean of cost of stays must be of numbers; it has VARCHAR" in outcome.messages


def test_a_column_that_nobody_declared_is_not_published(project: Project) -> None:
    file = project.release_file("hospital")
    before = file.read_bytes()
    project.execute("alter table hospital_released_stays add column note text default 'Ada'")

    outcome = project.dbt("run", "-s", "hospital_anonymized")

    assert "hospital_released_stays must have exactly the columns stays_key, token" in str(
        outcome.messages
    )
    assert file.read_bytes() == before


def test_a_strict_release_stops_where_the_difference_finds_somebody(project: Project) -> None:
    """The same people again are no difference, though all keys are new."""
    strict = "\nrelease: {composition: strict}\n"
    project.edit("anonymizations/hospital.yml", lambda text: text + strict)
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    published = project.release_file("hospital").read_bytes()
    for patient in (2, 3, 5):
        forget(project, patient)
    outcome = project.dbt("build", "-s", "+hospital_anonymized")

    said = " ".join(outcome.messages.split())
    page = (REPOSITORY / "docs/extensions/linked.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"no class may differ [^`]+? had other records", " ".join(page.split()))
    assert not outcome.succeeded
    assert shown in said
    assert "Whoever has both files sees who joined and who left." in said
    assert project.release_file("hospital").read_bytes() == published
    # The file still keeps its own promise, though nothing can compute it again.
    verified = command(project, "verify", "hospital", "--format", "json")
    found = [json.loads(line) for line in verified.stdout.splitlines() if line.startswith("{")]
    assert verified.exit_code == 1
    (reason,) = [one["message"] for one in found if one["holds"] is False]
    assert "the last build released nothing, and release 2 of" in reason
    counted = [one for one in found if one["subject"].startswith("hospital: own values and up to")]
    assert [one["holds"] for one in counted] == [True]
