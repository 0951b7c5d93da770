"""The command: what it prints and how it exits; 0 fine, 1 a failed check, 2 bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import load_spec
from tests.spec.declarations import SPEC, spec, write_project

ANONYMIZED = """{{ config(meta={"dbt_anonymize": {"path": "release/dev/visits.duckdb"}}) }}
select 1 as nothing"""
RESULTS = """
select * from (values
    (0, 1, 0, 0.91, 0.90, 0.92, 0.703, true, 0.0, 0.91, false, false, null, null, null, null,
        null, 'no'),
    (1, 1072, 1234567, 0.85, 0.83, 0.87, 0.703, true, 1072.0, 10.925, true, true, 0.31, 3, 0.003,
        -0.0245, 0.0305, 'chosen: highest Q'),
    (2, null, 99, null, null, null, null, null, null, null, false, false, null, null, null, null,
        null, 'no'),
    (3, 9, 99, 0.98, 0.93, 1.0, 0.703, true, 9.0, 10.922, true, false, 0.69, null, null, null,
        null, 'no'),
    (4, 9, 99, 0.02, 0.0, 0.07, 0.703, true, 9.0, 10.9, true, false, 0.0, null, null, null,
        null, 'no')
) as t (effort, k, suppressed_records, qf_mean, qf_low, qf_high, zero_rule,
    beats_zero_rule, qnf, q, qualifies, is_chosen, choice_share, runner_up,
    q_difference_to_runner_up, q_difference_to_runner_up_low, q_difference_to_runner_up_high,
    reason)
