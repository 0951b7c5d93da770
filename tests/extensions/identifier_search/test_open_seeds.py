"""Seeds that hold identifiers, and are open to others or to git, are named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dbt_anonymize.extensions.identifier_search.open_seeds import open_seeds
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_specs
from tests.spec.declarations import SPEC, write_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a project with a table of people, and a hierarchy, as seeds that everybody can read."""
    folder = write_project(tmp_path / "clinic", SPEC)
    seeds = folder / "seeds"
    seeds.mkdir(exist_ok=True)
    (seeds / "people.csv").write_text("visit_id,Phone,age\n1,0113,30\n", encoding="utf-8")
    ages = "lower_bound,upper_bound,level_1,level_2,level_3\n0,9,a,b,*\n"
    (seeds / "ages.csv").write_text(ages, encoding="utf-8")
    for path in seeds.iterdir():
        path.chmod(0o644)
    for above in (seeds, folder, tmp_path):
        above.chmod(0o755)
    return folder


def found(folder: Path) -> list[str]:
    return [str(seed) for seed in open_seeds(find_project(folder), load_specs(folder))]


def test_a_table_of_people_that_others_can_read_is_named(project: Path) -> None:
    (said,) = found(project)
    assert said.startswith("it holds identifiers of visits (phone)")
    assert "others can read it (mode 644)" in said
    assert "git" not in said
    (project / "seeds" / "people.csv").chmod(0o600)
    assert found(project) == []
    (project / "seeds" / "people.csv").chmod(0o644)
    (project / "seeds").chmod(0o700)
    assert found(project) == []


def test_what_git_commits_is_named_until_it_is_ignored(project: Path) -> None:
    (project / "seeds" / "people.csv").chmod(0o600)
    subprocess.run(["git", "init", "--quiet", str(project)], check=True)
    (said,) = found(project)
    assert "git does not ignore it" in said
    assert "others" not in said
    (project / ".gitignore").write_text("seeds/people.csv\n", encoding="utf-8")
    assert found(project) == []


def test_invented_people_are_nobody(project: Path) -> None:
    properties = "seeds:\n  - name: people\n    config: {meta: {dbt_anonymize: {invented: true}}}\n"
    (project / "seeds" / "seeds.yml").write_text(properties, encoding="utf-8")
    assert found(project) == []
