"""Costs of each mechanism on three real tables: the figures of ``docs/mechanisms.md``.

Every mechanism anonymizes each table at k = 5 from the same base levels. In a build the operating
system draws samples, never twice alike; so that the page can be confirmed, the vault holds seeded
draws before the build begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.hierarchies import CategoricalHierarchy, Hierarchy, IntervalHierarchy
from dbt_anonymize.spec import Spec
from tests.case_studies.building import Built, prepare
from tests.case_studies.preparation import (
    RECORD_KEY,
    Study,
    cell_suppression,
    contraceptive_method_choice,
    wisconsin_original,
)
from tests.docs.pages import DOCS
from tests.worlds.specs import (
    DROPPED,
    IDENTIFIER,
    INSENSITIVE,
    SENSITIVE,
    categories,
    intervals,
    spec_of,
)

Levels = Mapping[str, int]
PAGE = DOCS / "mechanisms.md"
_TABLE = re.compile(r"^\| mechanism \|.*\n(?:\|.*\n)+", re.M)


@dataclass(frozen=True)
class Table:
    """A table, its base levels, and what is done to it besides.

    ``private`` are the levels of the differentially private release, in which the target is a
    quasi-identifier and everything else is dropped. ``mask`` are the column that is kept and
    masked and the step to which it is rounded; ``shown`` is the quasi-identifier that stays.
    """

    study: Study
    target: str
    base: Levels
    private: Levels
    delta: float
    mask: tuple[str, int]
    shown: str
    positive: str | None = None
    identifier: str | None = None

    @property
    def name(self) -> str:
        """As a column of the page."""
        return self.study.name

    @property
    def whole(self) -> Study:
        """The study, with a hierarchy of the target besides, which hides it."""
        values = tuple(sorted({row[self.target] for row in self.study.rows}))
        tree = CategoricalHierarchy(values, (("*",) * len(values),))
        trees = {**self.study.hierarchies, self.target: tree}
        return replace(self.study, hierarchies=trees)

    @property
    def features(self) -> list[str]:
        """All columns but identifier and target."""
        return [name for name in self.study.rows[0] if name not in (self.identifier, self.target)]


def tables() -> list[Table]:
    """Read the three tables; numbers that a group's mean can be taken of have intervals."""
    adult = cell_suppression()
    answers = contraceptive_method_choice()
    numbers = {
        "wife_age": equal_width_intervals(15, 55, [5], merge=[2, 2]),
        "children_born": equal_width_intervals(0, 20, ["2.5"], merge=[2, 2]),
    }
    tumours = wisconsin_original()
    return [
        Table(
            Study("adult", adult.rows, adult.hierarchies),
            target="income",
            positive="high",
            base={
                **dict.fromkeys(("sex", "race"), 0),
                **dict.fromkeys(("marital_status", "education", "country"), 1),
                **dict.fromkeys(("workclass", "occupation"), 1),
                "age": 2,
            },
            private={"sex": 0, "marital_status": 1, "education": 1, "age": 3},
            delta=1e-4,
            mask=("age", 20),
            shown="country",
        ),
        Table(
            Study(
                "contraceptive",
                answers.rows,
                {**answers.hierarchies, **numbers},
                [name for name in answers.texts if name not in numbers],
            ),
            target="method",
            base={"wife_age": 1, "wife_education": 1, "children_born": 1},
            private={"wife_age": 2, "children_born": 2},
            delta=1e-3,
            mask=("wife_age", 10),
            shown="wife_education",
        ),
        Table(
            Study("wisconsin", tumours.rows, tumours.hierarchies),
            target="tumour",
            positive="malignant",
            identifier="patient",
            base={"clump_thickness": 1, "size_uniformity": 1, "bare_nuclei": 2},
            private={"size_uniformity": 2},
            delta=1e-3,
            mask=("clump_thickness", 5),
            shown="size_uniformity",
        ),
    ]


def _efforts(base: Levels, trees: Mapping[str, Hierarchy]) -> dict[str, dict[str, Any]]:
    """Return the efforts of one spec by the first words of their row in the page."""
    levels = {"levels": dict(base)}
    coarser = {name: level + 1 for name, level in base.items()}
    one_by_one = [
        {name: level + (place < raised) for place, (name, level) in enumerate(base.items())}
        for raised in range(len(base) + 1)
    ]
    return {
        "full-domain": levels,
        "local recoding": {"recoding": "local", "rounds": [dict(base), coarser]},
        "cell suppression": {"recoding": "cell_suppression", **levels},
        "multidimensional": {"recoding": "multidimensional"},
        "microaggregation": {"recoding": "microaggregation"},
        "systematic clustering": {"recoding": "clustering"},
        "any of these with `no_attack`": {
            **levels,
            "guarantees": {"no_attack": {"adversary_gain": 50, "adversary_cost": 5}},
        },
        "payout per record": {
            "recoding": "local",
            "rounds": one_by_one,
            "maximize": "publisher_payout",
            "guarantees": {"profitable": {"publisher_loss": 2000, "adversary_gain": 2000}},
        },
        "mean or mode": {"levels": {n: _shown(level, trees[n]) for n, level in base.items()}},
    }


def _shown(level: int, tree: Hierarchy) -> Any:
    """Return a level whose classes show their mean or mode; raw values stay."""
    show = "mean" if isinstance(tree, IntervalHierarchy) else "mode"
    return {"level": level, "show": show} if level else 0


