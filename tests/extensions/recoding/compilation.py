"""Shapes of tables with their recodings, and what frozen recodings compile to."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.extensions import has
from tests.projects import REPOSITORY
from tests.properties.compilation import Quasi, dbt

LEVELS = 3


@dataclass(frozen=True)
class Case:
    """A shape of table with the recoding that is made of it."""

    name: str
    quasi_identifiers: tuple[Quasi, ...]
    guarantees: tuple[Mapping[str, Any], ...]
    record_key: str = "record_id"
    sensitive: str = "disease"
    strict: bool = True
    has_subject: bool = False
    k: int | None = None
    rounds: tuple[tuple[int, ...], ...] = field(default=())
    # Whether records are generalized further only where their payout rises.
    is_paid: bool = False
    # Base levels of cell suppression, and how important each quasi-identifier is.
    levels: tuple[int, ...] = field(default=())
    importance: tuple[float, ...] = field(default=())
    # Of groups that are given: mean, median or interval.
    numbers: str | None = None
    categories: str = "ancestor"

    def hierarchy(self, position: int) -> str:
        """Return the name of the table of a hierarchy."""
        return f"{self.name}_hierarchy_{position}"

    @property
    def microdata(self) -> str:
        """Return the name of the table that is recoded."""
        return f"{self.name}_microdata"

    @property
    def required_k(self) -> int:
        """Return the smallest class that may be."""
        return max([g["k"] for g in self.guarantees if "k" in g] + [self.k or 0])


AGE = Quasi("age", "interval", "double")
CITY = Quasi("city", "categorical", "varchar")
K = {"model": "k_anonymity", "k": 2}
L = {"model": "l_diversity", "attribute": "disease", "variant": "distinct", "l": 2}
T = {"model": "t_closeness", "attribute": "disease", "distance": "equal", "t": 0.437}
HOSTILE = (
    Quasi('we"ird {{ x }}', "categorical", "varchar"),
    Quasi("größe", "interval", "date"),
    Quasi("select", "categorical", "varchar"),
)
ROUNDS = ((0, 1), (1, 1), (2, 1), (2, 3), (3, 3))
CASES = (
    Case("counted", (AGE, CITY), (K,)),
    Case("stronger", (AGE, CITY, Quasi("job", "categorical", "varchar")), (K,), k=4),
    Case("plane", (AGE, Quasi("income", "interval", "double")), (K,)),
    Case("relaxed", (AGE, CITY), (K,), strict=False),
    Case("relaxed_plane", (AGE, Quasi("income", "interval", "double")), (K,), strict=False),
    Case("measured", (AGE, CITY), (K, L, T)),
    Case("people", (CITY, AGE), (K, L), has_subject=True),
    Case(
        "hostile",
        HOSTILE,
        (K, {**L, "attribute": "line\nbreak"}),
        record_key="key with 'quotes'",
        sensitive="line\nbreak",
        strict=False,
        has_subject=True,
    ),
)
LOCAL_CASES = (
    Case("local", (AGE, CITY), (K,), rounds=ROUNDS),
    Case("local_stronger", (AGE, CITY), (K,), rounds=ROUNDS, k=4),
    Case("local_measured", (AGE, CITY), (K, L, T), rounds=ROUNDS),
    Case("local_once", (AGE, CITY), (K,), rounds=((1, 1),)),
    Case(
        "local_hostile",
        HOSTILE,
        (K, {**L, "attribute": "line\nbreak"}),
        record_key="key with 'quotes'",
        sensitive="line\nbreak",
        has_subject=True,
        rounds=((0, 1, 0), (1, 0, 2), (3, 2, 1), (3, 3, 3)),
    ),
)
GAME = {
    "model": "profitable",
    "publisher_benefit": 10,
    "publisher_loss": 12,
    "adversary_gain": 5,
    "adversary_cost": 0.5,
    "attacker": "prosecutor",
}
UP = ((0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 3))
_PAID_CASES = (
    Case("paid", (AGE, CITY), (K, GAME), rounds=UP, is_paid=True),
    Case(
        "paid_stronger",
        (AGE, CITY),
        (K, {"model": "no_attack", "adversary_gain": 4, "adversary_cost": 1}, GAME),
        rounds=UP[1::2],
        k=3,
        is_paid=True,
    ),
)
PAID_CASES = _PAID_CASES if has("payouts") else ()
CELL_CASES = (
    Case("cells", (AGE, CITY), (K,), levels=(0, 0)),
    Case(
        "cells_stronger",
        (AGE, CITY, Quasi("job", "categorical", "varchar")),
        (K,),
        k=4,
        levels=(1, 0, 1),
        importance=(2, 1, 1),
    ),
    Case("cells_one", (CITY,), (K,), levels=(1,)),
    Case("cells_measured", (AGE, CITY), (K, L, T), levels=(1, 1), importance=(1, 2.5)),
    Case(
        "cells_hostile",
        HOSTILE,
        (K, {**L, "attribute": "line\nbreak"}),
        record_key="key with 'quotes'",
        sensitive="line\nbreak",
        has_subject=True,
        levels=(0, 2, 1),
        importance=(1, 3, 2),
    ),
)


GROUPED_CASES = (
    Case("grouped", (AGE, CITY), (K,), numbers="mean"),
    Case("grouped_people", (CITY, AGE), (K,), has_subject=True, numbers="mean"),
    Case("grouped_median", (AGE, CITY), (K,), numbers="median"),
    Case("grouped_mode", (AGE, CITY), (K,), numbers="mean", categories="mode"),
    Case(
        "grouped_mode_people",
        (CITY, AGE),
        (K,),
        has_subject=True,
        numbers="interval",
        categories="mode",
    ),
)


def relation(name: str) -> str:
    """Return how a model refers to a table that is there already."""
    return f"source('main', {name!r})"


def quasi_identifiers(case: Case) -> str:
    """Return the argument of that name, as text."""
    listed = (
        f"{{'name': {q.name!r}, 'kind': {q.kind!r}, 'levels': {LEVELS}, 'nested': True, "
        f"'hierarchy': {relation(case.hierarchy(i))}}}"
        for i, q in enumerate(case.quasi_identifiers)
    )
    return "[" + ", ".join(listed) + "]"


def exact(case: Case) -> list[str]:
    """Return the numbers and dates of which values may be released as they are."""
    levels = [*case.rounds, *([case.levels] if case.levels else [])]
    return [
        q.name
        for place, q in enumerate(case.quasi_identifiers)
        if q.kind == "interval" and any(not one[place] for one in levels)
    ]


def frozen_parts(case: Case) -> dict[str, str]:
    """Return models whose text is what a frozen recoding is made of."""
    effort, microdata = relation(f"{case.name}_effort"), relation(case.microdata)
    quasi, key = quasi_identifiers(case), repr(case.record_key)
    labels = relation(f"{case.name}_labels")
    given = {
        "microdata": microdata,
        "quasi_identifiers": quasi,
        "record_key": key,
        "labels": labels,
        "exact": repr(exact(case)),
    }
    calls = {
        "_frozen_rows": "{" + ", ".join(f"'{name}': {text}" for name, text in given.items()) + "}",
        "_released_classes": f"{effort}, {microdata}, {key}, {quasi}",
        "_overlapping_classes": f"{effort}, {microdata}, {key}, {quasi}, {exact(case)!r}",
    }
    models = {
        f"{case.name}{macro}": f"{{{{ dbt_anonymize.{macro}({arguments}) }}}}"
        for macro, arguments in calls.items()
    }
    for place in range(len(case.quasi_identifiers)):
        call = f"dbt_anonymize._ordered_leaves({quasi}[{place}])"
        models[f"{case.name}_ordered_leaves_{place}"] = f"{{{{ {call} }}}}"
    return models


def write_project(folder: Path, models: Mapping[str, str], database: str) -> None:
    """Write a project with these models and all tables as sources."""
    tables = [
        {"name": name}
        for case in (*CASES, *LOCAL_CASES, *PAID_CASES, *CELL_CASES)
        for name in [
            case.microdata,
            f"{case.name}_effort",
            f"{case.name}_labels",
            *map(case.hierarchy, range(len(case.quasi_identifiers))),
        ]
    ]
    flags = {"send_anonymous_usage_stats": False}
    project = {"name": "recodings", "version": "1.0", "profile": "recodings", "flags": flags}
    profile = {"target": "t", "outputs": {"t": {"type": "duckdb", "path": database}}}
    # JSON is YAML.
    texts = {
        "dbt_project.yml": json.dumps(project),
        "packages.yml": json.dumps({"packages": [{"local": "package"}]}),
        "profiles.yml": json.dumps({"recodings": profile}),
        "models/sources.yml": json.dumps(
            {"version": 2, "sources": [{"name": "main", "schema": "main", "tables": tables}]}
        ),
        **{f"models/{name}.sql": text for name, text in models.items()},
    }
    for file, text in texts.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    # The macros alone: the models of the demonstration need not be parsed.
    (folder / "package").mkdir()
    for part in ("dbt_project.yml", "macros"):
        (folder / "package" / part).symlink_to(REPOSITORY / part)
    dbt(folder, "deps")


@functools.cache
def frozen_statements() -> Mapping[str, str]:
    """Return the compiled SQL of frozen recodings by name."""
    models: dict[str, str] = {}
    for case in (*CASES, *LOCAL_CASES, *PAID_CASES, *CELL_CASES):
        models.update(frozen_parts(case))
    return compiled(models)


def compiled(models: Mapping[str, str]) -> Mapping[str, str]:
    """Return the compiled SQL of models by name."""
    with tempfile.TemporaryDirectory() as folder:
        write_project(Path(folder), models, ":memory:")
        results = dbt(Path(folder), "compile").results
    return {result.node.name: result.node.compiled_code for result in results}
