"""A table with hostile names and values is anonymized like the same table with plain ones."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dbt_anonymize.literals import markdown, printable
from tests.extensions import has
from tests.projects import Project
from tests.sampling import number_of
from tests.sql_safety.commands import run, searched
from tests.sql_safety.hostile import TEXTS, own_sql_names
from tests.sql_safety.namings import FOLDER, namings, usable
from tests.sql_safety.outcome import Found, outcome_of, renamed
from tests.worlds.hostile import COLUMNS, NAME, Naming, write

# A build takes seconds, so that nothing is made smaller.
FUZZ = settings(
    max_examples=number_of("builds of hostile names", 5, 1),
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def check(naming: Naming, plain_outcome: Found, plain_search: list[list[int]]) -> None:
    """Build in a folder whose name is hostile too, and compare everything that was found."""
    with tempfile.TemporaryDirectory() as folder:
        project = write(Path(folder) / FOLDER, naming)
        project.build()
        found = outcome_of(project, naming)
        expected = renamed(plain_outcome, naming)
        for part, table in expected.tables.items():
            assert found.tables[part] == table, part
        check_pages(project, naming)
        check_commands(project, naming)
        assert searched(project) == plain_search


def check_pages(project: Project, naming: Naming) -> None:
    """Look at what dbt puts into its pages: columns by their names, prose without tags."""
    manifest = json.loads((project.folder / "target" / "manifest.json").read_text("utf-8"))
    models = {node["name"]: node for node in manifest["nodes"].values()}
    release = models[f"{NAME}_anonymized"]
    assert set(naming.extra) <= set(release["columns"])
    generated = [node for name, node in models.items() if name.startswith(f"{NAME}_")]
    prose = [node["description"] for node in generated]
    prose += [column["description"] for node in generated for column in node["columns"].values()]
    assert markdown(naming.prose) in release["description"]
    assert not any("<" in text or "](javascript" in text for text in prose)


def check_commands(project: Project, naming: Naming) -> None:
    """Run the commands that show or write names."""
    assert "Models and specs agree." in run(project, "generate", "--check").output
    shown = run(project, "results").output
    # The console makes spaces of a tab.
    prose = printable(naming.prose).split("\n")[0]
    assert " ".join(prose.split()) in " ".join(shown.split())
    assert naming.release_folder in shown
    if has("drafting"):
        check_draft(project, naming)


def check_draft(project: Project, naming: Naming) -> None:
    """Draft a spec of the same table."""
    run(project, "init", "drafted", "--source", f"registry.{NAME}")
    draft = yaml.safe_load((project.folder / "anonymizations" / "drafted.yml").read_text("utf-8"))
    columns = {naming.column(column) for column in COLUMNS} | set(naming.extra)
    # Of the columns that are unique, one may be called a key.
    unique = {naming.column(column) for column in ("person_number", "full_name", "phone")}
    assert draft["record_key"] in unique
    assert {*draft["columns"], draft["record_key"]} == columns
    (project.folder / "anonymizations" / "drafted.yml").unlink()


@pytest.mark.sampled_tests(group="builds")
def test_the_plain_table_is_worth_comparing(plain_outcome: Found) -> None:
    columns, rows = plain_outcome.tables["results"]
    results = [dict(zip(columns, row, strict=True)) for row in rows]
    assert len({result["k"] for result in results}) > 2
    assert len({result["q"] for result in results}) == len(results)
    assert sum(result["is_chosen"] for result in results) == 1
    assert any(0 < result["suppressed_records"] < result["records"] for result in results)
    assert all(rows for _, rows in plain_outcome.tables.values())


@pytest.mark.sampled_tests(group="builds")
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "drawn",
    [namings(TEXTS, extra=100), namings(own_sql_names(), extra=10)],
    ids=["texts", "names of our own statements"],
)
@FUZZ
@given(data=st.data())
def test_hostile_names_build_the_same(
    data: st.DataObject,
    drawn: st.SearchStrategy[Naming],
    plain_outcome: Found,
    plain_search: list[list[int]],
) -> None:
    check(data.draw(drawn), plain_outcome, plain_search)


@pytest.mark.parametrize("names", [TEXTS, own_sql_names()], ids=["texts", "own names"])
def test_there_are_names_for_every_column(names: list[str]) -> None:
    assert len(usable(names)) > 4 * len(COLUMNS)
