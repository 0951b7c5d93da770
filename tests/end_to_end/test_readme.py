"""The README is true, and so are the steps by hand: commands run, tables are what they print."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import duckdb
import pytest

from tests.conftest import Demonstration
from tests.projects import REPOSITORY, Project, run_command

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DOCS = REPOSITORY / "docs"
BY_HAND = (DOCS / "by_hand.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(title: str) -> str:
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_make_demo_prints_the_results_of_the_readme(shipped: Demonstration) -> None:
    (shown,) = [text for language, _, text in BLOCK.findall(README) if language == "text"]
    printed = "\n".join(line.rstrip() for line in shipped.printed.splitlines())
    assert shown.strip() in printed


def test_make_demo_shows_progress_while_models_train(shipped: Demonstration) -> None:
    assert re.search(r"wdbc: [\d,]+ of 1,?400 models", shipped.printed)


def test_the_record_of_the_readme_is_in_source_and_release(demo: Project) -> None:
    (source, release) = (
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in section("See it").splitlines()
        if line.startswith(("| source |", "| release |"))
    )
    columns = "age, estradiol, treatment, amh, pregnancy_result, needs_meriestra"
    people = demo.query(
        f"select first_name || ' ' || surname, patient_number, {columns}"
        " from vault.main.fertility_clinic_patients"
    )
    assert tuple(source) in [tuple(map(str, person)) for person in people]
    released = demo.query(
        f"select {columns} from release_fertility_clinic.fertility_clinic_anonymized"
    )
    assert tuple(release[2:]) in [tuple(map(str, record)) for record in released]


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the reader's project as it is before the first step."""
    folder = tmp_path_factory.mktemp("readme") / "hospital"
    (folder / "seeds").mkdir(parents=True)
    (folder / "anonymizations").mkdir()
    (folder / "dbt_project.yml").write_text('name: hospital\nversion: "1.0"\nprofile: hospital\n')
    draw = random.Random(5)
    zips = ["01067", "01069", "01097", "04103", "04105"]
    lines = ["patient_id,name,age,zip,smoker,diagnosis"]
    for number in range(400):
        age, smoker = draw.randint(18, 90), draw.choice(["yes", "no"])
        ill = draw.random() < 0.1 + age / 200 + 0.3 * (smoker == "yes")
        name = f"Person {number}"
        lines.append(
            f"{number},{name},{age},{draw.choice(zips)},{smoker},{'ill' if ill else 'well'}"
        )
    (folder / "seeds" / "patients.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.needs("hierarchy_builders", "installation", "search")
@pytest.mark.sampled_tests(group="installation")
def test_the_five_steps_anonymize_a_table_of_ones_own(hospital: Path) -> None:
    printed = ""
    for language, name, text in BLOCK.findall(BY_HAND.split("\n## 6. ")[0]):
        if language == "yaml":
            # The clone that is beside the reader's project is this repository.
            text = text.replace("../dbt-anonymize", str(REPOSITORY))  # noqa: PLW2901
            with (hospital / name).open("a", encoding="utf-8") as file:
                file.write(text)
            continue
        for command in text.splitlines():
            if not command.startswith("pip install"):
                printed = run_command(f"{command}", hospital)
    assert "released: release/dev/patients.duckdb" in printed
    with duckdb.connect(
        str(hospital / "release" / "dev" / "patients.duckdb"), read_only=True
    ) as release:
        sizes = release.execute(
            "select count(*) from patients_anonymized group by age, zip"
        ).fetchall()
    assert min(size for (size,) in sizes) >= 5


@pytest.mark.needs("installation", "trial")
@pytest.mark.sampled_tests(group="installation")
def test_the_commands_of_the_readme_work_in_the_order_it_shows_them(hospital: Path) -> None:
    folder = hospital.with_name("in_order")
    (folder / "seeds").mkdir(parents=True)
    shutil.copy(hospital / "seeds" / "patients.csv", folder / "seeds")
    (folder / "dbt_project.yml").write_text("name: hospital\n")
    printed = ""
    for language, _, text in BLOCK.findall(section("Three commands")):
        assert language == "sh"
        for command in text.splitlines():
            if not command.startswith("pip install"):
                printed = run_command(command.partition("  #")[0], folder)
    assert "released: release/dev/patients.duckdb" in printed


def test_it_is_read_in_five_minutes() -> None:
    assert len(README.splitlines()) <= 150


def links_of(page: Path) -> set[Path]:
    """Return the files that a page links to."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in targets}


def test_the_front_page_leads_to_every_page() -> None:
    """The README leads to the front page, pages of a folder are reached from its index."""
    front = DOCS / "README.md"
    assert front in links_of(REPOSITORY / "README.md")
    assert {*DOCS.glob("*.md")} - links_of(front) == {front}


def test_each_task_of_the_front_page_has_a_few_links() -> None:
    tasks = (DOCS / "README.md").read_text(encoding="utf-8").split("\n## ")[1:-1]
    assert [task.partition("\n")[0] for task in tasks] == [
        "Share a table",
        "Choose",
        "Prove",
        "Repeat next month",
        "Run elsewhere",
        "Extend",
    ]
    for task in tasks:
        assert 2 <= task.count("\n- ") <= 5, task


def test_every_file_that_the_readme_links_to_exists() -> None:
    linked = links_of(REPOSITORY / "README.md")
    assert len(linked) >= 15
    for target in linked:
        assert target.exists(), target
