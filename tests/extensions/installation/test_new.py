"""`dbt-anonymize new`: a stranger's project becomes ready, an empty folder a project."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.extensions.installation.project_files import read_yaml_file
from dbt_anonymize.project.profile import read_profile
from dbt_anonymize.versions import mismatch, package_folder
from tests.cli.conftest import run
from tests.projects import REPOSITORY, Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="installation")]


def tree(folder: Path) -> dict[str, str]:
    """Return the text of every file but those of dbt itself."""
    skipped = {"dbt_packages", "logs", "target", "package-lock.yml", ".user.yml"}
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not skipped & set(path.relative_to(folder).parts)
    }


def test_a_project_becomes_ready_and_stays_as_it_is(stranger: Path) -> None:
    before = tree(stranger)
    asked = run("new", "--project-dir", stranger)
    assert asked.exit_code == 2
    assert "Nothing was written. Add --yes if nobody can be asked." in asked.stderr
    assert tree(stranger) == before
    assert "+          alias: vault" in asked.stdout
    assert "+      - dbt_anonymize" in asked.stdout
    assert "mkdir -m 700 vault" in asked.stdout

    done = run("new", "--yes", "--project-dir", stranger)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert said.endswith(
        "Ready. Next: `dbt build --select +<model or seed>` if that is not built yet, then "
        "`dbt-anonymize try <model, seed or source.table> --predict <column>`."
    )
    after = tree(stranger)
    profile = yaml.safe_load(after["profiles.yml"])["shop"]["outputs"]["dev"]
    assert profile["attach"] == [{"path": "vault/vault.duckdb", "alias": "vault"}]
    assert after["profiles.yml"].startswith(before["profiles.yml"]), "comments stay"
    assert after["dbt_project.yml"].startswith(before["dbt_project.yml"])
    dispatch = yaml.safe_load(after["dbt_project.yml"])["dispatch"]
    assert dispatch == [
        {"macro_namespace": "dbt", "search_order": ["shop", "dbt_anonymize", "dbt"]}
    ]
    assert yaml.safe_load(after["packages.yml"]) == {"packages": [{"local": str(REPOSITORY)}]}
    assert {"vault/", "release/", "*.duckdb"} <= set(after[".gitignore"].splitlines())
    assert stat.S_IMODE((stranger / "vault").stat().st_mode) == 0o700
    assert (stranger / "dbt_packages" / "dbt_anonymize" / "macros").is_dir()

    again = run("new", "--yes", "--project-dir", stranger)
    assert again.exit_code == 0
    assert again.stdout == "Nothing to change.\n"
    assert tree(stranger) == after


def test_a_ready_project_builds(stranger: Path) -> None:
    assert run("new", "-yq", "--project-dir", stranger).output == ""
    assert run("generate", "-q", "--project-dir", stranger).exit_code == 0
    (stranger / "warehouse").mkdir(exist_ok=True)
    project = Project(stranger, "warehouse/shop.duckdb")
    built = project.dbt("build", "--select", "+customers_frequencies")
    assert built.succeeded, built.messages


def test_what_others_have_written_is_kept(stranger: Path) -> None:
    """Packages, a dispatch of their own, an attached file, ignored files; a vault elsewhere."""
    (stranger / "packages.yml").write_text("packages:\n  - local: ../other  # theirs\n")
    (stranger.parent / "other").mkdir()
    (stranger.parent / "other" / "dbt_project.yml").write_text("name: other\n")
    with (stranger / "dbt_project.yml").open("a") as file:
        file.write("dispatch:\n- macro_namespace: dbt\n  search_order: [shop, dbt]  # why\n")
    with (stranger / "profiles.yml").open("a") as file:
        file.write("      attach: [{path: safe/people.duckdb, alias: VAULT}]\n")
    (stranger / ".gitignore").write_text("/target\n*.duckdb")
    assert run("new", "--yes", "--project-dir", stranger).exit_code == 0
    packages = (stranger / "packages.yml").read_text()
    assert packages == (f"packages:\n  - local: ../other  # theirs\n  - local: {REPOSITORY}\n")
    assert "[shop, dbt_anonymize, dbt]  # why" in (stranger / "dbt_project.yml").read_text()
    assert (stranger / "profiles.yml").read_text().count("alias") == 1
    assert stat.S_IMODE((stranger / "safe").stat().st_mode) == 0o700
    assert not (stranger / "vault").exists()
    ignored = (stranger / ".gitignore").read_text().splitlines()
    assert ignored[:2] == ["/target", "*.duckdb"]
    assert len(ignored) == len(set(ignored)) == 7


def test_the_package_may_come_from_git(stranger: Path) -> None:
    """The address is not reached here, which is said; nothing of dbt's words is needed."""
    address = (stranger.parent / "no" / "dbt-anonymize.git").as_uri()
    result = run("new", "--yes", "--git", address, "--project-dir", stranger)
    assert result.exit_code == 2
    assert "`dbt deps` must install the packages" in result.stderr
    (entry,) = yaml.safe_load((stranger / "packages.yml").read_text())["packages"]
    assert entry == {"git": address, "revision": "v0.1.0"}


