"""Write what a build gives into the pages: ``python -m tests.case_studies [name ...]``."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.case_studies import cells, clusters, mechanisms, tables
from tests.case_studies.building import build
from tests.case_studies.masking_effect import plot, rows
from tests.case_studies.pages import CASE_STUDIES, CasePage
from tests.case_studies.preparation import LARGE_STUDIES, STUDIES, is_available


def main(names: list[str]) -> None:
    """Rewrite pages of studies whose data are there; of all by default."""
    wanted = [name for name in names or STUDIES | LARGE_STUDIES if is_available(name)]
    texts = {}
    if tables.NAME in wanted:
        wanted.remove(tables.NAME)
        with tempfile.TemporaryDirectory() as folder:
            rows_of_tables = tables.reader(tables.build(Path(folder)))
            page = CasePage(tables.NAME)
            texts[tables.NAME] = page.confirmed(rows_of_tables, lambda _: "")
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder), wanted)
        # A large study has no plot.
        texts |= {
            name: CasePage(name).confirmed(
                partial(cells.rows, built), (lambda _: "") if name in LARGE_STUDIES else None
            )
            for name in wanted
        }
    if not names:
        with tempfile.TemporaryDirectory() as folder:
            text = mechanisms.confirmed(
                mechanisms.PAGE.read_text("utf-8"), mechanisms.build(Path(folder))
            )
        mechanisms.PAGE.write_text(text, encoding="utf-8")
    texts["masking_effect"] = CasePage("masking_effect").confirmed(
        lambda _: rows(), lambda _: plot()
    )
    if clusters.ARE_AVAILABLE:
        texts[clusters.NAME] = CasePage(clusters.NAME).confirmed(
            lambda _: clusters.rows(), lambda _: ""
        )
    for name, text in texts.items():
        (CASE_STUDIES / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