def specs(table: Table) -> dict[str, dict[str, Any]]:
    """Return the specs by name; the last word of a name says what is released."""
    levels, kept = dict(table.base), [n for n in table.features if n not in table.base]
    shown = {table.shown: 1}
    masked, step = table.mask
    rounded = {masked: {"role": "insensitive", "mask": {"round": step}}}
    private = {**table.private, table.target: 0}
    return {
        f"{table.name}_efforts": _spec(
            table, levels, kept, [*_efforts(levels, table.whole.hierarchies).values()]
        ),
        f"{table.name}_sample": _spec(
            table, levels, kept, [{"levels": levels, "sample": {"share": 0.5}}]
        ),
        f"{table.name}_masks": _spec(
            table,
            shown,
            [name for name in table.features if name not in shown],
            [{"levels": shown}],
            rounded,
        ),
        f"{table.name}_private": _spec(table, private, [], [{"levels": private}])
        | {
            "guarantees": {
                "k_anonymity": {"k": 2},
                "differential_privacy": {"epsilon": 1, "delta": table.delta},
            },
            "suppression_limit": 1,
            "release": {"effort": 1},
        },
    }


def _spec(
    table: Table,
    levels: Levels,
    kept: list[str],
    efforts: Sequence[Any],
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a spec: quasi-identifiers have levels, all other columns are kept or dropped."""
    columns: dict[str, Any] = dict.fromkeys(table.study.rows[0], DROPPED)
    if table.identifier:
        columns[table.identifier] = IDENTIFIER
    columns |= dict.fromkeys(kept, INSENSITIVE) | dict(more or {})
    columns[table.target] = SENSITIVE
    columns |= {name: _quasi_identifier(table, name) for name in levels}
    quality = {"model": "decision_tree", "parameters": {"max_depth": 6}, "measure": "roc_auc"}
    if table.positive:
        quality["positive"] = table.positive
    return spec_of(
        "",
        columns,
        source={"ref": f"{table.name}_source"},
        record_key=RECORD_KEY,
        target=table.target,
        features=[*(name for name in levels if name != table.target), *kept],
        efforts=efforts,
        guarantees={"k_anonymity": {"k": 5}},
        suppression_limit=0.95,
        quality=quality | {"repetitions": 5},
        qnf="1 - 1/k",
    )


def _quasi_identifier(table: Table, column: str) -> dict[str, Any]:
    tree: Hierarchy = table.whole.hierarchies[column]
    kind = intervals if isinstance(tree, IntervalHierarchy) else categories
    return kind(f"{table.name}_hierarchy_{column}", tree.levels)


def build(folder: Path) -> Built:
    """Build all releases of all tables, samples from seeded draws."""
    chosen = tables()
    texts = {
        name: yaml.safe_dump(spec | {"name": name}, sort_keys=False)
        for table in chosen
        for name, spec in specs(table).items()
    }
    project = prepare(folder, [table.whole for table in chosen], texts)
    assert project.dbt("seed").succeeded
    for table in chosen:
        draws = np.random.default_rng(1).random(len(table.study.rows)).tolist()
        for name in (f"{table.name}_sample", f"{table.name}_private"):
            mechanism = Spec.model_validate(yaml.safe_load(texts[name])).mechanism
            known = f", '{mechanism}' as mechanism" if mechanism else ""
            project.execute(
                f"create table vault.main.{name}_sample as select {RECORD_KEY} as person,"
                f" list_extract({draws}, {RECORD_KEY}) as draw, '{RECORD_KEY}' as identified_by"
                f"{known} from {table.name}_source"
            )
    project.build()
    return Built(project)


def releases(name: str) -> dict[str, tuple[str, int]]:
    """Return anonymization and effort of each row of the page, by how the row begins."""
    efforts = {row: (f"{name}_efforts", n) for n, row in enumerate(_efforts({}, {}), start=1)}
    return efforts | {
        "random sample and suppression": (f"{name}_private", 1),
        "sampling a release": (f"{name}_sample", 1),
        "masks of kept columns": (f"{name}_masks", 1),
    }


def confirmed(text: str, built: Built) -> str:
    """Return the page with what the builds give: loss and change of AUC, per row and table."""

    def filled(line: str) -> str:
        *words, _, _, _ = line.strip("|").split("|")
        shown = [f" {_cost(built, *_release(table.name, words[0]))} " for table in tables()]
        return "|".join(["", *words, *shown, ""])

    rows = _TABLE.findall(text)[0].splitlines()[2:]
    return text.replace("\n".join(rows), "\n".join(map(filled, rows)))


def _release(table: str, cell: str) -> tuple[str, int]:
    (found,) = [place for row, place in releases(table).items() if cell.strip().startswith(row)]
    return found


def _cost(built: Built, name: str, effort: int) -> str:
    ((loss, difference),) = built.project.query(
        f"select loss, qf_difference from main.{name}_information_loss"
        f" inner join main.{name}_results using (effort) where effort = {effort}"
    )
    return f"{loss:.2f}, {round(difference, 3) + 0.0:+.3f}"


def numbers(built: Built, table: str, column: str) -> list[str]:
    """Return the mean of a column, and those and errors of middles and of what classes show."""
    name, effort = releases(table)["mean or mode"]
    middle = f"(e.{column}_lower + e.{column}_upper) / 2.0"
    shown = f"coalesce(try_cast(e.{column} as double), {middle})"
    errors = (f"sqrt(avg(power(m.{column} - {read}, 2)))" for read in (middle, shown))
    (found,) = built.project.query(
        f"select avg(m.{column}), avg({middle}), avg({shown}), {', '.join(errors)}"
        f" from main.{name}_effort_{effort} as e"
        f" inner join main.{name}_microdata as m using ({RECORD_KEY})"
        f" where not e.is_suppressed and e.{column} <> '*'"
    )
    return [f"{number:.2f}" for number in found]
