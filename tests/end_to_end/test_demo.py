"""The demonstrations that release records, built by the command of the README."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

from dbt_anonymize.spec.loading import load_spec
from tests.conftest import Demonstration
from tests.projects import Project

NAMES = ("fertility_clinic", "wdbc", "wdbc_nested")
# Model and measure of QF.
DECIDING = {
    "wdbc": ("random_forest", "accuracy"),
    "wdbc_nested": ("random_forest", "accuracy"),
    "fertility_clinic": ("bagging", "precision"),
}
RESULT_COLUMNS = {
    "effort",
    "k",
    "qf_mean",
    "qf_sd",
    "qf_low",
    "qf_high",
    "qf_difference",
    "qnf",
    "alpha",
    "q",
    "qualifies",
    "is_chosen",
}


def rows(project: Project, sql: str) -> list[dict[str, object]]:
    with project.connection() as connection:
        result = connection.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def chosen(project: Project, name: str) -> dict[str, object]:
    (row,) = rows(project, f"select * from {name}_results where is_chosen")
    return row


def test_dbt_has_nothing_to_warn_of(demonstration: Demonstration) -> None:
    assert "WARN=0 ERROR=0" in demonstration.printed
    assert "[WARNING]" not in demonstration.printed
    # Neither columns that are keys, nor identifiers that repeat.
    assert "WARNING: " not in demonstration.printed


@pytest.mark.parametrize("name", NAMES)
def test_a_build_names_the_next_command(demonstration: Demonstration, name: str) -> None:
    assert f"{name}: released. Next: `dbt-anonymize results {name}`" in demonstration.printed
    printed = " ".join(demonstration.printed.split())
    assert f"next: `dbt-anonymize verify {name}` checks what is promised" in printed


@pytest.mark.parametrize("name", NAMES)
def test_results_have_one_row_per_effort_and_the_public_columns(demo: Project, name: str) -> None:
    results = rows(demo, f"select * from {name}_results")
    assert [row["effort"] for row in results] == list(range(7))
    assert results[0].keys() >= RESULT_COLUMNS


@pytest.mark.parametrize("name", NAMES)
def test_q_is_recomputed_from_the_scores(demo: Project, name: str) -> None:
    scores: dict[int, list[float]] = {}
    for row in rows(
        demo,
        f"select * from {name}_scores where test_on = 'original' and class is null "
        f"and (model, measure) = {DECIDING[name]} order by repetition",
    ):
        scores.setdefault(int(str(row["effort"])), []).append(float(str(row["value"])))
    for row in rows(demo, f"select * from {name}_results"):
        values = scores[int(str(row["effort"]))]
        mean = math.fsum(values) / len(values)
        k = int(str(row["k"]))
        qnf = k if name == "wdbc" else 1 - 1 / k
        assert row["qf_mean"] == pytest.approx(mean, abs=1e-12)
        assert row["qf_difference"] == pytest.approx(
            mean - math.fsum(scores[0]) / len(values), abs=1e-12
        )
        assert row["qnf"] == pytest.approx(qnf, abs=1e-12)
        assert row["q"] == pytest.approx(mean + float(str(row["alpha"])) * qnf, abs=1e-12)
        assert row["qf_low"] < row["qf_mean"] < row["qf_high"]


@pytest.mark.parametrize("name", NAMES)
def test_the_chosen_effort_has_the_highest_q_of_those_that_qualify(
    demo: Project, name: str
) -> None:
    qualifying = rows(demo, f"select * from {name}_results where qualifies")
    best = max(qualifying, key=lambda row: float(str(row["q"])))
    assert chosen(demo, name) == best
    assert best["effort"] != 0


def holds_alpha(best: dict[str, object]) -> str:
    """Return the condition of the range of alpha that holds that of the chosen effort."""
    return f"alpha_from <= {best['alpha']} and ({best['alpha']} < alpha_to or alpha_to is null)"


@pytest.mark.parametrize("name", NAMES)
def test_the_range_that_contains_alpha_names_the_chosen_effort(demo: Project, name: str) -> None:
    best = chosen(demo, name)
    sql = f"select effort from {name}_results where alpha_from is not null and {holds_alpha(best)}"
    (row,) = rows(demo, sql)
    assert row["effort"] == best["effort"]


@pytest.mark.needs("details")
@pytest.mark.parametrize("name", NAMES)
def test_the_untouched_table_has_a_range_of_alpha_too(demo: Project, name: str) -> None:
    """In it no effort is worth what it costs."""
    best = chosen(demo, name)
    (row,) = rows(demo, f"select effort from {name}_alpha_ranges where {holds_alpha(best)}")
    assert row["effort"] in (0, best["effort"])


@pytest.mark.parametrize("name", NAMES)
def test_every_cqi_is_shared_by_at_least_k_in_release_and_vault(demo: Project, name: str) -> None:
    k = chosen(demo, name)["k"]
    release, vault = (
        dict(demo.query(f"select cqi, count(*) from {relation} where cqi is not null group by cqi"))
        for relation in (f"release_{name}.{name}_anonymized", f"vault.main.{name}_identifiers")
    )
    assert release == vault
    assert min(release.values()) == k


@pytest.mark.parametrize("name", NAMES)
def test_records_whose_class_gives_the_target_away_are_counted(
    demo: Project, demonstration: Demonstration, name: str
) -> None:
    """From the released rows, by the labels that a reader sees."""
    spec = load_spec(demo.folder / "anonymizations" / f"{name}.yml")
    place = {column: at for at, column in enumerate(spec.released_columns)}
    classes: dict[tuple[object, ...], Counter[object]] = {}
    for row in demo.release(name):
        labels = tuple(row[place[column]] for column in spec.quasi_identifiers)
        classes.setdefault(labels, Counter())[row[place[spec.predicted]]] += 1
    alike = sum(found.total() for found in classes.values() if len(found) == 1)
    is_told = spec.predicted in spec.sensitive
    said = f"{alike} released records are in classes of which all have the same {spec.predicted}"
    printed = " ".join(demonstration.printed.split())
    of_one = printed[printed.index(f"{name}: {spec.description[:20]}") :]
    assert (said in of_one) == (is_told and alike > 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_released_rows_carries_nothing(demo: Project, name: str) -> None:
    released = demo.release(name)
    assert len(released) > 0
    assert released == sorted(released)


@pytest.mark.parametrize("name", NAMES)
def test_the_warehouse_shows_the_rows_that_were_published(demo: Project, name: str) -> None:
    shown = demo.query(f"select * from main_release.{name}_anonymized")
    assert shown == demo.release(name)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_complete_and_paired(demo: Project, name: str) -> None:
    counts = rows(
        demo,
        "select effort, test_on, count(*) as n, count(distinct repetition) as repetitions,"
        f" count(value) as scored from {name}_scores where class is null"
        f" and (model, measure) = {DECIDING[name]} group by all",
    )
    quality = load_spec(demo.folder / "anonymizations" / f"{name}.yml").quality
    assert quality is not None
    repetitions = quality.repetitions
    assert len(counts) == 7 * 2
    assert {(r["n"], r["repetitions"], r["scored"]) for r in counts} == {(repetitions,) * 3}
    differing = demo.query(
        f"select count(*) from {name}_scores a join {name}_scores b using"
        " (effort, model, measure, class, repetition)"
        " where effort = 0 and a.test_on < b.test_on and a.value <> b.value"
    )
    assert differing == [(0,)], "effort 0 is its own generalization"


@pytest.mark.parametrize("name", NAMES)
def test_the_untouched_source_loses_nothing_at_all(demo: Project, name: str) -> None:
    """Sums of logarithms and shares would leave 1e-16 of it."""
    with demo.connection() as connection:
        found = connection.execute(f"select * from {name}_information_loss where effort = 0")
        columns = [column[0] for column in found.description or []]
        ((*values,),) = found.fetchall()
    nothing = {"loss": 0, "granularity": 1, "precision": 1, "entropy": 0, "divergence": 0}
    measured = {
        column: (value, nothing[column.rpartition("_")[2]])
        for column, value in zip(columns, values, strict=True)
        if column.rpartition("_")[2] in nothing
    }
    assert len(measured) > len(nothing)
    assert {column: value for column, (value, _) in measured.items()} == {
        column: expected for column, (_, expected) in measured.items()
    }


def test_wdbc_is_the_data_that_scikit_learn_ships(demo: Project) -> None:
    data = load_breast_cancer()
    columns = list(data.feature_names)
    expected = Counter(
        (
            float(row[columns.index("mean radius")]),
            float(row[columns.index("mean symmetry")]),
            str(label),
        )
        for row, label in zip(data.data, data.target_names[data.target], strict=True)
    )
    assert (
        Counter(demo.query("select mean_radius, mean_symmetry, diagnosis from wdbc_source"))
        == expected
    )


def test_wdbc_has_the_k_of_its_widths(demo: Project) -> None:
    radius = load_breast_cancer().data[:, 0]
    expected = {
        effort: min(Counter(radius // width).values())
        for effort, width in enumerate((1, 3, 5, 7, 9, 11), start=1)
    }
    found = dict(demo.query("select effort, k from wdbc_privacy where effort > 0"))
    assert found == expected


def test_k_rises_with_every_effort_of_wdbc_nested(demo: Project) -> None:
    ks = [k for (k,) in demo.query("select k from wdbc_nested_privacy order by effort")]
    assert ks == sorted(set(ks))
    assert all(r["qualifies"] for r in rows(demo, "from wdbc_nested_results where effort > 0"))


def test_a_wider_interval_costs_accuracy(demo: Project) -> None:
    """Scored on the originals, the untouched table learns best and width 11 learns worst."""
    means = dict(demo.query("select effort, qf_mean from wdbc_results"))
    assert means[0] == pytest.approx(0.88, abs=0.02)
    assert min(means, key=lambda effort: means[effort]) == 6


def test_the_vault_holds_every_patient_once_and_null_for_the_suppressed(demo: Project) -> None:
    (row,) = rows(
        demo,
        "select count(*) as n, count(distinct visit_id) as people, count(*) - count(cqi) as without"
        " from vault.main.fertility_clinic_identifiers",
    )
    assert row["n"] == row["people"] == 2400
    effort = chosen(demo, "fertility_clinic")["effort"]
    suppressed = demo.query(
        f"select suppressed_records from fertility_clinic_privacy where effort = {effort}"
    )
    assert suppressed == [(row["without"],)]


def test_the_history_names_every_anonymization_of_the_run(demo: Project) -> None:
    history = demo.query(
        "select name, count(*), count(distinct run_id) from anonymization_results"
        " group by name order by name"
    )
    assert history == [(name, 7, 1) for name in NAMES]


def test_negative_zero_is_released_as_zero(demo: Project, tmp_path: Path) -> None:
    """They are equal and so one class, which would look like two."""
    project = demo.copy(tmp_path / "project")
    project.execute("update wdbc_source set mean_radius = -0.0 where record_id < 3")
    assert project.dbt("run", "-s", "wdbc_microdata").succeeded
    shown = project.query(
        "select distinct cast(mean_radius as varchar) from wdbc_microdata where mean_radius = 0"
    )
    assert shown == [("0.0",)]


@pytest.mark.parametrize("value", ["nan", "infinity", "-infinity", "-0.001", "36.0"])
def test_a_number_outside_the_hierarchy_stops_the_build(
    demo: Project, tmp_path: Path, value: str
) -> None:
    project = demo.copy(tmp_path / "project")
    project.execute(f"update wdbc_source set mean_radius = '{value}' where record_id = 7")
    outcome = project.dbt("run", "-s", "wdbc_microdata+")
    assert "hierarchy of mean_radius does not cover the column: 1 of 569" in outcome.messages
    assert not outcome.succeeded
    assert project.release("wdbc") == demo.release("wdbc")
