"""A copula beside four efforts of ours on adult.

``python -m tests.extensions.external_efforts.study`` writes what a build gives into the page; `make
synthesizer` installs the other tool.
"""

from __future__ import annotations

import csv
import random
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.case_studies.building import Built, prepare
from tests.case_studies.pages import CASE_STUDIES, CasePage
from tests.case_studies.preparation import Study, cell_suppression, is_available
from tests.oracle.outer import is_outer
from tests.projects import REPOSITORY

NAME = "synthesized"
TOOL = REPOSITORY / ".venv-synthesizer" / "bin" / "python"
# As the page declares them.
OUTER_SHARE, RANDOM_STATE = 0.3, 1
PEOPLE = 6_000
NEEDED = (
    "NOT TESTED: a synthesizer beside our efforts, which needs `make synthesizer` and adult "
    "(DBT_ANONYMIZE_DATA)"
)


def is_installed() -> bool:
    """Tell whether the other tool and the table are there."""
    return TOOL.is_file() and is_available("cell_suppression")


def table() -> Study:
    """Return the table of the page, under its name."""
    whole = cell_suppression()
    return replace(whole, name=NAME, rows=random.Random(RANDOM_STATE).sample(whole.rows, PEOPLE))


def build(folder: Path) -> Built:
    """Give the tool the inner records, and build with what it returns."""
    study = table()
    inner = [
        row
        for number, row in enumerate(study.rows, start=1)
        if not is_outer(str(number), OUTER_SHARE, RANDOM_STATE)
    ]
    project_folder = folder / "project"
    project_folder.mkdir()
    given = folder / "inner.csv"
    with given.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(inner[0]))
        writer.writeheader()
        writer.writerows(inner)
    project = prepare(project_folder, [study], {NAME: CasePage(NAME).spec})
    script = Path(__file__).with_name("synthesize.py")
    rows = project_folder / "seeds" / f"{NAME}_copula.csv"
    subprocess.run([TOOL, script, given, rows], check=True)
    project.build()
    return Built(project)


def page(built: Built) -> str:
    """Return the page with what was built."""
    return CasePage(NAME).confirmed(built.rows, lambda _: "")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        text = page(build(Path(temporary)))
    (CASE_STUDIES / f"{NAME}.md").write_text(text, encoding="utf-8")
