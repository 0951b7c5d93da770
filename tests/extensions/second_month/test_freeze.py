"""A frozen effort: new records get its labels, nothing is trained, and every promise is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.project.generate import generate
from tests.projects import Project
from tests.release.test_releases import append_customers
from tests.second_month.customers import SPEC, frozen_copy, run

ZIPS = "seeds/customers_hierarchy_zip.csv"


# Each builds for half a minute.
pytestmark = pytest.mark.sampled_tests(group="builds")


def test_new_records_get_the_frozen_labels_and_a_breach_says_what_holds(
    built_consumer: Project, tmp_path: Path
) -> None:
    project = frozen_copy(built_consumer, tmp_path / "project")
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    labels = project.query(f"select * from customers_effort_{effort}")
    assert f"effort: {effort}" in (project.folder / SPEC).read_text("utf-8")
    models = {path.stem for path in (project.folder / "models" / "customers").glob("*.*")}
    assert not list((project.folder / "models").rglob("*.py"))
    assert not {"customers_evaluation", "customers_quality", "customers_scores"} & models

    append_customers(project, *range(9001, 9005))
    built = project.build()
    assert "customers_evaluation" not in " ".join(built.statuses)
    found = project.query(f"select * from customers_effort_{effort}")
    keys = {row[0] for row in labels}
    assert {row[:8] for row in found if row[0] in keys} == {row[:8] for row in labels}
    assert len(found) == len(labels) + 4
    ((qf, reason, is_chosen),) = project.query(
        f"select qf_mean, reason, is_chosen from customers_results where effort = {effort}"
    )
    assert (qf, reason, is_chosen) == (None, "chosen: frozen, and keeps its guarantees", True)
    shown = run(project, "results", "customers")
    assert shown.exit_code == 0, shown.output
    assert "frozen" in shown.output
    again = run(project, "freeze", "customers")
    assert again.exit_code == 2
    assert "must not be frozen yet" in again.output

    # A label that somebody changed would be another table for everybody who has the first release.
    before = project.release_file("customers").read_bytes()
    zips = (project.folder / ZIPS).read_text("utf-8")
    project.edit(ZIPS, lambda text: text.replace(",010**,0****,", ",910**,9****,"))
    stopped = project.dbt("build")
    assert not stopped.succeeded
    assert "the labels of zip are frozen;" in stopped.messages
    assert "leaves are gone or have another label or bound" in stopped.messages
    (project.folder / ZIPS).write_text(zips, encoding="utf-8")

    # A promise that the frozen labels cannot keep: nothing is released.
    project.edit(SPEC, lambda text: text.replace("k: 4", "k: 60"))
    generate(project.folder)
    stopped = project.dbt("build")
    assert not stopped.succeeded
    ((violating, classes, smallest),) = project.query(
        "select sum(records) filter (where is_violating), count(*) filter (where is_violating), "
        f"min(class_size) from customers_classes where effort = {effort}"
    )
    said = " ".join(stopped.messages.split())
    assert "the frozen effort must keep its guarantees on the data as they are now" in said
    assert f"{violating} of {len(found)} records in {classes} classes would have to go" in said
    assert f"if nothing is suppressed, k = {smallest}" in said
    assert project.release_file("customers").read_bytes() == before
    shares = project.query(f"select reason from customers_results where effort = {effort}")
    limit = float(
        shares[0][0].partition("suppression_limit ")[2].rpartition("limit ")[2].split(",")[0]
    )
    assert violating <= int(limit * len(found) + 1e-9) < violating + 1 + len(found) / 10_000


def test_a_freeze_without_its_labels_is_refused(built_consumer: Project, tmp_path: Path) -> None:
    project = built_consumer.copy(tmp_path / "project")
    project.edit(SPEC, lambda text: text + "freeze: true\n")
    said = " ".join(run(project, "generate").output.split())
    assert "release.effort: must be the number of the frozen effort" in said
    project.edit(SPEC, lambda text: text + "release: {effort: 2}\n")
    result = run(project, "generate")
    assert result.exit_code == 2
    said = " ".join(result.output.split())
    assert "must have the seed customers_frozen_labels.csv" in said


def test_a_key_of_another_type_stops_the_build(built_consumer: Project, tmp_path: Path) -> None:
    """The vault remembers keys as text: 1 and 1.00 would be two records."""
    project = built_consumer.copy(tmp_path / "project")
    config = (project.folder / "dbt_project.yml").read_text("utf-8")

    def seeded_as(kind: str) -> str:
        typed = f"seeds:\n  shop:\n    customers:\n      +column_types: {{customer_id: '{kind}'}}\n"
        (project.folder / "dbt_project.yml").write_text(config + typed, encoding="utf-8")
        outcome = project.dbt("build", "--full-refresh")
        assert outcome.succeeded == (kind == "hugeint"), outcome.messages
        return " ".join(outcome.messages.split())

    # Also where nothing but the classes of earlier releases is remembered.
    assert "by customer_id of type integer" in (said := seeded_as("varchar"))
    assert "customers_releases" in said
    frozen = run(project, "freeze", "customers")
    assert frozen.exit_code == 0, frozen.output
    # Integers of all sizes are the same text.
    assert "another text" not in seeded_as("hugeint")
    before = project.release_file("customers").read_bytes()
    for kind, shown in (("varchar", "character varying"), ("decimal(12, 2)", "decimal")):
        said = seeded_as(kind)
        assert "the vault remembers records by customer_id of type hugeint" in said
        assert f"told apart by customer_id of type {shown}" in said
        assert "customers_members" in said
    # Without members: those who left with somebody who was erased must not come back.
    project.execute("alter table vault.customers_members rename to customers_withheld")
    assert "customers_withheld" in seeded_as("varchar")
    assert project.release_file("customers").read_bytes() == before


def test_effort_0_is_counted_beside_a_sample_that_is_not_released(
    built_consumer: Project, tmp_path: Path
) -> None:
    """The frequencies are split by shares of the sample of an effort that is frozen out."""
    project = built_consumer.copy(tmp_path / "project")
    project.edit(
        SPEC,
        lambda text: (
            text.replace(
                "  - {birth_date: 3, zip: 2, gender: 1}",
                "  - {levels: {birth_date: 3, zip: 2, gender: 1}, sample: {share: 0.5}}",
            )
            + "release: {effort: 2}\npopulation: {size: 100000}\n"
        ),
    )
    # So that records of effort 0 share a class and a value.
    project.edit(
        "seeds/customers.csv",
        lambda text: re.sub(r"(\d{3})\d-\d\d-\d\d", r"\g<1>0-01-01", text),
    )
    generate(project.folder)
    project.build()
    assert run(project, "freeze", "customers").exit_code == 0
    project.build()
    assert "sample_share" in str(project.query("describe customers_frequencies"))
    keys = "birth_date, zip, gender"
    values = f"select {keys}, count(*) as n from customers_microdata group by {keys}, churned"
    counted = f"select max(n) as most from ({values}) group by {keys}"
    expected = project.query(f"select sum(most), count(*) from ({counted})")
    found = "select sum(majority_records), count(*) from customers_classes where effort = 0"
    assert project.query(found) == expected
