"""Random tables with columns of every plain type and a spec each, for the same build on engines.

What an engine calls a type is said where dbt runs, so the project is the same for all.
"""

from __future__ import annotations

import csv
import datetime
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.relations import MODELS
from tests.projects import Project, copy_consumer
from tests.worlds.specs import INSENSITIVE, SENSITIVE, categories, intervals, spec_of

EFFORTS = 2
# What is compared of each anonymization.
_COMPARED = ("microdata", "frequencies", "classes", "privacy", "information_loss", "risk_profile")
RELATIONS = (
    *(name for name in _COMPARED if name in MODELS),
    *(f"effort_{number}" for number in range(EFFORTS + 1)),
)
_LEAVES = 8
_FIRST = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Kind:
    """A type: what engines call it, and how a value of a numbered leaf is written.

    ``bound`` writes where a leaf begins; none: its values are categories.
    """

    types: tuple[str, str, str]  # DuckDB, Postgres, Spark
    value: Callable[[random.Random, int], str]
    bound: Callable[[int], str] | None = None

    @property
    def sql(self) -> str:
        """Say the type where dbt runs."""
        names = dict(zip(("duckdb", "postgres", "spark"), self.types, strict=True))
        return f"{{{{ {names}[target.type] }}}}"


def _day(days: float) -> datetime.datetime:
    return _FIRST + datetime.timedelta(days=days)


def _clock(days: float) -> str:
    return _day(days).replace(tzinfo=None).isoformat(" ", "seconds")


def _long_text(draw: random.Random, leaf: int) -> str:
    """Return a category of 3,000 characters with what needs quotes."""
    return f"{leaf} 'quoted' \"twice\" \\back, ünï " + "x" * 3000


KINDS = {
    "whole": Kind(
        ("integer", "integer", "int"), lambda d, leaf: str(10 * leaf + d.randrange(10)),
        lambda leaf: str(10 * leaf),
    ),
    "exact": Kind(
        ("numeric(12, 3)", "numeric(12, 3)", "decimal(12, 3)"),
        lambda d, leaf: f"{leaf + d.randrange(1000) / 1000:.3f}", lambda leaf: f"{leaf}.000",
    ),
    "double": Kind(
        ("double", "double precision", "double"),
        lambda d, leaf: repr(leaf / 4 + d.randrange(4) / 16), lambda leaf: repr(leaf / 4),
    ),
    "day": Kind(
        ("date", "date", "date"),
        lambda d, leaf: _day(30 * leaf + d.randrange(30)).date().isoformat(),
        lambda leaf: _day(30 * leaf).date().isoformat(),
    ),
    "clock": Kind(
        ("timestamp", "timestamp", "timestamp_ntz"),
        lambda d, leaf: _clock(leaf + d.randrange(86400) / 86400), _clock,
    ),
    "moment": Kind(
        ("timestamptz", "timestamp with time zone", "timestamp"),
        lambda d, leaf: _day(leaf + d.randrange(86400) / 86400).isoformat(" ", "seconds"),
        lambda leaf: _day(leaf).isoformat(" "),
    ),
    "truth": Kind(
        ("boolean", "boolean", "boolean"), lambda d, leaf: "true" if leaf % 2 else "false"
    ),
    "number": Kind(
        ("uuid", "uuid", "string"), lambda d, leaf: str(uuid.UUID(int=leaf * 7919**8 % 2**128))
    ),
    "text": Kind(("varchar", "text", "string"), _long_text),
}  # fmt: skip


def names(count: int) -> list[str]:
    """Return the names of so many anonymizations."""
    return [f"random_{number}" for number in range(count)]


def write(folder: Path, count: int, seed: int) -> Project:
    """Write tables, hierarchies and specs; nothing is built."""
    project = copy_consumer(folder)
    (folder / "models" / "unit_tests.yml").unlink()
    (folder / "anonymizations" / "customers.yml").unlink()
    for model in (folder / "models" / "customers").iterdir():
        model.unlink()
    (folder / "models" / "customers").rmdir()
    seeds: list[dict[str, Any]] = []
    for number, name in enumerate(names(count)):
        seeds += _write_table(folder, name, random.Random(1000 * seed + number))
    path = folder / "seeds" / "_random.yml"
    path.write_text(yaml.safe_dump({"seeds": seeds}), encoding="utf-8")
    generate(folder)
    _keep(folder / "models", built(count))
    return project


