"""Ask pycanon for the k of small random tables and keep its answers beside this file.

pycanon pins old versions of numpy and pandas, so it cannot live in the environment of the project.
Run this by hand, from the root of the repository, in an environment of its own::

    python -m venv <a new folder>
    <a new folder>/bin/pip install pycanon==1.3.6
    <a new folder>/bin/python tests/oracle/make_pycanon_expectations.py

The tables avoid what pycanon reads otherwise than we do: it drops records with NULL where there is
one quasi-identifier, and it counts categories that do not occur, so values are plain numbers and
texts and there is no NULL. The index of every frame is 0, 1, 2, ...: pycanon uses it as position.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

EXPECTATIONS = Path(__file__).with_name("pycanon_expectations.json")
TABLES_PER_SHAPE = 10
LEVELS = 3
# The order of the kinds names a shape; the tests know the same shapes.
SHAPES = (
    ("interval",),
    ("categorical", "interval"),
    ("interval", "categorical", "categorical"),
    ("categorical", "interval", "categorical", "interval"),
)
WORDS = ("Ulm", "Bonn", "Köln", "01067", "1067", "Saint-Étienne", "St. John's", "a|b", "t3:", "NA")


def interval_hierarchy(draw: random.Random) -> list[list[Any]]:
    """Return rows of lower bound, upper bound and three labels; pairs of intervals are merged."""
    width = draw.choice([0.5, 1.0, 2.5, 10.0])
    start = draw.choice([-20.0, 0.0, 18.0])
    bounds = [start + width * i for i in range(draw.randint(2, 9))]
    rows: list[list[Any]] = []
    for i, (lower, upper) in enumerate(itertools.pairwise(bounds)):
        rows.append([lower, upper, f"[{lower}, {upper})", f"pair {i // 2}", "*"])
    return rows


def categorical_hierarchy(draw: random.Random) -> list[list[Any]]:
    """Return rows of value and three labels; groups of values are merged twice."""
    values = draw.sample(WORDS, draw.randint(2, len(WORDS)))
    groups = [draw.randint(0, 3) for _ in values]
    return [[v, f"group {g}", f"part {g % 2}", "*"] for v, g in zip(values, groups, strict=True)]


def generalized(kind: str, hierarchy: list[list[Any]], level: int) -> dict[Any, Any]:
    """Return what each value is shown as; there are three values for each interval."""
    if kind == "categorical":
        return {row[0]: row[level] for row in hierarchy}
    return {
        value: value if level == 0 else row[level + 1]
        for row in hierarchy
        for value in interval_values(row)
    }


def interval_values(row: list[Any]) -> tuple[float, float, float]:
    """Return the lower bound, the midpoint and a value just below the upper bound."""
    lower, upper = float(row[0]), float(row[1])
    return lower, (lower + upper) / 2, upper - 2**-20


def vectors(columns: int) -> list[list[int]]:
    """Return uniform levels and two mixed vectors."""
    uniform = [[level] * columns for level in range(LEVELS + 1)]
    mixed = [[(position + shift) % LEVELS for position in range(columns)] for shift in (1, 2)]
    return [vector for i, vector in enumerate([*uniform, *mixed]) if vector not in uniform[:i]]


def table(draw: random.Random, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return a random table, its hierarchies, and pycanon's k for each vector of levels."""
    makers = {"interval": interval_hierarchy, "categorical": categorical_hierarchy}
    hierarchies = [makers[kind](draw) for kind in kinds]
    pools = [list(generalized(k, h, 0)) for k, h in zip(kinds, hierarchies, strict=True)]
    people = [[draw.choice(pool) for pool in pools] for _ in range(draw.randint(1, 6))]
    # Repeated records, or k would be 1 nearly everywhere.
    records = [list(person) for person in people for _ in range(draw.randint(1, 6))]
    records += [[draw.choice(pool) for pool in pools] for _ in range(draw.choice([0, 0, 1, 20]))]
    draw.shuffle(records)
    return {
        "kinds": kinds,
        "hierarchies": hierarchies,
        "records": records,
        "k": [
            {"levels": levels, "k": k_of(kinds, hierarchies, records, levels)}
            for levels in vectors(len(kinds))
        ],
    }


def k_of(
    kinds: tuple[str, ...],
    hierarchies: list[list[list[Any]]],
    records: list[list[Any]],
    levels: list[int],
) -> int:
    """Return pycanon's k of the table generalized to these levels."""
    import pandas as pd
    from pycanon import anonymity

    images = [
        generalized(kind, hierarchy, level)
        for kind, hierarchy, level in zip(kinds, hierarchies, levels, strict=True)
    ]
    names = [f"attribute_{i}" for i in range(len(kinds))]
    rows = [[image[v] for image, v in zip(images, r, strict=True)] for r in records]
    return int(anonymity.k_anonymity(pd.DataFrame(rows, columns=names), names))


def main() -> None:
    """Write the expectations."""
    draw = random.Random(20260101)
    tables = [table(draw, kinds) for kinds in SHAPES for _ in range(TABLES_PER_SHAPE)]
    text = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in tables)
    EXPECTATIONS.write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