"""


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """Give a project whose warehouse holds a source and the results of `visits`."""
    folder = write_project(tmp_path / "project", SPEC)
    models = folder / "models"
    models.mkdir()
    (models / "visits_results.sql").write_text(RESULTS)
    (models / "visits_anonymized.sql").write_text(ANONYMIZED)
    (models / "visits_source.sql").write_text("select 1 as visit_id, 'x' as \"full {{ name }}\"")
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        fingerprint = load_spec(folder / "anonymizations" / "visits.yml").fingerprint
        results = f"select *, '{fingerprint}' as fingerprint from ({RESULTS})"
        connection.execute(f"create table visits_results as {results}")
        connection.execute(
            """create table visits_source as select 1 as visit_id, 'x' as "no: 'x'" """
        )
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    yield folder
    DuckDBConnectionManager.close_all_connections()


def test_generate_writes_and_then_has_nothing_to_do(tmp_path: Path) -> None:
    project = write_project(tmp_path, SPEC)
    first = run("generate", "--project-dir", project)
    assert first.exit_code == 0
    assert "models/visits/visits_results.sql" in first.stdout
    second = run("generate", "visits", "--project-dir", project)
    assert second.exit_code == 0
    assert second.stdout == (
        "Nothing to change.\n"
        "visits: 3 efforts x 2 models (with the zero rule) x 10 splits = 60 models to train; "
        "sources of more than 100,000 records are sampled\n"
    )


def test_without_efforts_no_model_is_trained(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(efforts=[]))
    assert "models to train" not in run("generate", "--project-dir", project).stdout


def test_a_failed_check_exits_with_1_and_shows_the_difference(tmp_path: Path) -> None:
    project = write_project(tmp_path, SPEC)
    run("generate", "--project-dir", project)
    assert run("generate", "--check", "--project-dir", project).exit_code == 0
    path = project / "models" / "visits" / "visits_results.sql"
    path.write_text(path.read_text().replace("alpha=0.1", "alpha=9.9"))
    result = run("generate", "--check", "--project-dir", project)
    assert result.exit_code == 1
    assert "-    alpha=9.9," in result.stdout
    assert "visits_results.sql: must be what its spec says; it is different." in result.stderr
    assert "alpha=9.9" in path.read_text()


def test_bad_input_exits_with_2_and_one_line_per_error(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(alpha=-1, target="nobody"))
    for arguments in (("generate",), ("generate", "--check"), ("results",)):
        result = run(*arguments, "--project-dir", project)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 2
        assert "visits.yml: alpha: must be auto or a finite number >= 0; got -1" in result.stderr


def test_an_unknown_name_exits_with_2(tmp_path: Path) -> None:
    result = run("generate", "visit", "--project-dir", write_project(tmp_path, SPEC))
    assert result.exit_code == 2
    assert "anonymizations/visit.yml: must exist. Did you mean visits?" in result.stderr


def test_a_folder_without_project_exits_with_2(tmp_path: Path) -> None:
    for arguments in (("generate",), ("results",), ("init", "x", "--ref", "y")):
        result = run(*arguments, "--project-dir", tmp_path)
        assert result.exit_code == 2
        assert "there is no dbt_project.yml" in result.stderr


def test_results_show_every_effort_and_the_release(project: Path) -> None:
    (project / "release" / "dev").mkdir(parents=True)
    (project / "release" / "dev" / "visits.duckdb").touch()
    result = run("results", "--project-dir", project)
    assert result.exit_code == 0, result.output
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "effort k suppressed QF (accuracy) QNF Q qualifies chosen" in rows
    assert "0 1 0 0.910 ± 0.010 0.000 0.910 no" in rows
    assert "1 1072 1234567 0.850 ± 0.020 1072.000 10.925 yes chosen" in rows
    assert "2 - 99 - - - no" in rows
    assert "3 9 99 0.980 (≥ 0.930) 9.000 10.922 yes" in rows
    assert "4 9 99 0.020 (≤ 0.070) 9.000 10.900 yes" in rows
    assert "always guessing the most frequent class: 0.703" in rows
    assert "effort 1 is chosen: highest Q" in rows
    assert "released: release/dev/visits.duckdb" in rows
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_results_say_how_sure_the_choice_is(project: Path) -> None:
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    assert (
        "it is 0.003 ahead of effort 3, with an interval from -0.024 to 0.030 that covers zero: "
        "effort 3 may be as good chosen if repetitions are drawn again: effort 3 in 69.0%, effort "
        "1 in 31.0%"
    ) in printed
    assert "no intervals" not in printed
    assert "learn nothing" not in printed
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("update visits_results set q_difference_to_runner_up_low = 0.001")
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    assert "0.001 to 0.030 chosen if" in printed


def test_results_of_few_splits_show_no_interval_and_say_why_once(project: Path) -> None:
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute(
            "update visits_results set qf_low = null, qf_high = null, beats_zero_rule = false,"
            " q_difference_to_runner_up_low = null, choice_share = null"
        )
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    assert "±" not in printed
    assert printed.count("no intervals: too few splits to tell how much they vary") == 1
    assert "ahead of" not in printed
    assert "drawn again" not in printed
    assert "the untouched table, is not surely above that: the model may learn nothing" in printed


def test_results_say_that_nothing_is_released(project: Path) -> None:
    assert "released: nothing" in run("results", "visits", "--project-dir", project).stdout


def test_results_of_another_version_of_the_spec_say_so(project: Path) -> None:
    """A build knows the generated models only, and passes."""
    says = "visits.yml has changed since: run `dbt-anonymize generate`"
    assert says not in " ".join(run("results", "--project-dir", project).stdout.split())
    file = project / "anonymizations" / "visits.yml"
    before = file.read_text()
    file.write_text(before.replace("k: 3", "k: 4"))
    assert file.read_text() != before
    assert says in " ".join(run("results", "--project-dir", project).stdout.split())


def test_results_without_a_choice_do_not_claim_the_release_of_an_earlier_build(
    project: Path,
) -> None:
    (project / "release" / "dev").mkdir(parents=True)
    (project / "release" / "dev" / "visits.duckdb").touch()
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("update visits_results set is_chosen = false")
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    assert "nothing of these results; release/dev/visits.duckdb is of an earlier build" in printed


def test_results_of_a_project_without_specs_exit_with_2(tmp_path: Path) -> None:
    project = write_project(tmp_path, SPEC)
    (project / "anonymizations" / "visits.yml").unlink()
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "must hold at least one anonymization" in result.stderr


def test_results_before_a_build_exit_with_2(project: Path) -> None:
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("drop table visits_results")
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "visits_results: must exist in the warehouse" in result.stderr
    assert "Run `dbt build` first." in result.stderr


def test_a_warehouse_that_another_process_holds_is_explained(project: Path) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    arguments = [sys.executable, "-c", code, str(project / "warehouse.duckdb")]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        result = run("results", "--project-dir", project)
        other.communicate("\n")
    assert result.exit_code == 2
    assert "must not be open in another process" in result.stderr


def test_a_project_that_dbt_can_not_parse_exits_with_2(project: Path) -> None:
    (project / "models" / "broken.sql").write_text("select {{ ")
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "must be a project that dbt can parse" in result.stderr


def test_init_writes_a_draft_that_decides_nothing(project: Path) -> None:
    result = run("init", "clinic", "--ref", "visits_source", "--project-dir", project)
    assert result.exit_code == 0, result.output
    path = project / "anonymizations" / "clinic.yml"
    with pytest.raises(SpecError) as error:
        load_spec(path)
    lines = str(error.value).splitlines()
    assert all("TODO" in line for line in lines)
    assert any("columns.\"no: 'x'\".role: must be" in line for line in lines)
    assert any("columns.visit_id.role: must be" in line for line in lines)
    again = run("init", "clinic", "--ref", "visits_source", "--project-dir", project)
    assert again.exit_code == 2
    assert "anonymizations/clinic.yml: must not exist yet" in again.stderr


def test_init_needs_one_existing_relation(project: Path) -> None:
    wrong: list[tuple[tuple[str, ...], str]] = [
        ((), "must be given exactly one relation"),
        (("--ref", "a", "--source", "b.c"), "must be given exactly one relation"),
        (("--source", "b"), "must be given exactly one relation"),
        (("--ref", "visits_sorce"), "Did you mean visits_source?"),
        (("--source", "b.c"), "b.c: must be a source of the project"),
    ]
    for arguments, message in wrong:
        result = run("init", "clinic", *arguments, "--project-dir", project)
        assert result.exit_code == 2
        assert message in result.stderr
    result = run("init", "No Name", "--ref", "visits_source", "--project-dir", project)
    assert result.exit_code == 2
    assert "must start with a-z" in result.stderr


def test_version_is_shown() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("dbt-anonymize 0.")


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("generate", "results", "init", "hierarchy"):
        assert command in result.stdout


def test_help_imports_neither_dbt_nor_learning() -> None:
    code = (
        "import sys; from dbt_anonymize.cli import app; "
        "slow = {'dbt', 'sklearn', 'pandas', 'numpy', 'duckdb', 'pydantic'} & set(sys.modules); "
        "sys.exit(', '.join(sorted(slow)) or None)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert finished.returncode == 0, finished.stderr


def test_every_command_takes_what_dbt_takes() -> None:
    for command in ("generate", "results", "init", "search", "relink", "verify"):
        for option in ("-h", "--help"):
            result = run(command, option)
            assert result.exit_code == 0, result.output
            for known in ("--project-dir", "--profiles-dir", "--quiet"):
                assert known in result.stdout, command
    assert run("-h").exit_code == 0
    assert "--quiet" in run("hierarchy", "check", "-h").stdout


def test_the_module_is_the_command() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "dbt_anonymize", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.startswith("dbt-anonymize 0.")


def test_quiet_says_only_what_is_asked_for_or_wrong(project: Path) -> None:
    assert run("generate", "-q", "--project-dir", project).output == ""
    (project / "models" / "visits" / "visits_results.sql").unlink()
    wrong = run("generate", "--check", "--quiet", "--project-dir", project)
    assert wrong.exit_code == 1
    assert "visits_results.sql: must be what its spec says; it is missing." in wrong.stderr
    # Nothing is left of it for the next command of this process.
    assert "1 file changed.\n" in run("generate", "--project-dir", project).stdout


def test_profiles_may_lie_elsewhere(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / "profiles.yml").rename(elsewhere / "profiles.yml")
    result = run("results", "--project-dir", project, "--profiles-dir", elsewhere)
    assert result.exit_code == 0, result.output
    assert "DBT_PROFILES_DIR" not in os.environ
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "profiles.yml: must be a file that can be read (FileNotFoundError)" in result.stderr


def test_an_unknown_target_is_called_that(project: Path) -> None:
    result = run("results", "--target", "duckbd", "--project-dir", project)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert (
        "duckbd: must be a target of the profile dbt_anonymize, which has duckdb." in result.stderr
    )
    assert "Did you mean duckdb?" in result.stderr


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda text: text.replace("path:", "password: 'hunter2\n      path:"),
            "must be valid YAML",
        ),
        (lambda text: text.replace("path:", "password: *hunter2\n      path:"), "in line "),
        (lambda text: text.replace("threads: 1", "threads: hunter2"), "got ProfileConfigError"),
        (lambda text: text.replace("type: duckdb", "type: hunter2"), "must be one that dbt can"),
        (lambda _: "dbt_anonymize: hunter2", "must have targets under outputs"),
        (lambda _: "dbt_anonymize: {target: x, outputs: hunter2}", "must have targets under"),
        (lambda text: text.replace("dbt_anonymize:", "others:"), "must have the profile dbt_anon"),
    ],
)
def test_a_broken_profile_is_reported_without_its_lines(
    project: Path, change: Callable[[str], str], says: str
) -> None:
    """They hold passwords; dbt prints those around an error."""
    file = project / "profiles.yml"
    before = file.read_text()
    file.write_text(change(before))
    assert file.read_text() != before
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "hunter2" not in result.output
    assert says in result.stderr
    assert str(file) in result.stderr


def test_a_vault_without_a_folder_is_named(project: Path) -> None:
    """Also before the project keeps anything in it."""
    file = project / "profiles.yml"
    file.write_text(file.read_text().replace("path: vault.duckdb", "path: a b/vault.duckdb"))
    for command in (("results",), ("init", "clinic", "--ref", "visits_source")):
        result = run(*command, "--project-dir", project)
        assert result.exit_code == 2
        assert f"there is no {project / 'a b'}." in result.stderr
        assert f"Run `mkdir -m 700 '{project / 'a b'}'`." in result.stderr
    file.write_text(file.read_text().replace("a b/vault.duckdb", "a/b/vault.duckdb"))
    result = run("results", "--project-dir", project)
    assert f"Run `mkdir -p -m 700 {project / 'a' / 'b'}`." in result.stderr


def failed(project: Path, message: str) -> None:
    """Leave what dbt leaves of a build whose last model failed."""
    results = {"visits_results": ("success", None), "visits_anonymized": ("error", message)}
    content = {
        "results": [
            {
                "unique_id": f"model.{project_name(project)}.{name}",
                "status": status,
                "message": text,
            }
            for name, (status, text) in results.items()
        ]
    }
    (project / "target").mkdir(exist_ok=True)
    (project / "target" / "run_results.json").write_text(json.dumps(content))


def project_name(project: Path) -> str:
    return str(yaml.safe_load((project / "dbt_project.yml").read_text())["name"])


def test_results_after_a_failed_build_say_what_failed(project: Path) -> None:
    failed(
        project,
        "Compilation Error in model visits_anonymized\n  anonymization visits is stopped; nothing "
        "is released and the earlier release is unchanged.\n    - no effort qualifies.\n  \n"
        "  > in macro _raise_errors",
    )
    shown = " ".join(run("results", "--project-dir", project).stdout.split())
    assert "the last build failed. model visits_anonymized: no effort qualifies." in shown
    assert "generate" not in shown
    assert "> in macro" not in shown
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("drop table visits_results")
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "model visits_anonymized: no effort qualifies." in result.stderr
    assert "Run `dbt build` first" not in result.stderr


def test_what_a_driver_said_of_a_failure_is_not_repeated(project: Path) -> None:
    failed(project, "Runtime Error in model x\n  Conversion Error: Could not convert 'Sofia'")
    shown = run("results", "--project-dir", project).stdout
    assert "model visits_anonymized: Its message is in the log of dbt." in " ".join(shown.split())
    assert "Sofia" not in shown
