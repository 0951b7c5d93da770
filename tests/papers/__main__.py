"""Write what is computed into the pages: ``make demo``, then ``python -m tests.papers``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.papers import arx_page, choice_page, fertility_clinic, systematic_clustering
from tests.papers.pages import PAGE, with_builds, with_curves, with_queries
from tests.projects import REPOSITORY, Project

if __name__ == "__main__":
    demonstration = Project(REPOSITORY, "warehouse/dbt_anonymize.duckdb")
    text = with_builds(with_curves(PAGE.read_text("utf-8")), demonstration.query)
    PAGE.write_text(text, encoding="utf-8")

    thesis = systematic_clustering.PAGE
    text = with_queries(thesis.read_text("utf-8"), demonstration.query)
    thesis.write_text(systematic_clustering.confirmed(text), encoding="utf-8")

    clinic = fertility_clinic.PAGE
    with tempfile.TemporaryDirectory() as folder:
        query = fertility_clinic.build(Path(folder)).query
        text = fertility_clinic.with_build(clinic.read_text("utf-8"), query)
    clinic.write_text(fertility_clinic.with_tables(text), encoding="utf-8")

    arx_page.write()
    choice_page.write()
