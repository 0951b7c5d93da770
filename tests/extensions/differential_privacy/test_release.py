"""A private release in a real build: a sample in classes of at least k, and paid for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.extensions.differential_privacy.model import k_of, largest_beta
from tests.projects import Project
from tests.worlds.private import SEED, SPEC, changed, write

BUDGET = "select epsilon, delta, source from vault.main.dbt_anonymize_budget"
RELEASED = "select birth_date, gender, churned from release_shielded.shielded_anonymized"
MODELS = ("sample", "microdata", "frequencies", "classes", "privacy", "results", "anonymized")
AGAIN = ("run", "-s", *(f"shielded_{model}" for model in MODELS))
SHARE = largest_beta(1.0)
K = k_of(1.0, 0.05, SHARE)


def drawn(draw: int, **totals: float) -> dict[str, Any]:
    """Return the spec with another draw, and what all releases may cost."""
    private = {"epsilon": 1, "delta": 0.05, "draw": draw, **totals}
    return changed(guarantees={"k_anonymity": {"k": 2}, "differential_privacy": private})


def test_it_is_the_sample_in_classes_of_at_least_k(built_samples: Project) -> None:
    rows = built_samples.query(
        "select s.draw, e.birth_date, e.gender, e.churned from shielded_effort_1 as e"
        " join vault.main.shielded_sample as s on e.customer_id = s.person"
    )
    assert len(rows) == 400
    sampled = Counter(label for draw, *label_ in rows for label in [tuple(label_)] if draw < SHARE)
    expected = Counter({label: size for label, size in sampled.items() if size >= K})
    assert Counter(built_samples.query(RELEASED)) == expected
    assert expected != sampled


def test_it_has_labels_and_nothing_else(built_samples: Project) -> None:
    found = built_samples.query(
        "select column_name from duckdb_columns() where database_name = 'release_shielded'"
    )
    assert {name for (name,) in found} == {
        "birth_date",
        "birth_date_lower",
        "birth_date_upper",
        "gender",
        "churned",
        "cqi",
    }


@pytest.mark.sampled_tests(group="builds")
def test_the_same_release_is_paid_once_and_another_draws_anew(
    built_samples: Project, tmp_path: Path
) -> None:
    project = built_samples.copy(tmp_path / "project")
    assert project.query(BUDGET) == [(1.0, 0.05, "customers")]
    project.build("-s", "shielded_anonymized")
    assert len(project.query(BUDGET)) == 1
    before = project.query(RELEASED)
    # Somebody leaves: she is the one row by which two releases of the same draws would differ.
    project.execute(
        "delete from vault.customers"
        " where customer_id = (select max(customer_id) from vault.customers)"
    )
    outcome = project.dbt(*AGAIN)
    assert not outcome.succeeded
    assert "was of other records, draws or labels" in outcome.messages
    assert "write `draw: 2` under differential_privacy" in outcome.messages
    assert project.query(RELEASED) == before
    assert len(project.query(BUDGET)) == 1
    write(project, drawn(2))
    outcome = project.dbt(*AGAIN)
    assert not outcome.succeeded
    assert "together may cost epsilon 1.0 and delta 0.05; 1 paid for have cost" in outcome.messages
    write(project, drawn(2, total_epsilon=2, total_delta=0.1))
    assert project.dbt(*AGAIN).succeeded
    assert project.query(BUDGET) == [(1.0, 0.05, "customers")] * 2
    # Two samples say nothing of each other: of 399 people about 213 draw alike.
    ((people, alike),) = project.query(
        f"select count(*), count(*) filter ((a.draw < {SHARE}) = (b.draw < {SHARE}))"
        " from vault.main.shielded_sample as a join vault.main.shielded_sample as b"
        " on a.person = b.person and a.mechanism < b.mechanism"
    )
    assert people == 399
    assert abs(alike - people * (SHARE**2 + (1 - SHARE) ** 2)) < 8 * (people / 4) ** 0.5
    write(project, drawn(1, total_epsilon=2, total_delta=0.1))
    outcome = project.dbt(*AGAIN)
    assert not outcome.succeeded
    assert (
        "draw 1 of this differentially private release is paid for and another" in outcome.messages
    )


@pytest.mark.sampled_tests(group="builds")
def test_columns_that_only_say_nothing_cost_nothing(built_samples: Project, tmp_path: Path) -> None:
    project = built_samples.copy(tmp_path / "project")
    before = project.query(RELEASED.replace("gender, ", ""))
    # Without the other effort, gender is `*` in all, so that the same release has no column of it.
    write(project, changed(efforts=SPEC["efforts"][:1]))
    project.build("-s", "+shielded_anonymized", "--exclude", "resource_type:unit_test")
    with pytest.raises(duckdb.BinderException, match="gender"):
        project.query(RELEASED)
    assert project.query(RELEASED.replace("gender, ", "")) == before
    assert len(project.query(BUDGET)) == 1


def test_a_release_is_of_the_draws_that_it_pays_for(built_samples: Project, tmp_path: Path) -> None:
    project = built_samples.copy(tmp_path / "project")
    project.execute("update vault.main.shielded_sample set draw = 1 - draw")
    outcome = project.dbt("run", "-s", "shielded_anonymized")
    assert not outcome.succeeded
    assert "records were drawn for another one. Tables are of an earlier build" in outcome.messages


@pytest.mark.slow
def test_draws_of_an_earlier_version_serve_no_release(
    built_samples: Project, tmp_path: Path
) -> None:
    project = built_samples.copy(tmp_path / "project")
    for table in ("shielded_sample", "dbt_anonymize_budget"):
        project.execute(f"alter table vault.main.{table} drop column mechanism")
    write(project, drawn(1, total_epsilon=2, total_delta=0.1))
    assert project.dbt(*AGAIN).succeeded
    assert project.query(BUDGET) == [(1.0, 0.05, "customers")] * 2
    drawn_by = (
        "select mechanism is null, count(*) from vault.main.shielded_sample group by 1 order by 1"
    )
    assert project.query(drawn_by) == [(False, 400), (True, 400)]


@pytest.mark.slow
def test_a_computed_hierarchy_is_refused(built_samples: Project, tmp_path: Path) -> None:
    project = built_samples.copy(tmp_path / "project")
    (project.folder / "seeds" / f"{SEED}.csv").unlink()
    (project.folder / "models" / f"{SEED}.sql").write_text(
        "select distinct churned as value, '*' as level_1 from {{ ref('customers') }}",
        encoding="utf-8",
    )
    outcome = project.dbt("run", "-s", SEED, "shielded_microdata")
    assert not outcome.succeeded
    assert "the hierarchy of churned must be a seed under differential privacy" in outcome.messages
