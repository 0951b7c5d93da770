"""Figures of the page of the fertility clinic: of the build of its spec, and of further tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import StratifiedShuffleSplit

from tests.case_studies.building import prepare
from tests.docs.pages import DOCS
from tests.papers.alpha import Effort
from tests.papers.designed_clinic import (
    EFFORTS,
    NAME,
    TREATMENTS,
    WIDTHS,
    K,
    patients,
    study,
)
from tests.papers.pages import Query, efforts_of_demonstration, with_plots, with_queries, with_rows
from tests.projects import Project

Floats = NDArray[np.float64]

PAGE = DOCS / "papers" / "fertility_clinic.md"
ALPHA = 1.1
CHOSEN, COLLAPSED = 5, (6, 7)
LOST_AT_MOST, LOST_AT_LEAST = 0.05, 0.2
SEEDS, CERTAINTIES, SPLITS = range(1, 21), (0.9, 0.8, 0.7), 5
WIDTH = 60


def spec() -> str:
    """Return the spec of the page."""
    found = re.search(r"^```yaml [\w/.]+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert found
    return found[1]


def build(folder: Path) -> Project:
    """Build the spec of the page on the table of seed 1."""
    project = prepare(folder, [study(1)], {NAME: spec()})
    project.build()
    return project


def quality(qf: float, k: int) -> float:
    """Return Q with the assumed weight of privacy."""
    return qf + ALPHA * (1 - 1 / k)


@dataclass(frozen=True)
class Model:
    """Mean QF of a model by effort, the untouched table first."""

    name: str
    qf: tuple[float, ...]
    k: tuple[int, ...]

    @property
    def chosen(self) -> int:
        """The effort with the largest quality; the untouched table is never released."""
        return max(range(1, len(self.k)), key=lambda n: quality(self.qf[n], self.k[n]))

    @property
    def is_alike(self) -> bool:
        """True if it behaves as the page demands of Bagging and of the others."""
        lost = [self.qf[0] - qf for qf in self.qf]
        return (
            self.chosen == CHOSEN
            and all(lost[n] <= LOST_AT_MOST for n in range(1, CHOSEN + 1))
            and all(lost[n] > LOST_AT_LEAST for n in COLLAPSED)
        )


def models(query: Query) -> list[Model]:
    """Return the models of the build, the deciding one first, without the zero rule."""
    rows = query(
        f"select q.model, list(q.mean order by effort), list(r.k order by effort)"
        f" from main.{NAME}_quality as q inner join main.{NAME}_results as r using (effort)"
        " where q.measure = 'precision' and q.test_on = 'original' and q.model <> 'zero_rule'"
        " group by q.model order by q.model"
    )
    return [Model(name, tuple(qf), tuple(k)) for name, qf, k in rows]


def rows_of_models(query: Query) -> Iterator[list[Any]]:
    """Yield what the page tells of each model."""
    found = models(query)
    (bagging,) = [model for model in found if model.name == "bagging"]
    for model in found:
        first, (sixth, seventh) = model.qf[1 : CHOSEN + 1], (model.qf[n] for n in COLLAPSED)
        yield [
            model.name,
            f"{model.qf[0]:.3f}",
            f"{min(first):.3f} to {max(first):.3f}",
            f"{sixth:.3f}, {seventh:.3f}",
            model.chosen,
            f"{spearmanr(model.qf, bagging.qf).statistic:.2f}",
            model.is_alike,
        ]


def alphas_of(efforts: list[Effort], number: int) -> tuple[float, float]:
    """Return between which alphas an effort has the largest ``QF + alpha * k``.

    Examples
    --------
    >>> alphas_of([Effort(0, 1, 0.9), Effort(1, 5, 0.8), Effort(2, 15, 0.3)], 1)
    (0.025, 0.05)
    """
    (own,) = [effort for effort in efforts if effort.number == number]
    costs = {e: (own.qf - e.qf) / (e.k - own.k) for e in efforts if e.k != own.k}
    low = max(cost for e, cost in costs.items() if e.k < own.k)
    high = min(cost for e, cost in costs.items() if e.k > own.k)
    return round(low, 6), round(high, 6)


def efforts(query: Query) -> list[Effort]:
    """Return the efforts of the build."""
    return efforts_of_demonstration(query, NAME)


def features(rows: list[dict[str, str]], effort: int) -> Floats:
    """Return what Bagging learns from: intervals by their rank, treatments as indicators."""
    numbers = {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name in _N}
    if effort:
        for (name, widths), level in zip(WIDTHS.items(), EFFORTS[effort - 1], strict=True):
            start = 16 if name == "age" else 0
            numbers[name] = (numbers[name] - start) // widths[level - 1]
    treated = [[float(row["treatment"] == kind) for kind in TREATMENTS] for row in rows]
    return np.column_stack([*numbers.values(), np.array(treated)])


_N = frozenset({"age", "estradiol", "previous_treatments", "fsh", "lh"})


@cache
def precision(seed: int, sure: float, effort: int) -> float:
    """Return the mean precision of Bagging in a drawn table, computed without dbt."""
    rows = patients(seed, sure)
    needs = np.array([row["needs_medication"] == "yes" for row in rows])
    known = features(rows, effort)
    splits = StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=seed)
    hits = []
    for n, (train, test) in enumerate(splits.split(known, needs)):
        model = BaggingClassifier(random_state=n).fit(known[train], needs[train])
        hits.append(needs[test][model.predict(known[test])].mean())
    return float(np.mean(hits))


def rows_of_tables() -> Iterator[list[Any]]:
    """Yield by certainty of the need: median and range of QF, and how often effort 5 is chosen."""
    k = (1, *K)
    for sure in CERTAINTIES:
        drawn = np.array([[precision(seed, sure, n) for n in range(len(k))] for seed in SEEDS])
        chosen = [Model("bagging", tuple(qf), k).chosen == CHOSEN for qf in drawn]
        shown = (
            f"{np.median(qf):.2f} ({qf.min():.2f} to {qf.max():.2f})"
            for qf in drawn[:, [0, CHOSEN, COLLAPSED[0]]].T
        )
        yield [sure, *shown, f"{sum(chosen)} of {len(chosen)}"]


def plot_of_qualities(query: Query) -> str:
    """Draw QF, QNF and Q of each effort between 0 and 2."""
    lines = [f"{'effort':>7}{'k':>5}  0{'1':>{WIDTH // 2}}{'2':>{WIDTH // 2}}"]
    for effort in efforts(query):
        marks = {
            quality(effort.qf, effort.k): "◆",
            1 - 1 / effort.k: "○",
            effort.qf: "●",
        }
        cells = [" "] * (WIDTH + 1)
        for value, mark in marks.items():
            cells[round(value * WIDTH / 2)] = mark
        chosen = "  chosen" if effort.number == CHOSEN else ""
        lines.append(f"{effort.number:>7}{effort.k:>5}  {''.join(cells).rstrip()}{chosen}")
    return "\n".join(lines) + "\n"


def plot_of_regions(query: Query) -> str:
    """Draw what Bagging of the first split predicts by estradiol, the mean over all ages."""
    rows = query(
        f"select effort, y, avg(prediction) from main.{NAME}_decision_grid"
        " where model = 'bagging' and class = 'yes' group by effort, y order by effort, y"
    )
    by_effort: dict[int, dict[float, float]] = {}
    for effort, level, prediction in rows:
        by_effort.setdefault(effort, {})[level] = prediction
    (levels,) = {tuple(predictions) for predictions in by_effort.values()}
    marks: Mapping[int, str] = {levels.index(min(y for y in levels if y >= 80)): "80"}
    scale = "".join(marks.get(n, "  ") for n in range(len(levels)))
    lines = [f"{'effort':>7}{'k':>5}  {scale.rstrip()}"]
    for effort in efforts(query):
        shades = "".join(_shade(p) * 2 for p in by_effort[effort.number].values())
        lines.append(f"{effort.number:>7}{effort.k:>5}  {shades}")
    return "\n".join(lines) + "\n"


def _shade(probability: float) -> str:
    return "·░▓█"[min(3, int(probability * 4))]


def with_build(text: str, query: Query) -> str:
    """Return the page with what the build of its spec gives."""
    plots = {"qualities": plot_of_qualities, "regions": plot_of_regions}
    text = with_plots(with_queries(text, query), "clinic", lambda name: plots[name](query))
    return with_rows(text, "model", rows_of_models(query))


def with_tables(text: str) -> str:
    """Return the page with what Bagging gives in further tables."""
    return with_rows(text, "certainty", rows_of_tables())
