"""Another package adds an extension to a project that names it, and to no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import Project

FOREIGN = Path(__file__).parents[1] / "foreign_extension"
DBT = "dbt.cli.main"
NAMED = "vars:\n  dbt_anonymize_extensions: [head_count]\n"
pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(2)]


def run(folder: Path, *arguments: str, module: str = "dbt_anonymize") -> tuple[int, str]:
    paths = [str(FOREIGN / "package"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def with_head_count(project: Project) -> Project:
    """Give a project the extension's package of dbt, and its key to the spec."""
    shutil.copytree(FOREIGN / "dbt", project.folder / "dbt_packages" / "head_count")
    spec = "anonymizations/customers.yml"
    project.edit(spec, lambda text: f"{text.rstrip()}\nhead_count: heads\n")
    return project


def name_it(shop: Project) -> None:
    shop.edit("dbt_project.yml", lambda text: text + NAMED)


@pytest.fixture
def shop(consumer: Project) -> Project:
    return with_head_count(consumer)


@pytest.fixture(scope="module")
def counted(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project that names the extension, with its relation built."""
    project = with_head_count(built_consumer.copy(tmp_path_factory.mktemp("counted") / "project"))
    name_it(project)
    # From elsewhere, as dbt finds a project.
    assert run(Path("/"), "generate", "--project-dir", str(project.folder))[0] == 0
    built = run(project.folder, "build", "--select", "customers_head_count", module=DBT)
    assert built[0] == 0, built[1]
    return project


def test_what_no_project_names_is_not_loaded(shop: Project) -> None:
    assert "head-count" not in run(shop.folder, "--help")[1]
    code, said = run(shop.folder, "generate")
    assert code == 2
    assert "head_count: must be a key that we know" in said


def test_a_named_extension_adds_commands_and_relations(counted: Project) -> None:
    assert "head-count" in run(counted.folder, "--help")[1]
    assert run(counted.folder, "head-count", "customers") == (0, "counted customers\n")
    ((heads,),) = counted.query("select heads from customers_head_count")
    assert [(heads,)] == counted.query(
        "select avg(class_size) from customers_classes where effort > 0"
    )


def test_a_named_extension_adds_rules(shop: Project) -> None:
    name_it(shop)
    shop.edit("anonymizations/customers.yml", lambda text: text.replace("heads", "gender"))
    code, said = run(shop.folder, "generate")
    assert code == 2
    assert "head_count: must be no column of the source. Write another name." in said


def documents(project: Project) -> list[str]:
    commands = [["report", "customers", "--format", "json"], ["dossier", "customers"]]
    return [run(project.folder, *one)[1] for one in commands]


@pytest.mark.needs("dossier", "report")
def test_a_named_extension_adds_to_reports_and_dossiers(shop: Project, counted: Project) -> None:
    name_it(shop)
    report, dossier = documents(shop)
    assert "Not there: customers_head_count is missing or empty. Run `dbt build`." in report
    assert "| missing: there is no customers_head_count. Run dbt build. |" in dossier
    ((heads,),) = counted.query("select heads from customers_head_count")
    report, dossier = documents(counted)
    shown = {part["key"]: part["rows"] for part in json.loads(report)["sections"]}
    assert shown["heads"] == [[heads]]
    assert f"| people of a class | {heads:.4g} | customers" in dossier


def test_each_part_of_a_spec_has_the_keys_of_its_own(shop: Project) -> None:
    noted = (
        ("e-mail: {role: identifier}", "e-mail: {role: identifier, heads_note: x}"),
        (
            "- {birth_date: 3, zip: 2, gender: 1}",
            "- {levels: {birth_date: 3, zip: 2, gender: 1}, heads_note: x}",
        ),
        ("details: all", "details: all\nrelease: {heads_note: x}"),
    )
    for before, after in noted:
        shop.edit("anonymizations/customers.yml", lambda text: text.replace(before, after))  # noqa: B023
    unknown = run(shop.folder, "generate")[1]
    for place in ("columns.'e-mail'", "efforts.3", "release"):
        assert f"{place}.heads_note: must be a key that we know" in unknown
    name_it(shop)
    assert run(shop.folder, "generate")[0] == 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("[head_count, absent]", "must name extensions that are installed; absent is not"),
        ("head_count", "must be a list of names"),
    ],
)
def test_a_wrong_list_is_said(tmp_path: Path, names: str, message: str) -> None:
    text = f"name: shop\nvars:\n  dbt_anonymize_extensions: {names}\n"
    (tmp_path / "dbt_project.yml").write_text(text)
    code, said = run(tmp_path, "--help")
    assert code == 2
    assert f"vars.dbt_anonymize_extensions {message}" in said
    assert "Traceback" not in said
