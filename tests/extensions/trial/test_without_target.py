"""An anonymization without a target, from `try --purpose statistics` to a report."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.spec import load_spec
from dbt_anonymize.spec.tested import NO_MODEL
from tests.cli.conftest import run
from tests.extensions.trial.shown import figures, names_of
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.dbt

# People of whom nothing is to be predicted.
PEOPLE = """
select
    i as id,
    'Person ' || i as full_name,
    18 + i * i % 61 as age,
    substr('ABCDEFGH', 1 + i * 7 % 13 % 8, 1) || 'town' as city
from range(1200) as t(i)
"""
BUILT = ("--select", "path:models/surveyed", "surveyed_hierarchy_*")


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Take the balanced alternative of people without a target, let Q choose, and build."""
    project = copy_consumer(tmp_path_factory.mktemp("statistics") / "project")
    (project.folder / "models" / "surveyed.sql").write_text(PEOPLE)
    project.build("--select", "surveyed")
    return project


@pytest.fixture(scope="module")
def shown(surveyed: Project) -> str:
    done = run(*_try(surveyed))
    assert done.exit_code == 0, done.output
    assert not (surveyed.folder / "anonymizations" / "surveyed.yml").exists()
    return done.stdout


@pytest.fixture(scope="module")
def built(surveyed: Project, shown: str) -> Project:
    done = run(*_try(surveyed), "--take", "balanced")
    assert done.exit_code == 0, done.output
    # What the choice does not need is not in a draft.
    surveyed.edit("anonymizations/surveyed.yml", lambda text: f"{text}\ndetails: all\n")
    assert run("generate", "surveyed", "--project-dir", surveyed.folder).exit_code == 0
    outcome = surveyed.build(*BUILT)
    assert "zero rule" not in outcome.messages
    return surveyed


def _try(project: Project) -> tuple[str | Path, ...]:
    words = ("--purpose", "statistics", "--project-dir", project.folder)
    return ("try", "surveyed", *words)


def _detail(project: Project) -> dict[int, float]:
    """Compute 1 - loss of each effort from records and hierarchies: of labels the share they cover.

    The leaves of each of these hierarchies are equally wide.
    """
    found = {}
    spec = load_spec(project.folder / "anonymizations" / "surveyed.yml")
    for number, effort in spec.numbered_efforts.items():
        product = 1.0
        for name, level in (effort.levels or {}).items():
            path = project.folder / "seeds" / f"surveyed_hierarchy_{name}.csv"
            with path.open(encoding="utf-8") as file:
                leaves = list(csv.DictReader(file))
            # What the raw values cost is no loss: of a number nothing, of a category a leaf.
            least = 0.0 if spec.quasi_identifiers[name].kind == "interval" else 1 / len(leaves)
            covered = Counter(leaf[f"level_{level}"] for leaf in leaves) if level else Counter()
            records = project.query(
                f"select cast({name} as text), is_suppressed from surveyed_effort_{number}"
            )
            shares = [
                1.0 if gone else covered[label] / len(leaves) if level else least
                for label, gone in records
            ]
            product *= 1 + (sum(shares) / len(shares) - least) / (1 - least)
        found[number] = 2 - product ** (1 / len(spec.quasi_identifiers))
    return found


def test_try_ranks_alternatives_by_what_they_lose(shown: str) -> None:
    assert "Predicts nothing; 1,200 records." in shown
    assert NO_MODEL in " ".join(shown.split())
    assert "try surveyed --purpose statistics --take" in " ".join(shown.split())
    assert names_of(shown) == ["more-use", "balanced", "more-privacy"]
    kept = [kept for (kept,) in figures(shown, "1 - loss")]
    assert kept == sorted(kept, reverse=True)
    assert len(set(kept)) > 1


def test_what_models_would_need_is_refused(surveyed: Project) -> None:
    for words in (("--predict", "age"), ("--evaluations", "9")):
        done = run(*_try(surveyed), *words)
        assert done.exit_code == 2
        assert "--purpose statistics trains no model" in " ".join(done.stderr.split())


def test_the_build_finds_what_was_shown(built: Project, shown: str) -> None:
    rows = figures(shown, "k", "left out", "1 - loss")
    found = built.query(
        "select k, suppressed_records, qf_mean from surveyed_results where effort > 0 "
        "order by effort"
    )
    assert rows == [(k, gone, round(qf, 3)) for k, gone, qf in found]
    ((reason,),) = built.query("select reason from surveyed_results where is_chosen")
    assert re.fullmatch(rf"chosen: release.effort is \d; {NO_MODEL}", reason)
    models = {path.stem for path in (built.folder / "models" / "surveyed").glob("*")}
    assert not models & {"surveyed_evaluation", "surveyed_scores", "surveyed_quality"}


