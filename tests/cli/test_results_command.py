"""Output of `dbt-anonymize results`."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import yaml
from dbt_common.exceptions import DbtRuntimeError

from dbt_anonymize.project.register import COLUMNS
from tests.cli.conftest import run
from tests.spec.declarations import SPEC, write_project

pytestmark = pytest.mark.sampled_tests(4)

# The release of what was chosen, as the register has it.
_KNOWN = {
    "release": "1",
    "released_at": "timestamp '2026-01-01 10:00:00'",
    "spec": "fingerprint",
    "records": "9",
    "qf": "qf_mean",
    "content": "'00c0ffee'",
}
_TAKEN = ("effort", "suppressed_records", "k", "qf_low", "qf_high", "qnf", "q")
_REGISTERED = ", ".join(
    f"{_KNOWN.get(name, name if name in _TAKEN else 'null')} as {name}" for name in COLUMNS
)
REGISTERED = f"select {_REGISTERED} from visits_results where is_chosen"


def test_results_show_every_effort_and_the_release(project: Path) -> None:
    (project / "release" / "duckdb").mkdir(parents=True)
    (project / "release" / "duckdb" / "visits.duckdb").touch()
    result = run("results", "--project-dir", project)
    assert result.exit_code == 0, result.output
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "effort k suppressed QF (accuracy) QNF Q qualifies" in rows
    assert "0 1 0 0.910 ± 0.010 0.000 0.910 no" in rows
    assert "1 1072 1234567 0.850 ± 0.020 1072.000 10.925 chosen" in rows
    assert "2 - 99 - - - no" in rows
    assert "3 9 99 0.980 (≥ 0.930) 9.000 10.922 yes" in rows
    assert "4 9 99 0.020 (≤ 0.070) 9.000 10.900 yes" in rows
    # Their hierarchies are not built.
    assert "1 age at level 1 of 3, city as it is" in rows
    assert "2 age at level 2 of 3, city at level 1 of 2" in rows
    assert "3 -" in rows
    assert "zero rule, always guessing the most frequent class: QF 0.703" in rows
    assert "effort 1 is chosen: highest Q" in rows
    assert "released: release/duckdb/visits.duckdb" in rows
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_results_explain_their_columns_unless_quiet(project: Path) -> None:
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    legend = (
        "QF: accuracy on original records of a model that learned from the effort, with its 95% "
        "interval QNF: privacy, 1 - 1/k; Q = QF + 0.0094 * QNF levels: what is left of "
        "values; * is nothing"
    )
    assert legend in printed
    quiet = " ".join(run("results", "-q", "--project-dir", project).stdout.split())
    assert "zero rule" in quiet
    assert "levels: what" not in quiet
    assert "next:" not in quiet


def test_results_name_what_comes_next(project: Path) -> None:
    """Nothing published, published, verified; without a choice; with something wrong."""

    def printed() -> str:
        return " ".join(run("results", "--project-dir", project).stdout.split())

    def next_step() -> str | None:
        return printed().partition("next: ")[2] or None

    assert next_step() == "`dbt build` publishes the release"
    (project / "release" / "duckdb").mkdir(parents=True)
    (project / "release" / "duckdb" / "visits.duckdb").touch()
    assert next_step() == "`dbt-anonymize verify visits` checks what is promised"
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute(f"create table visits_register as {REGISTERED}")
        connection.execute(
            "alter table visits_results add column records bigint default 9;"
            "create table visits_verification as select 'holds' as status, content, spec,"
            " '2026-01-01 10:00:01' as verified_at from visits_register"
        )
    assert next_step() == "`dbt-anonymize report visits` shows it with charts"
    assert "Verified independently of the build: nothing failed." in printed()
    assert "released: release/duckdb/visits.duckdb" in printed()
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute(
            "insert into visits_register select * replace (2 as release, 'other' as content)"
            " from visits_register"
        )
    assert (next_step() or "").startswith("`dbt-anonymize verify visits`")
    assert "the last verification is of another release than the published one." in printed()
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("update visits_register set effort = 3 where release = 2")
    assert (
        "nothing from these results; release/duckdb/visits.duckdb comes from release 2" in printed()
    )
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("update visits_results set is_chosen = false")
    assert (next_step() or "").startswith("no effort may be released: see `reason`")
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("delete from visits_results where effort > 0")
    assert next_step() == "`dbt-anonymize search visits` finds efforts"
    failed(project, "broken")
    assert next_step() is None


def test_programs_read_a_row_per_effort(project: Path) -> None:
    result = run("results", "--format", "json", "--project-dir", project)
    assert result.exit_code == 0
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["effort"] for row in found] == [0, 1, 2, 3, 4]
    first = {"anonymization": "visits", "effort": 1, "k": 1072, "qf_mean": 0.85, "alpha": 0.0094}
    first |= {"is_chosen": True, "reason": "chosen: highest Q", "levels": "1 0", "runner_up": 3}
    assert {name: found[1][name] for name in first} == first
    assert found[2]["qf_mean"] is None
    result = run("results", "--format", "csv", "--project-dir", project)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [{**row} for row in rows] == [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in found
    ]
    file = project / "anonymizations" / "visits.yml"
    file.write_text(file.read_text().replace("k: 3", "k: 4"))
    result = run("results", "--format", "json", "--project-dir", project)
    assert {json.loads(line)["levels"] for line in result.stdout.splitlines()} == {None}
    assert "visits.yml has changed since" in result.stderr


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
    (project / "release" / "duckdb").mkdir(parents=True)
    (project / "release" / "duckdb" / "visits.duckdb").touch()
    with duckdb.connect(str(project / "warehouse.duckdb")) as connection:
        connection.execute("update visits_results set is_chosen = false")
    printed = " ".join(run("results", "--project-dir", project).stdout.split())
    assert (
        "nothing from these results; release/duckdb/visits.duckdb comes from an earlier build"
        in printed
    )


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


def test_an_interrupted_query_ends_the_command(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB makes an error of it, and dbt another one."""

    def interrupted(*_: object) -> None:
        raise DbtRuntimeError("Query interrupted")

    monkeypatch.setattr("dbt_anonymize.project.warehouse.Warehouse.rows", interrupted)
    assert run("results", "--project-dir", project).exit_code == 130


