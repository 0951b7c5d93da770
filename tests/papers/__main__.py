"""Write what is computed into the pages: ``make demo``, then ``python -m tests.papers``."""

from __future__ import annotations

from tests.papers import systematic_clustering
from tests.papers.pages import PAGE, with_builds, with_curves
from tests.projects import REPOSITORY, Project

if __name__ == "__main__":
    demonstration = Project(REPOSITORY, "warehouse/dbt_anonymize.duckdb")
    text = with_builds(with_curves(PAGE.read_text("utf-8")), demonstration.query)
    PAGE.write_text(text, encoding="utf-8")
    text = with_builds(systematic_clustering.PAGE.read_text("utf-8"), demonstration.query)
    systematic_clustering.PAGE.write_text(systematic_clustering.confirmed(text), encoding="utf-8")
