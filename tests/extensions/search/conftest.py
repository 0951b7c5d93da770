"""A stranger's project that a search can start from: its frequencies are built, nothing else."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from dbt_anonymize.extensions.search import bases
from tests.extensions import has
from tests.extensions.search.running import SPEC, run, with_spec
from tests.projects import Project, copy_consumer


def _copy(folder: Path) -> Project:
    project = copy_consumer(folder)
    # Unit tests name models that a spec without efforts, or with a subject, does not have.
    (project.folder / "models" / "unit_tests.yml").unlink()
    return project


@pytest.fixture(scope="session")
def built_frequencies(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with frequencies of 400 customers; tests that change it take a copy."""
    project = _copy(tmp_path_factory.mktemp("search") / "project")
    project.build("--select", "+customers_frequencies")
    return project


@pytest.fixture
def shop(built_frequencies: Project, tmp_path: Path) -> Project:
    """Give a copy that a test may change."""
    return built_frequencies.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project in which a person has several records and is one of a population."""
    project = _copy(tmp_path_factory.mktemp("crowd") / "project")
    (project.folder / "models" / "people.sql").write_text(
        "select birth_date, zip, gender from {{ ref('customers') }}\n"
        "union all\n"
        "select birth_date, zip, gender from {{ ref('customers') }} where customer_id % 2 = 0\n"
        "union all\n"
        "select birth_date, zip, null as gender from {{ ref('customers') }} where churned = 'no'\n"
    )
    project.edit("seeds/customers.csv", _shared_names)
    with_spec(
        project,
        lambda text: text.replace(
            "record_key:", "subject: full name\npopulation: {ref: people, size: 5000}\nrecord_key:"
        ).replace(
            "k_anonymity: {k: 4}",
            "k_anonymity: {k: 2}\n  k_map: {k: 5}\n  l_diversity: {attribute: churned, l: 2}",
        ),
    )
    project.build("--select", "+customers_frequencies", "+customers_population")
    return project


def _shared_names(text: str) -> str:
    """Give every third customer the name of the one before."""
    header, *rows = csv.reader(io.StringIO(text))
    place = header.index("full name")
    for number in range(2, len(rows), 3):
        rows[number][place] = rows[number - 1][place]
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([header, *rows])
    return written.getvalue()


@pytest.fixture(scope="module")
def searched(built_frequencies: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a project after a search for three efforts."""
    project = built_frequencies.copy(tmp_path_factory.mktemp("searched") / "project")
    before = (project.folder / SPEC).read_text(encoding="utf-8")
    result = run(project, "--efforts", "3")
    assert result.exit_code == 0, result.output
    (project.folder / "printed.txt").write_text(result.output, encoding="utf-8")
    (project.folder / "before.yml").write_text(before, encoding="utf-8")
    return project


@pytest.fixture
def eager_grouping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Form a base wherever there are two rows."""
    monkeypatch.setattr(bases, "WORTH_A_BASE", 2)
    monkeypatch.setattr(bases, "SHARE", 0.8)
    monkeypatch.setattr(bases, "WORTH_SAVING", 0)


# Case studies build their hierarchies.
collect_ignore = [] if has("hierarchy_builders") else ["test_case_studies.py"]
