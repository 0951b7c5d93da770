"""Losses of record suppression, cell suppression and local recoding, counted cell by cell."""

from __future__ import annotations

from typing import Any

from tests.case_studies.building import Built

NAME = "cell_suppression"
CELLS = f"{NAME}_cells"
# The base levels of all but the last effort, which begins with the values themselves.
BASE = {
    "sex": 0,
    "race": 0,
    "marital_status": 1,
    "education": 1,
    "country": 1,
    "workclass": 1,
    "occupation": 1,
    "age": 2,
}
EFFORTS = 5


def rows(built: Built, relation: str) -> list[dict[str, Any]]:
    """Return the rows of a relation, or for `CELLS` what each effort loses."""
    return (
        [_lost(built, n) for n in range(1, EFFORTS + 1)]
        if relation == CELLS
        else built.rows(relation)
    )


def _lost(built: Built, effort: int) -> dict[str, Any]:
    """Count the cells that are gone: `*`, or those of a record that is left out.

    ``coarser`` are those that are released above the base level, but not gone.
    """
    gone = " + ".join(f"case when is_suppressed or {name} = '*' then 1 else 0 end" for name in BASE)
    coarser = "0"
    if effort > 1:
        coarser = " + ".join(
            f"case when not is_suppressed and {name} <> '*' and {name}_level > {level} "
            "then 1 else 0 end"
            for name, level in BASE.items()
        )
    ((lost, further, suppressed),) = built.project.query(
        f"select avg({gone}) / {len(BASE)}, avg({coarser}) / {len(BASE)}, "
        f"avg(case when is_suppressed then 1.0 else 0 end) from main.{NAME}_effort_{effort}"
    )
    return {
        "effort": effort,
        "lost": float(lost),
        "coarser": float(further),
        "suppressed": float(suppressed),
    }
