"""The tutorial is true: its steps lead from a table to a verified release and to the next month."""

from __future__ import annotations

import random
import re
from pathlib import Path

import duckdb
import pytest

from tests.projects import REPOSITORY, run_command

# A minute and a half: the steps of the README, which are much the same, run in `make test`.
pytestmark = [pytest.mark.slow, pytest.mark.needs("installation", "report", "second_month")]

PAGE = REPOSITORY / "docs" / "extensions" / "trial.md"
BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """Give the reader's project: one table."""
    folder = tmp_path / "hospital"
    (folder / "seeds").mkdir(parents=True)
    (folder / "dbt_project.yml").write_text('name: hospital\nversion: "1.0"\nprofile: hospital\n')
    draw = random.Random(5)
    zips = ["01067", "01069", "01097", "04103", "04105"]
    lines = ["patient_id,name,age,zip,smoker,diagnosis"]
    for number in range(600):
        age, smoker = draw.randint(18, 90), draw.choice(["yes", "no"])
        ill = draw.random() < (age - 18) / 90 + 0.3 * (smoker == "yes")
        row = (number, f"Person {number}", age, draw.choice(zips), smoker, "ill" if ill else "well")
        lines.append(",".join(map(str, row)))
    (folder / "seeds" / "patients.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_the_steps_lead_from_a_table_to_the_next_month(hospital: Path) -> None:
    printed = {}
    for language, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "yaml":
            with (hospital / name).open("a", encoding="utf-8") as file:
                file.write(text)
            continue
        for command in text.splitlines():
            if not command.startswith("pip install"):
                printed[command] = run_command(command, hospital)
    assert "is chosen" in printed["dbt-anonymize results"]
    assert "promises hold" in printed["dbt-anonymize verify"]
    assert (hospital / "patients.html").stat().st_size > 100_000
    release = hospital / "release" / "dev" / "patients.duckdb"
    with duckdb.connect(str(release), read_only=True) as connection:
        classes = "select count(*) from patients_anonymized group by age, zip"
        sizes = [size for (size,) in connection.execute(classes).fetchall()]
        columns = connection.execute("describe patients_anonymized").fetchall()
    assert min(sizes) >= 5
    assert not {"name", "patient_id"} & {column for column, *_ in columns}
    assert "freeze: true" in (hospital / "anonymizations" / "patients.yml").read_text()
