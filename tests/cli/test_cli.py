"""The command: what it prints and how it exits; 0 fine, 1 a failed check, 2 bad input."""

from __future__ import annotations

import gc
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from dbt_anonymize.cli import app
from dbt_anonymize.cli.main import commands
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extension import extensions
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.extensions import has
from tests.sampling import SEED, number_of
from tests.spec.declarations import SPEC, spec, write_project


def test_generate_writes_and_then_has_nothing_to_do(tmp_path: Path) -> None:
    project = write_project(tmp_path, SPEC)
    first = run("generate", "--project-dir", project)
    assert first.exit_code == 0
    assert "models/visits/visits_results.sql" in first.stdout
    second = run("generate", "visits", "--project-dir", project)
    assert second.exit_code == 0
    assert second.stdout == (
        "Nothing to change.\n"
        "visits: 3 efforts (with the untouched table) x "
        "2 models (with the zero rule) x 10 splits = 60 models to train; "
        "sources of more than 100,000 records are sampled\n"
        "Next: `dbt build`.\n"
    )


def test_without_efforts_no_model_is_trained(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(efforts=[]))
    printed = run("generate", "--project-dir", project).stdout
    assert "models to train" not in printed
    assert printed.endswith(
        "Next: `dbt build -s +visits_frequencies`, then `dbt-anonymize search visits` finds "
        "efforts.\n"
    )


def test_a_failed_check_exits_with_1_and_shows_the_difference(tmp_path: Path) -> None:
    project = write_project(tmp_path, SPEC)
    run("generate", "--project-dir", project)
    assert run("generate", "--check", "--project-dir", project).exit_code == 0
    path = project / "models" / "visits" / "visits_results.sql"
    path.write_text(path.read_text().replace("'alpha': 0.1", "'alpha': 9.9"))
    result = run("generate", "--check", "--project-dir", project)
    assert result.exit_code == 1
    assert "-    'alpha': 9.9," in result.stdout
    assert "visits_results.sql: must be what its spec says; it is different." in result.stderr
    assert "'alpha': 9.9" in path.read_text()


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
    for arguments in (("generate",), ("results",), ("verify", "x")):
        result = run(*arguments, "--project-dir", tmp_path)
        assert result.exit_code == 2
        assert "there is no dbt_project.yml" in result.stderr


def test_a_project_that_dbt_can_not_parse_exits_with_2(project: Path) -> None:
    (project / "models" / "broken.sql").write_text("select {{ ")
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    assert "must be a project that dbt can parse" in result.stderr
    assert result.output.count("unexpected") == 1, result.output  # dbt does not say it again


