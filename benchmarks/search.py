"""How long the search of the lattice takes, beside the plain ``group by`` that is its floor.

usage: python benchmarks/search.py [RECORDS]

Reads adult, cup and the survey from the folder DBT_ANONYMIZE_DATA (default ../shared/data) where it
exists; a table of RECORDS (default 1,000,000) is drawn with a seed in any case.
"""

from __future__ import annotations

import os

# One core: before numpy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from dbt_anonymize.information_loss.registry import make_loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.search.chain import chain
from dbt_anonymize.search.optimum import search
from dbt_anonymize.search.pareto import pareto_front

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tables import CodedTable, draw_table, read_table

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", REPOSITORY.parent / "shared" / "data"))
K = 5
LIMITS = ("0", "0.05", "1")
EFFORTS = 5
SURVEY = (1_193_504, 42)
Result = TypeVar("Result")


def main(records: int) -> None:
    """Search each table within several suppression limits and print what it took."""
    print(f"k = {K}, measure loss (geometric mean); times are CPU seconds of one core")
    for name, coded, limits in _tables(records):
        _, floor = timed(lambda coded=coded: _plain_group_by(coded))
        table = coded.grouped()
        print(f"\n{name}: {table.total:,} records, {len(table.records):,} distinct rows")
        print(f"  {'plain group by in DuckDB':<28}{floor:8.2f} s")
        for limit in limits:
            _measure(table, Decimal(limit))
        if len(table.records) < 100_000:
            _measure_efforts(table, Decimal("0.05"))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"\nlargest memory {memory:.2f} GB")


def _tables(records: int) -> Iterator[tuple[str, CodedTable, tuple[str, ...]]]:
    for name in ("adult", "cup"):
        if (DATA / name).is_dir():
            yield name, read_table(DATA / name / f"{name}.csv", DATA / name, name), LIMITS
        else:
            print(f"{name} is left out: no folder {DATA / name}")
    tool = DATA.parent / "tools" / "make_survey.py"
    if tool.is_file():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "survey.csv"
            rows, seed = SURVEY
            subprocess.run([sys.executable, tool, str(rows), file, str(seed)], check=True)  # noqa: S603
            survey = read_table(file, DATA / "survey_1m", "survey")
        yield "survey", survey, LIMITS[:2]
    yield "drawn", draw_table(records, seed=42), LIMITS[:2]


def _measure(table: Table, limit: Decimal) -> None:
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": K}], table)
    result, seconds = timed(lambda: search(table, guarantees, make_loss("loss"), limit))
    best = result.optimum
    found = "none" if best is None else f"loss {best.loss:.6f} at {best.node}"
    print(
        f"  {f'search, limit {limit}':<28}{seconds:8.2f} s  "
        f"{result.lattice_size:,} nodes ({result.lattice_size / seconds:,.0f}/s), "
        f"{result.checked:,} checked; {found}"
    )


def _measure_efforts(table: Table, limit: Decimal) -> None:
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": K}], table)
    loss = make_loss("loss")
    efforts, seconds = timed(lambda: chain(table, guarantees, loss, limit, EFFORTS))
    sizes = ", ".join(str(node.k) for _, node in efforts.points)
    print(f"  {f'chain, limit {limit}':<28}{seconds:8.2f} s  k {sizes}")
    front, seconds = timed(lambda: pareto_front(table, guarantees, loss, limit))
    print(f"  {f'Pareto front, limit {limit}':<28}{seconds:8.2f} s  {len(front.points)} points")


def _plain_group_by(coded: CodedTable) -> None:
    grouped = f"select count(*) as records from coded group by {coded.columns}"  # noqa: S608
    coded.connection.execute(f"select max(records) from ({grouped})").fetchall()  # noqa: S608


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a function returns and the CPU seconds that it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
