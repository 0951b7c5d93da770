"""The section of a report on decision regions."""

from __future__ import annotations

from dbt_anonymize.extensions.inspection.sections import regions
from dbt_anonymize.project.evidence import Evidence
from dbt_anonymize.spec import Spec
from tests.spec.declarations import SPEC, spec


def evidence_of(rows: list[dict[str, object]] | None, **quality: object) -> Evidence:
    declared = Spec.model_validate(spec(quality={**SPEC["quality"], **quality}))
    relations = {"decision_grid": rows}
    return Evidence(declared, relations, None, is_current=True, published=None, is_published=False)


GRID = {"decision_grid": ["age", "income"]}
ROWS = [
    {"effort": effort, "class": "yes", "x": x, "y": 6789.5, "prediction": x / 10_000}
    for effort in (0, 1)
    for x in (4321.5, 1234.5, 5432.5)
]


def test_points_are_shown_by_rank_since_values_occur_in_the_source() -> None:
    (section,) = regions(evidence_of(ROWS, **GRID))
    assert [(row["x"], row["y"]) for row in section.data] == [(2, 1), (1, 1), (3, 1)] * 2
    assert "1234.5" not in repr(section)
    assert "6789.5" not in repr(section)
    assert [row[1] for row in section.rows] == [3, 3]


def test_nothing_is_shown_where_no_grid_is_declared_or_built() -> None:
    assert not regions(evidence_of(None, **GRID))
    assert not regions(evidence_of([]))
