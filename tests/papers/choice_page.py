"""Page of the study of choices: figures of all choices, and how often they agree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dbt_anonymize.evaluation.problem import ZERO_RULE
from tests.docs.pages import DOCS
from tests.papers.choice_study import MEASURES, MODELS, NONE, choices, scores
from tests.papers.choice_tables import ARE_AVAILABLE, TABLES, Floats, Ints, Table
from tests.papers.pages import table_of, with_plots, with_tables

PAGE = DOCS / "papers" / "choice_study.md"
# By number of the effort; where none qualifies, a dot.
MARKS = "·▁▂▃▅▆█"
# By name of a figure, whether QNF is `1 - 1/k` instead of k.
QNFS = {"k": False, "bounded": True}
VARIED = ("measure", "model", "table")
_WIDTH = 22
Names = tuple[str, ...]
TREES = ("decision_tree", "random_forest", "extra_trees", "bagging")
NEAREST = ("k_nearest_neighbours",)
OTHERS = tuple(name for name in MODELS if name not in NEAREST)
LABELS, CHANCES = MEASURES[:3], MEASURES[4:]
# Made after the numbers were seen.
GROUPS: Mapping[str, tuple[str, Names, Names]] = {
    "tree, forest, extra trees, bagging": ("model", TREES, TREES),
    "all models but nearest neighbours": ("model", OTHERS, OTHERS),
    "nearest neighbours and another model": ("model", NEAREST, OTHERS),
    "accuracy, balanced accuracy, f1": ("measure", LABELS, LABELS),
    "Brier score, log loss": ("measure", CHANCES, CHANCES),
    "one of these three, and of these two": ("measure", LABELS, CHANCES),
    "log loss and another measure": ("measure", CHANCES[1:], MEASURES[:5]),
}
# What explains most differences: model and measure in the table of wines.
EXPLAINED = tuple(
    (model, measure)
    for model in ("decision_tree", "k_nearest_neighbours")
    for measure in ("accuracy", "log_loss")
)


class Pair(NamedTuple):
    """k of two choices, and whether they are the same effort."""

    one: int | None
    two: int | None
    is_same: bool


@dataclass(frozen=True)
class Choices:
    """The chosen effort by table, shape (models, measures), and k of each effort of a table."""

    chosen: Mapping[str, Ints]
    k: Mapping[str, Sequence[int]]

    def pairs(self, varied: str, ones: Names = (), others: Names = ()) -> Iterator[Pair]:
        """Yield k of choices that differ in one thing alone, and whether the effort is the same.

        One is among ``ones`` and another among ``others``, all if none are named. k is None where
        no effort qualifies; pairs without any choice are left out.
        """
        everything = np.stack([*self.chosen.values()])
        names = {"table": [*self.chosen], "model": [*MODELS], "measure": [*MEASURES]}
        axis = [*names].index(varied)
        for place in np.ndindex(everything.shape):
            for other in range(place[axis] + 1, everything.shape[axis]):
                there = (*place[:axis], other, *place[axis + 1 :])
                one, two = int(everything[place]), int(everything[there])
                if (one != NONE or two != NONE) and _are_between(
                    (names[varied][place[axis]], names[varied][other]), ones, others
                ):
                    ks = (
                        self._k(names["table"][at[0]], n) for at, n in ((place, one), (there, two))
                    )
                    yield Pair(*ks, is_same=one == two)

    def _k(self, table: str, number: int) -> int | None:
        return None if number == NONE else self.k[table][number - 1]

    def agreement(self, varied: str, ones: Names = (), others: Names = ()) -> str:
        """Return the share of pairs with the same effort."""
        share = np.mean([pair.is_same for pair in self.pairs(varied, ones, others)])
        return f"{share:.0%}"

    def ratio(self, varied: str, *, is_other: bool) -> str:
        """Return the median ratio of k, of all pairs or of those with another effort."""
        ratios = [
            max(pair.one, pair.two) / min(pair.one, pair.two)
            for pair in self.pairs(varied)
            if pair.one and pair.two and not (is_other and pair.is_same)
        ]
        return f"{np.median(ratios):.0f}"

    def most(self, table: str) -> tuple[int, int]:
        """Return the effort that most combinations choose, the weakest of several, and how many."""
        counts = Counter(self.chosen[table].ravel().tolist())
        return min(counts.items(), key=lambda item: (-item[1], item[0]))


@cache
def scored(name: str) -> tuple[Table, Mapping[str, Floats]]:
    """Return a table and the scores of all models."""
    table = TABLES[name]()
    return table, scores(table, MODELS)


def computed(*, is_bounded: bool) -> tuple[Choices, float]:
    """Return all choices, and how often splits that are drawn again lead to the same effort."""
    chosen, k, shares = {}, {}, []
    for name in TABLES:
        table, qf = scored(name)
        found = [choices(table, qf[m], qf[ZERO_RULE], is_bounded=is_bounded) for m in MODELS]
        chosen[name] = np.array([[number for number, _ in of_model] for of_model in found])
        k[name] = [effort.k for effort in table.efforts[1:]]
        shares += [share for of_model in found for number, share in of_model if number != NONE]
    return Choices(chosen, k), float(np.mean(shares))


def plot(choice: Choices) -> str:
    """Draw a bar per measure, in a line per model, as high as the chosen effort is strong."""
    widths = {name: max(len(MEASURES), len(name)) for name in choice.chosen}
    lines = [" " * _WIDTH + "  ".join(f"{name:<{width}}" for name, width in widths.items())]
    for place, model in enumerate(MODELS):
        bars = (
            f"{''.join(MARKS[number] for number in choice.chosen[name][place]):<{width}}"
            for name, width in widths.items()
        )
        lines.append(f"{model:<{_WIDTH}}" + "  ".join(bars))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def read(text: str, kind: str) -> Choices:
    """Return the choices that a figure of the page shows, with k of its table."""
    figure = re.search(rf"^```text choices {kind}\n(.*?)^```$", text, re.M | re.S)
    assert figure
    header, *lines = figure[1].splitlines()
    starts = {name: header.index(name) for name in header.split()}
    chosen = {
        name: np.array([[MARKS.index(m) for m in ln[at:][: len(MEASURES)]] for ln in lines])
        for name, at in starts.items()
    }
    cells = [line.strip("| ").split(" | ") for line in table_of(text, "tables")]
    return Choices(chosen, {cell[0]: [*map(int, cell[1].split(", "))] for cell in cells})


def rows_of_tables(choice: Choices) -> list[dict[str, Any]]:
    """Return what is told of each table."""
    rows = []
    for name, chosen in choice.chosen.items():
        (number, count), of_table = choice.most(name), choice.k[name]
        k = [of_table[n - 1] for n in chosen.ravel() if n != NONE]
        rows.append(
            {
                "table": name,
                "k of efforts 1 to 6": ", ".join(map(str, of_table)),
                "chosen most": f"effort {number}, k = {of_table[number - 1]}" if number else "none",
                "by": f"{count} of {chosen.size}",
                "chosen k": f"{min(k)} to {max(k)}" if k else "",
                "none qualifies": int((chosen == NONE).sum()),
            }
        )
    return rows


def rows_of_agreement(
    by_qnf: Mapping[str, Choices], redrawn: Sequence[str]
) -> list[dict[str, str]]:
    """Return how often the same effort is chosen where one thing is varied, by QNF."""
    choice, bounded = by_qnf.values()

    def row(varied: str, same: str, all_ratio: str, other_ratio: str, also: str) -> dict[str, str]:
        return {
            "varied": varied,
            "same effort": same,
            "ratio of k": all_ratio,
            "where it is another": other_ratio,
            "same effort, `1 - 1/k`": also,
        }

    noise, also = redrawn
    rows = [row("splits, drawn again", noise, "", "", also)]
    for varied in VARIED:
        ratios = (choice.ratio(varied, is_other=is_other) for is_other in (False, True))
        rows.append(row(varied, choice.agreement(varied), *ratios, bounded.agreement(varied)))
    return rows


def rows_of_groups(by_qnf: Mapping[str, Choices]) -> list[dict[str, str]]:
    """Return how often models or measures of a group agree."""
    headers = ("same effort", "same effort, `1 - 1/k`")
    return [
        {"among": name}
        | {h: c.agreement(*group) for h, c in zip(headers, by_qnf.values(), strict=True)}
        for name, group in GROUPS.items()
    ]


def rows_of_wine(qf: Mapping[str, Floats]) -> list[dict[str, str]]:
    """Return the mean QF by effort of what explains most."""
    rows = []
    for model, measure in EXPLAINED:
        means = qf[model][:, MEASURES.index(measure)].mean(-1)
        cells = {f"{number}": f"{mean:.2f}" for number, mean in enumerate(means)}
        rows.append({"QF in wine": f"{model}, {measure}"} | cells)
    return rows


def _are_between(pair: tuple[str, str], ones: Names, others: Names) -> bool:
    one, two = pair
    return not ones or (one in ones and two in others) or (two in ones and one in others)


def with_choices(text: str) -> str:
    """Return the page with its figures and tables as they are computed."""
    found = {kind: computed(is_bounded=is_bounded) for kind, is_bounded in QNFS.items()}
    by_qnf = {kind: choice for kind, (choice, _) in found.items()}
    redrawn = [f"{share:.0%}" for _, share in found.values()]
    text = with_plots(text, "choices", lambda kind: plot(by_qnf[kind]))
    tables = {
        "tables": rows_of_tables(by_qnf["k"]),
        "agreement": rows_of_agreement(by_qnf, redrawn),
        "groups": rows_of_groups(by_qnf),
        "wine": rows_of_wine(scored("wine")[1]),
    }
    return with_tables(text, tables)


def write() -> None:
    """Write what is computed into the page, if the data are there."""
    if ARE_AVAILABLE:
        PAGE.write_text(with_choices(PAGE.read_text("utf-8")), encoding="utf-8")
