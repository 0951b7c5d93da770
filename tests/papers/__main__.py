"""Write what is computed into the pages: ``make demo``, then ``python -m tests.papers``."""

from __future__ import annotations

from tests.papers import arx_page
from tests.papers.pages import PAGE, with_builds, with_curves
from tests.projects import REPOSITORY, Project

if __name__ == "__main__":
    demonstration = Project(REPOSITORY, "warehouse/dbt_anonymize.duckdb")
    text = with_builds(with_curves(PAGE.read_text("utf-8")), demonstration.query)
    PAGE.write_text(text, encoding="utf-8")
    arx_page.write()
