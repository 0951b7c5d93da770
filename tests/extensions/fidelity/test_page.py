"""The example of docs/extensions/fidelity.md, computed."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, Page
from tests.oracle import fidelity as recount
from tests.oracle.fidelity import Compared
from tests.oracle.generalization import IntervalHierarchy

PAGE = Page(DOCS / "extensions" / "fidelity.md")
LEAVES = ("0-20", "20-40", "40-60", "60-80")


def people_in_leaves(level: int) -> dict[tuple[int | str | None, ...], float]:
    ages = [float(row["age"]) for row in PAGE.table("person", "age").records]
    halves = ("0-40", "0-40", "40-80", "40-80")
    hierarchy = IntervalHierarchy((0.0, 20.0, 40.0, 60.0, 80.0), (halves, ("*",) * 4))
    people = Compared((hierarchy,), tuple(((age,), None) for age in ages))
    return people.cells([0], [(level,)] * len(ages), [True] * len(ages))


def test_the_example_is_what_its_page_says() -> None:
    original = people_in_leaves(0)
    for row in PAGE.table("effort", *LEAVES).records:
        shown = people_in_leaves(int(row["effort"]))
        assert [shown.get((leaf,), 0) for leaf in range(4)] == [float(row[x]) for x in LEAVES]
        assert recount.distance(original, shown) == pytest.approx(float(row["distance"]))
        (truth, _), (count, _) = (
            recount.answer(cells, [(1, 1)], [10, 30, 50, 70]) for cells in (original, shown)
        )
        assert count == float(row["count"])
        assert abs(count - truth) / truth == pytest.approx(float(row["count error"]), abs=5e-4)


def test_the_pmse_of_the_example_is_what_its_page_says() -> None:
    for row in PAGE.table("effort", "pmse", "pmse_ratio").records:
        pmse, ratio = recount.pmse(people_in_leaves(0), people_in_leaves(int(row["effort"])))
        assert pmse == pytest.approx(float(row["pmse"]), abs=5e-5)
        assert ratio == pytest.approx(float(row["pmse_ratio"]), abs=5e-4)