@pytest.mark.sampled_tests(2)
def test_the_effort_that_loses_the_least_is_chosen(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    path = "anonymizations/surveyed.yml"
    project.edit(path, lambda text: re.sub(r"release:\n  effort: \d\n", "", text))
    # The last effort loses the least, but its classes are too small: it must not be chosen.
    last = "  - {levels: {age: 0, city: 1}, k: 400}\n"
    project.edit(path, lambda text: text.replace("\n# Every", f"{last}\n# Every"))
    assert run("generate", "surveyed", "--project-dir", project.folder).exit_code == 0
    project.build(*BUILT)
    detail = _detail(project)
    rows = project.query(
        "select effort, qf_mean, q, qualifies, is_chosen, reason, repetitions, zero_rule, qf_low, "
        "choice_share, target, measure, alpha from surveyed_results order by effort"
    )
    for effort, qf, q, *_, reason, repetitions, zero, low, share, target, measure, alpha in rows:
        assert math.isclose(qf, detail[effort], abs_tol=1e-9), effort
        assert (q, measure, alpha) == (qf, "loss", 0.0)
        assert (repetitions, zero, low, share, target) == (None,) * 5
        assert reason.endswith(f"; {NO_MODEL}")
    able = {effort: qf for effort, qf, _, qualifies, *_ in rows if qualifies}
    assert set(able) == {row[0] for row in rows[1:-1]}
    (chosen,) = [row[0] for row in rows if row[4]]
    assert chosen == max(able, key=lambda effort: detail[effort])
    assert max(detail, key=lambda effort: detail[effort]) not in able
    assert project.query("select count(*) from surveyed_alpha_ranges")[0][0]


@pytest.mark.sampled_tests(2)
def test_commands_know_that_no_model_tested_it(built: Project, tmp_path: Path) -> None:
    place = ("surveyed", "--project-dir", built.folder)
    for command, options in {
        "verify": (),
        "results": (),
        "dossier": (),
        "report": ("--format", "md"),
    }.items():
        done = run(command, *place, *options)
        assert done.exit_code == 0, done.output
        if command == "verify":
            continue
        text = " ".join(done.stdout.split())
        assert NO_MODEL in text, command
    done = run("evaluate", *place)
    assert done.exit_code == 2
    assert "(none: no model tests it)" in " ".join(done.stderr.split())
    page = tmp_path / "report.html"
    done = run("report", *place, "--output", page)
    assert done.exit_code == 0, done.output
    assert NO_MODEL in page.read_text(encoding="utf-8")
    attacks = built.query(
        "select explanation from surveyed_attacks where attack = 'membership_inference'"
    )
    assert attacks == [("membership was not attacked: no model learns from the release",)]


@pytest.mark.sampled_tests(2)
def test_the_release_says_it(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    project.edit(
        "anonymizations/surveyed.yml",
        lambda text: text.replace("release:\n", "release:\n  about: {}\n"),
    )
    assert run("generate", "surveyed", "--project-dir", project.folder).exit_code == 0
    project.build(*BUILT)
    with duckdb.connect(str(project.release_file("surveyed")), read_only=True) as release:
        facts = dict(release.execute("select fact, value from surveyed_about").fetchall())
        comments = release.execute("select comment from duckdb_tables()").fetchall()
    assert facts["tested"] == f"{NO_MODEL}; QF is 1 - loss"
    assert "predicts" not in facts
    assert "QF, zero rule" not in facts
    ((qf,),) = project.query("select qf_mean from surveyed_results where is_chosen")
    assert facts["QF"] == f"{qf:.3f}"
    assert comments
    done = run("verify", "surveyed", "--project-dir", project.folder)
    assert done.exit_code == 0, done.output


@pytest.mark.sampled_tests(2)
def test_a_search_finds_what_loses_the_least(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    place = ("search", "surveyed", "--dry-run", "--project-dir", project.folder)
    done = run(*place)
    assert done.exit_code == 0, done.output
    assert "loses the least (loss" in " ".join(done.stdout.split())
    assert "earlier versions searched" not in done.stdout
    for measure in ("quality", "guided", "classification_metric"):
        done = run(*place, "--measure", measure)
        assert done.exit_code == 2, measure
        assert "must need no target where none is declared" in " ".join(done.stderr.split())


@pytest.mark.sampled_tests(group="builds")
@pytest.mark.needs("second_month")
def test_it_is_frozen_renamed_and_forgets_people(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    place = ("--project-dir", project.folder)
    project.edit("models/surveyed.sql", lambda text: f"{text} where i <> 7")
    project.build("--select", "surveyed")
    for words in (
        ("erase", "surveyed", "--subject", "7", "--yes"),
        ("freeze", "surveyed"),
        ("generate", "surveyed"),
    ):
        done = run(*words, *place)
        assert done.exit_code == 0, done.output
    project.build(*BUILT, "surveyed_frozen_labels")
    assert project.query("select reason from surveyed_results where is_chosen") == [
        ("chosen: frozen, and keeps its guarantees",)
    ]
    assert project.query("select count(*) from vault.surveyed_identifiers where id = 7") == [(0,)]
    done = run("rename", "surveyed", "counted", "--yes", *place)
    assert done.exit_code == 0, done.output
    assert not load_spec(project.folder / "anonymizations" / "counted.yml").is_tested