def test_a_terminal_shows_that_the_project_is_read(project: Path) -> None:
    """Rows that a program reads stay alone."""
    outer, inner = os.openpty()
    words = ["results", "--format", "json", "--project-dir", str(project)]
    done = subprocess.run(
        [sys.executable, "-m", "dbt_anonymize", *words],
        check=True,
        stdout=subprocess.PIPE,
        stderr=inner,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(inner)
    assert b"Reading the project ..." in os.read(outer, 100_000)
    assert json.loads(done.stdout.splitlines()[0])["anonymization"] == "visits"


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


def test_a_python_model_that_we_stop_says_why(project: Path) -> None:
    said = "quality.folds must be at most the number of records, 300; got 400."
    lines = [
        "Runtime Error in model visits_evaluation",
        "  Python model failed:",
        "  ValueError: 'Sofia'",
        "",
        "The above exception was the direct cause of the following exception:",
        "",
        "  Traceback (most recent call last):",
        f"  dbt_anonymize.errors.EvaluationError: {said}",
        "",
        "  During handling of that: 'Sofia'",
    ]
    failed(project, "\n".join(lines))
    shown = " ".join(run("results", "--project-dir", project).stdout.split())
    assert f"the last build failed. model visits_anonymized: {said}" in shown
    assert "Sofia" not in shown


def test_a_file_that_dbt_cannot_decode_is_named(project: Path) -> None:
    (project / "seeds").mkdir(exist_ok=True)
    (project / "seeds" / "people.csv").write_bytes("id,name\n1,Müller\n".encode("latin-1"))
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "seeds/people.csv: must be UTF-8" in result.stderr
    assert "iconv" in result.stderr


def test_what_a_driver_said_of_a_failure_is_not_repeated(project: Path) -> None:
    failed(project, "Runtime Error in model x\n  Conversion Error: Could not convert 'Sofia'")
    shown = run("results", "--project-dir", project).stdout
    assert "model visits_anonymized: Its message is in the log of dbt." in " ".join(shown.split())
    assert "Sofia" not in shown
