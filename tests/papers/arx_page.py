"""The page about the ARX machine-learning article: what its tables should show."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.case_studies.preparation import is_available
from tests.docs.pages import DOCS
from tests.oracle.differential_privacy import excess
from tests.papers import arx_acute, arx_builds, arx_contraceptives, arx_figure_2, arx_tumours
from tests.papers.pages import with_tables

PAGE = DOCS / "papers" / "arx_machine_learning.md"
STUDIES_OF_PAGE = ("acute_inflammations", "wisconsin_original", "contraceptive_method_choice")
Rows = Sequence[Mapping[str, Any]]


def epsilon_and_delta(beta: float, k: int) -> tuple[float, float]:
    """Return the least epsilon that a sample allows, and delta of classes of k people of it.

    Examples
    --------
    >>> [round(value, 3) for value in epsilon_and_delta(0.6, 3)]
    [0.916, 0.216]
    """
    epsilon = -math.log(1 - beta)
    gamma = 1 - (1 - beta) * math.exp(-epsilon)
    exact = (arx_figure_2.as_decimal(epsilon), Fraction(str(beta)))
    # Beyond a hundred people the chance only falls.
    return epsilon, float(max(excess(n, *exact) for n in range(math.ceil(k / gamma - 1), 100)))


def tables() -> dict[str, Callable[[], Rows]]:
    """Return what computes each table of the page, by its name there."""
    return {
        "figure 2": _figure_2,
        "case 1": arx_acute.rows,
        "settings of case 1": arx_acute.rows_of_settings,
        "levels of case 1": arx_acute.rows_of_levels,
        "case 2": arx_tumours.rows,
        "five processes": arx_tumours.rows_of_processes,
        "case 3": arx_contraceptives.rows,
        "gains": arx_contraceptives.rows_of_gains,
        "payouts": arx_builds.payouts,
        "preprocessing": arx_builds.preprocessing,
        "benchmark": arx_builds.benchmark,
    }


def _figure_2() -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        return arx_figure_2.rows(arx_figure_2.build(Path(folder)))


def write() -> None:
    """Write what is computed into the page, if the data are there."""
    if not all(map(is_available, STUDIES_OF_PAGE)):
        return
    found = {name: compute() for name, compute in tables().items()}
    PAGE.write_text(with_tables(PAGE.read_text("utf-8"), found), encoding="utf-8")