def test_lines_of_a_profile_that_stay_are_never_shown(stranger: Path) -> None:
    file = stranger / "profiles.yml"
    file.write_text(file.read_text() + "      settings: {password: hunter2}\n")
    assert "hunter2" not in run("new", "--project-dir", stranger).output


def test_each_target_gets_a_vault_of_its_own(stranger: Path) -> None:
    assert run("new", "--yes", "--project-dir", stranger).exit_code == 0
    file = stranger / "profiles.yml"
    profile = yaml.safe_load(file.read_text())
    outputs = profile["shop"]["outputs"]
    outputs["prod-eu"] = {"type": "duckdb", "path": "warehouse/prod.duckdb"}
    file.write_text(yaml.safe_dump(profile))
    done = run("new", "--yes", "--target", "prod-eu", "--project-dir", stranger)
    assert done.exit_code == 0, done.output
    outputs = yaml.safe_load(file.read_text())["shop"]["outputs"]
    vaults = {name: output["attach"][0]["path"] for name, output in outputs.items()}
    assert vaults == {"dev": "vault/vault.duckdb", "prod-eu": "vault/prod_eu.duckdb"}


def test_the_targets_that_publish_are_written(
    stranger: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    named = ("--published-target", "prod", "--published-target", "eu")
    variables = {"dbt_anonymize_published_targets": ["prod", "eu"]}
    starter = tmp_path_factory.mktemp("starter")
    for folder in (stranger, starter):
        assert run("new", "--yes", *named, "--project-dir", folder).exit_code == 0
        project = yaml.safe_load((folder / "dbt_project.yml").read_text())
        assert project["vars"] == variables
    told = run("doctor", "--project-dir", starter).stdout
    assert (
        "published targets: prod, eu (dbt_anonymize_published_targets); dev builds drafts" in told
    )
    # Whoever does not say leaves it as it is.
    again = run("new", "--yes", "--project-dir", stranger)
    assert again.stdout == "Nothing to change.\n"


def test_a_profile_that_is_missing_is_written(stranger: Path) -> None:
    (stranger / "profiles.yml").write_text("other: {target: x, outputs: {x: {type: duckdb}}}\n")
    assert run("new", "--yes", "--project-dir", stranger).exit_code == 0
    profiles = yaml.safe_load((stranger / "profiles.yml").read_text())
    assert list(profiles) == ["other", "shop"]
    assert profiles["shop"]["outputs"]["dev"]["attach"][0]["alias"] == "vault"


@pytest.mark.parametrize("declared", ["", "profile:\n"])
def test_a_project_without_a_profile_gets_one_of_its_name(
    stranger: Path, declared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = stranger / "dbt_project.yml"
    file.write_text(file.read_text().replace("profile: shop\n", declared))
    (stranger / "profiles.yml").unlink()
    before = read_yaml_file(file)
    monkeypatch.setenv("DBT_PROFILE", "ci")
    assert "profile: shop" not in run("new", "--project-dir", stranger).stdout
    monkeypatch.delenv("DBT_PROFILE")
    assert "+profile: shop" in run("new", "--project-dir", stranger).stdout

    done = run("new", "--yes", "--project-dir", stranger)
    assert done.exit_code == 0, done.output
    after = read_yaml_file(file)
    assert {**before, "profile": "shop", "dispatch": after["dispatch"]} == after
    profiles = read_yaml_file(stranger / "profiles.yml")
    assert list(profiles) == ["shop"]
    assert profiles["shop"]["outputs"]["dev"]["path"] == "shop.duckdb"
    assert read_profile(stranger).profile_name == "shop"
    assert run("new", "--yes", "--project-dir", stranger).stdout == "Nothing to change.\n"


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("packages.yml", "packages: [\n", "packages.yml: must be valid YAML"),
        ("packages.yml", "- a\n", "packages.yml: must be a mapping"),
        ("packages.yml", "packages: words\n", "packages.yml: must be plain YAML to be added to"),
        ("profiles.yml", "shop: {target: dev, outputs: {}}\n", "must have targets under outputs"),
        ("profiles.yml", "shop: words\n", "must have targets under outputs"),
        (".gitignore", b"\xff\xfe", ".gitignore: must be a readable UTF-8 file"),
        ("dbt_project.yml", "name: [1]\n", "must be a mapping with a name. Correct it."),
    ],
)
def test_files_that_cannot_be_added_to_are_named(
    stranger: Path, file: str, text: str | bytes, says: str
) -> None:
    (stranger / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = {p: p.read_bytes() for p in stranger.rglob("*") if p.is_file()}
    result = run("new", "--yes", "--project-dir", stranger)
    assert result.exit_code == 2
    assert says in result.stderr
    assert {p: p.read_bytes() for p in stranger.rglob("*") if p.is_file()} == before


def test_an_empty_folder_becomes_a_project(tmp_path: Path) -> None:
    folder = tmp_path / "my first-project"
    folder.mkdir()
    (folder / ".venv").mkdir()
    (folder / ".gitignore").write_text("notes\n")
    done = run("new", "--yes", "--project-dir", folder)
    assert done.exit_code == 0, done.output
    assert "Run `dbt build`, then `dbt-anonymize results`." in done.stdout
    assert yaml.safe_load((folder / "dbt_project.yml").read_text())["name"] == "my_first_project"
    assert (folder / ".gitignore").read_text().startswith("notes\nvault/\n")
    again = run("new", "--yes", "--project-dir", folder)
    assert again.stdout == "Nothing to change.\n", "the starter is what a ready project has"
    project = Project(folder, "my_first_project.duckdb")
    project.build()
    assert len(project.release("patients")) >= 550
    assert "Person" not in "".join(map(str, project.release("patients")))


def test_tables_without_a_project_get_one(tmp_path: Path) -> None:
    """They are loaded into the vault, git ignores them, and no invented table is added."""
    folder = tmp_path / "survey"
    (folder / "seeds").mkdir(parents=True)
    for name in ("women", "on"):
        (folder / "seeds" / f"{name}.csv").write_text("id,age,zip\n1,30,01234\n2,40,98765\n")
    done = run("new", "--yes", "--project-dir", folder)
    assert done.exit_code == 0, done.output
    assert "Next: `dbt seed`, then `dbt-anonymize try on --predict <column>`." in done.stdout
    assert "chmod 600 seeds/women.csv" in done.stdout
    if os.name == "posix":
        assert (folder / "seeds/women.csv").stat().st_mode & 0o777 == 0o600
    assert {"/seeds/women.csv", "/seeds/on.csv"} <= {*(folder / ".gitignore").read_text().split()}
    assert not list(folder.rglob("patients*"))
    project = Project(folder, "survey.duckdb")
    project.dbt("seed")
    tables = (
        "select database_name, table_name from duckdb_tables() where table_name in ('women', 'on')"
    )
    assert {*project.query(tables)} == {("vault", "women"), ("vault", "on")}
    assert project.query("select zip from vault.women order by id") == [("01234",), ("98765",)]
    assert run("new", "--yes", "--project-dir", folder).stdout == "Nothing to change.\n"


def test_other_seeds_without_a_project_are_refused(tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "women.csv").write_text("id\n1\n")
    (tmp_path / "seeds" / "women.xlsx").write_text("")
    assert run("new", "--yes", "--project-dir", tmp_path).exit_code == 2


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    result = run("new", "--yes", "--project-dir", tmp_path)
    assert result.exit_code == 2
    assert "hold tables as CSV in seeds/ and nothing else; it holds thesis.txt" in result.stderr
    assert os.listdir(tmp_path) == ["thesis.txt"]
    assert run("new", "--project-dir", tmp_path / "nowhere").exit_code == 2


def test_command_and_package_of_different_versions_stop_each_other(consumer: Project) -> None:
    """Both where dbt reads the project and where the command writes models."""
    link = consumer.folder / "dbt_packages" / "dbt_anonymize"
    link.unlink()
    link.mkdir()
    for part in ("macros", "dbt_project.yml"):
        (link / part).symlink_to(REPOSITORY / part)
    declared = link / "dbt_project.yml"
    text = declared.read_text()
    declared.unlink()
    declared.write_text(text.replace('version: "0.1.0"', 'version: "0.0.9"'))
    problem = mismatch("0.0.9")
    assert problem is not None
    for command in ("parse", "build"):
        outcome = consumer.dbt(command)
        assert not outcome.succeeded
        assert problem in outcome.messages
    generated = run("generate", "--project-dir", consumer.folder)
    assert generated.exit_code == 2
    assert problem in generated.stderr


def test_the_package_is_beside_the_command() -> None:
    assert (package_folder() / "macros").is_dir()
    assert yaml.safe_load((package_folder() / "dbt_project.yml").read_text())["name"] == (
        "dbt_anonymize"
    )