def test_an_interrupt_while_dbt_parses_ends_the_command(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dbt.parser.manifest.ManifestLoader.load", interrupted)
    result = run("results", "--project-dir", project)
    assert result.exit_code == 130
    assert "Traceback" not in "".join(capfd.readouterr())
    assert "can parse" not in result.output


@pytest.mark.needs("dossier", "report")
@pytest.mark.parametrize("command", ["report", "dossier"])
def test_a_file_that_cannot_be_written_is_named(
    command: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        f"dbt_anonymize.extensions.{command}.rendering.as_markdown", lambda *_: "found"
    )
    monkeypatch.setattr("dbt_anonymize.extensions.report.reading.read_findings", lambda *_: None)
    monkeypatch.setattr("dbt_anonymize.project.evidence.collect", lambda *_: None)
    place = ("--project-dir", project, "--output", project / "missing" / "visits.md")
    form = "md" if command == "report" else "markdown"
    result = run(command, "visits", "--format", form, *place)
    assert result.exit_code == 2, result.output
    assert "missing/visits.md: No such file or directory." in result.stderr


@pytest.mark.needs("drafting")
def test_init_decides_neither_record_key_nor_target(project: Path) -> None:
    result = run("init", "clinic", "--ref", "visits_source", "--project-dir", project)
    assert result.exit_code == 0, result.output
    path = project / "anonymizations" / "clinic.yml"
    with pytest.raises(SpecError) as error:
        load_spec(path)
    lines = str(error.value).splitlines()
    # Both columns are keys by name and value, so that nothing is left to generalize.
    undecided = [line for line in lines if "TODO" in line]
    assert [line.split(": ")[1] for line in undecided] == ["record_key", "target", "features.1"]
    assert [line for line in lines if line not in undecided] == [lines[1]]
    assert "columns: must hold at least one quasi-identifier; got identifier" in lines[1]
    again = run("init", "clinic", "--ref", "visits_source", "--project-dir", project)
    assert again.exit_code == 2
    assert "anonymizations/clinic.yml: must not exist yet" in again.stderr


@pytest.mark.needs("drafting")
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


@pytest.mark.needs("drafting")
def test_a_table_that_is_no_source_yet_is_told_how_to_become_one(project: Path) -> None:
    arguments = ("init", "clinic", "--source", "main.visits_source", "--project-dir", project)
    result = run(*arguments)
    assert result.exit_code == 2
    *_, line = result.stderr.strip().splitlines()
    assert "main.visits_source: must be a source of the project" in result.stderr
    (project / "models" / "sources.yml").write_text(line, encoding="utf-8")
    result = run(*arguments)
    assert result.exit_code == 0, result.output


def test_version_is_shown() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("dbt-anonymize 0.")


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert {"generate", "build", "results", "verify"} < {*commands()}
    for command in commands():
        assert re.search(rf"^│ {command} ", result.stdout, re.M), command


# What takes a while to import, and a part of the package that a command needs to work only.
SLOW = {"altair", "dbt", "duckdb", "jinja2", "numpy", "pandas", "scipy", "sklearn", "yaml"}
AFTER_HELP = """
import contextlib, io, json, os, sys
from dbt_anonymize.cli import app
for words in json.loads(sys.argv[1]):
    if os.fork() == 0:
        with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
            app([*words, "--help"])
        assert "Usage" in shown.getvalue()
        print(json.dumps([words, [*sys.modules]]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, words
"""


def test_help_loads_nothing_slow_and_no_other_command() -> None:
    """Time is no measure on a machine that does other things too."""
    group: Any = get_command(app)
    parts = {name: getattr(group.get_command(None, name), "commands", {}) for name in commands()}
    asked = [[name, *part] for name in commands() for part in ([], *([one] for one in parts[name]))]
    number = number_of("commands whose help loads little", len(asked), 16)
    asked = random.Random(SEED).sample(asked, number)
    finished = subprocess.run(
        [sys.executable, "-c", AFTER_HELP, json.dumps([[], *asked])],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert finished.returncode == 0, finished.stderr
    lines = map(json.loads, finished.stdout.splitlines())
    loaded = {" ".join(words): set(modules) for words, modules in lines}
    assert len(loaded) == len(asked) + 1
    for command, modules in loaded.items():
        assert not modules & SLOW, command
        others = {*commands().values()} & modules
        if command:
            assert others == {commands()[command.split()[0]]}
        ours = {name for name in modules if name.startswith("dbt_anonymize")}
        registered = {f"dbt_anonymize.extensions.{one.name}" for one in extensions()}
        ours -= registered
        assert len([name for name in ours if ".cli" not in name and ".commands" not in name]) <= 46


def test_a_command_seldom_looks_for_garbage(tmp_path: Path) -> None:
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        run("generate", "--project-dir", write_project(tmp_path, SPEC))
        assert gc.isenabled()
        assert gc.get_threshold() == (100_000, 10, 10)
    finally:
        gc.set_threshold(*before)


def test_every_command_takes_what_dbt_takes() -> None:
    for command in {*commands()} - {"hierarchy", "schema", "profile", "epsilon", "vault"}:
        for option in ("-h", "--help"):
            result = run(command, option)
            assert result.exit_code == 0, result.output
            for known in ("--project-dir", "--profiles-dir", "--quiet"):
                assert known in result.stdout, command
    assert run("-h").exit_code == 0


@pytest.mark.needs("hierarchy_builders")
def test_a_command_of_a_group_can_be_quiet() -> None:
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
    assert run("generate", "-q", "--project-dir", project).stdout == ""
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
    drafted = [("init", "clinic", "--ref", "visits_source")] if has("drafting") else []
    for command in (("results",), *drafted):
        result = run(*command, "--project-dir", project)
        assert result.exit_code == 2
        assert f"there is no {project / 'a b'}." in result.stderr
        assert f"Run `mkdir -m 700 '{project / 'a b'}'`." in result.stderr
    file.write_text(file.read_text().replace("a b/vault.duckdb", "a/b/vault.duckdb"))
    result = run("results", "--project-dir", project)
    assert f"Run `mkdir -p -m 700 {project / 'a' / 'b'}`." in result.stderr


def test_a_project_without_its_packages_is_told_what_installs_them(project: Path) -> None:
    (project / "packages.yml").write_text("packages:\n  - local: nowhere\n")
    result = run("results", "--project-dir", project)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert said.endswith("Run `dbt-anonymize new`.")
    assert ".." not in said


@pytest.mark.parametrize("command", ["generate", "results"])
def test_outside_of_a_project_the_folder_is_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(command)
    assert done.exit_code != 0
    said = " ".join(done.output.split())
    assert f"{tmp_path}: must be in a dbt project; there is no dbt_project.yml here or" in said
    assert said.count("Or start one with `dbt-anonymize new`.") == 1
