"""A private release in a real build: a sample in classes of at least k, and paid for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dbt_anonymize.privacy.differential_privacy import k_of, largest_beta
from tests.differential_privacy.private import SEED, changed, write
from tests.projects import Project

BUDGET = "select epsilon, delta, source from vault.main.dbt_anonymize_budget"
RELEASED = "select birth_date, gender, churned from release_shielded.shielded_anonymized"
SHARE = largest_beta(1.0)
K = k_of(1.0, 0.05, SHARE)


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


def test_the_same_release_is_paid_once_and_another_stops_the_build(
    built_samples: Project, tmp_path: Path
) -> None:
    project = built_samples.copy(tmp_path / "project")
    assert project.query(BUDGET) == [(1.0, 0.05, "customers")]
    outcome = project.dbt("run", "-s", "shielded_anonymized")
    assert outcome.succeeded, outcome.messages
    assert len(project.query(BUDGET)) == 1
    before = project.query(RELEASED)
    # A second sample: whoever has both releases knows more than one epsilon allows.
    project.execute("update vault.main.shielded_sample set draw = 1 - draw")
    models = ("microdata", "frequencies", "classes", "privacy", "results", "anonymized")
    again = ["run", "-s", *(f"shielded_{model}" for model in models)]
    outcome = project.dbt(*again)
    assert not outcome.succeeded
    assert "together may cost epsilon 1.0 and delta 0.05; 1 paid for have cost" in outcome.messages
    assert project.query(RELEASED) == before
    assert len(project.query(BUDGET)) == 1
    private = {"epsilon": 1, "delta": 0.05, "total_epsilon": 2, "total_delta": 0.1}
    write(project, changed(guarantees={"k_anonymity": {"k": 2}, "differential_privacy": private}))
    outcome = project.dbt(*again)
    assert outcome.succeeded, outcome.messages
    assert project.query(BUDGET) == [(1.0, 0.05, "customers")] * 2


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