def _keep(models: Path, wanted: Sequence[str]) -> None:
    """Remove the models that nobody builds: dbt would read all of them."""
    for path in models.rglob("*.*"):
        if path.stem not in wanted:
            path.unlink()


def built(count: int) -> list[str]:
    """Return what dbt selects: everything up to the risk, without the evaluation."""
    return [f"{name}_{part}" for name in names(count) for part in RELATIONS]


def _write_table(folder: Path, name: str, draw: random.Random) -> list[dict[str, Any]]:
    """Write one table; return what dbt needs to know of its seeds."""
    kinds = draw.sample(sorted(KINDS.keys() - {"moment"}), draw.randint(2, 4))
    kept = draw.sample(sorted(KINDS), 2)
    share = draw.choice([0, 0.1, 0.3])
    columns = {f"qi {kind}": kind for kind in kinds} | {f"kept_{kind}": kind for kind in kept}
    rows = []
    for record in range(draw.randint(20, 60)):
        cells = [
            "" if draw.random() < share else KINDS[kind].value(draw, draw.randrange(_LEAVES))
            for kind in columns.values()
        ]
        rows.append([str(record), *cells, draw.choice(["a", "b", "c"])])
    rows[0][-1], rows[1][-1] = "a", "b"
    _write_csv(folder, f"{name}_source", ["id", *columns, "illness"], rows)
    types = {column: KINDS[kind].sql for column, kind in columns.items()}
    seeds = [
        _seed(f"{name}_source", types),
        *(_write_hierarchy(folder, f"{name}_hierarchy_{kind}", KINDS[kind]) for kind in kinds),
    ]
    roles: dict[str, Any] = {
        column: INSENSITIVE | ({"free_text": "accepted"} if kind == "text" else {})
        if column.startswith("kept")
        else _quasi_identifier(name, kind)
        for column, kind in columns.items()
    }
    spec = spec_of(
        name,
        roles | {"illness": SENSITIVE},
        record_key="id",
        mapping="none",
        target="illness",
        features=[f"qi {kinds[0]}"],
        efforts=[
            {f"qi {kind}": draw.randint(0, 3) for kind in kinds} | {f"qi {kinds[0]}": level}
            for level in draw.sample(range(1, 4), EFFORTS)
        ],
        guarantees={
            "k_anonymity": {"k": draw.randint(2, 4)},
            "l_diversity": {"attribute": "illness", "l": 2},
        },
        suppression_limit=0.99,
    )
    path = folder / "anonymizations" / f"{name}.yml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    return seeds


def _quasi_identifier(name: str, kind: str) -> dict[str, Any]:
    declared = intervals if KINDS[kind].bound else categories
    return declared(f"{name}_hierarchy_{kind}", 3)


def _write_hierarchy(folder: Path, name: str, kind: Kind) -> dict[str, Any]:
    """Write a hierarchy of eight leaves and three levels."""
    if kind.bound:
        lines = [
            [kind.bound(leaf), kind.bound(leaf + 1), f"leaf {leaf}", f"pair {leaf // 2}", "*"]
            for leaf in range(_LEAVES)
        ]
        _write_csv(
            folder, name, ["lower_bound", "upper_bound", "level_1", "level_2", "level_3"], lines
        )
        return _seed(name, {"lower_bound": kind.sql, "upper_bound": kind.sql})
    values = sorted({kind.value(random.Random(0), leaf) for leaf in range(_LEAVES)})
    lines = [
        [value, f"pair {place // 2}", f"four {place // 4}", "*"]
        for place, value in enumerate(values)
    ]
    _write_csv(folder, name, ["value", "level_1", "level_2", "level_3"], lines)
    return _seed(name, {"value": KINDS["text"].sql})


def _write_csv(
    folder: Path, name: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    with (folder / "seeds" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def _seed(name: str, types: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "config": {"column_types": types, "quote_columns": True}}
