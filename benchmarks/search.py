"""Time of the search of the lattice, for every measure and three kinds of guarantees.

usage: python benchmarks/search.py [--tables adult cup survey drawn] [--measures loss ...]
       [--limits 0 0.04] [--models k_anonymity l_diversity ...] [--efforts] [--repeat 3]

Reads adult and cup from the folder DBT_ANONYMIZE_DATA (default ../shared/data) where they exist, on
request also the survey, and a table of ``--records`` drawn with a seed. Seconds are CPU seconds of
one core, the least of some repetitions; a ratio is to ``loss`` on the same table, guarantees and
limit, and `over k` to k-anonymity alone. ``--efforts`` measures chain and Pareto front too.
"""

from __future__ import annotations

import os

# One core: before numpy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from dbt_anonymize.extensions.search.chain import chain
from dbt_anonymize.extensions.search.losses.registry import LOSSES, make_loss
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.pareto import pareto_front
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tables import CodedTable, draw_table, read_table

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", REPOSITORY.parent / "shared" / "data"))
K = {"model": "k_anonymity", "k": 5}
# On top of k-anonymity, for the column that is sensitive instead of a quasi-identifier.
MODELS: Mapping[str, dict[str, Any] | None] = MappingProxyType(
    {
        "k_anonymity": None,
        "distinct l_diversity": {"model": "l_diversity", "l": 3, "variant": "distinct"},
        "entropy l_diversity": {"model": "l_diversity", "l": 3, "variant": "entropy"},
        "t_closeness": {"model": "t_closeness", "t": 0.4, "distance": "equal"},
    }
)
SENSITIVE = MappingProxyType({"adult": "occupation", "cup": "INCOME"})
# Of the table whose sensitive column is also the target.
WITH_TARGET = "classification_metric"
EFFORTS = 5
SURVEY = (1_193_504, 42)
Result = TypeVar("Result")


def main(arguments: argparse.Namespace) -> None:
    """Search each table with all quasi-identifiers, then with a sensitive column."""
    print("k = 5; CPU seconds of one core (ratio to loss on the same table) and nodes checked")
    for name, coded in _tables(arguments):
        _, floor = timed(lambda coded=coded: _plain_group_by(coded))
        table = coded.grouped()
        print(f"\n{name}: {table.total:,} records, {len(table.records):,} distinct rows", end="")
        print(f"; a plain group by in DuckDB takes {floor:.2f} s")
        if "k_anonymity" in arguments.models:
            _measure_all(table, [K], arguments, [m for m in arguments.measures if m != WITH_TARGET])
        if arguments.efforts:
            for measure in arguments.measures:
                if measure != WITH_TARGET:
                    _measure_efforts(table, measure, arguments)
        if name in SENSITIVE:
            _measure_models(coded.grouped(SENSITIVE[name]), SENSITIVE[name], arguments)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"\nlargest memory {memory:.2f} GB")


def _tables(arguments: argparse.Namespace) -> Iterator[tuple[str, CodedTable]]:
    for name in ("adult", "cup"):
        if name not in arguments.tables:
            continue
        if (DATA / name).is_dir():
            yield name, read_table(DATA / name / f"{name}.csv", DATA / name, name)
        else:
            print(f"{name} is left out: no folder {DATA / name}")
    tool = DATA.parent / "tools" / "make_survey.py"
    if "survey" in arguments.tables and tool.is_file():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "survey.csv"
            rows, seed = SURVEY
            subprocess.run([sys.executable, tool, str(rows), file, str(seed)], check=True)  # noqa: S603
            survey = read_table(file, DATA / "survey_1m", "survey")
        yield "survey", survey
    if "drawn" in arguments.tables:
        yield "drawn", draw_table(arguments.records, seed=42)


def _measure_models(table: Table, sensitive: str, arguments: argparse.Namespace) -> None:
    alone: dict[tuple[str, str], float] = {}
    for model in arguments.models:
        declared = MODELS[model]
        guarantees = [K] if declared is None else [K, {**declared, "attribute": sensitive}]
        print(f"\n  {sensitive} is sensitive: {model}")
        found = _measure_all(table, guarantees, arguments, arguments.measures, alone)
        if declared is None:
            alone = found


def _measure_all(
    table: Table,
    declared: Sequence[dict[str, Any]],
    arguments: argparse.Namespace,
    measures: Sequence[str],
    alone: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> dict[tuple[str, str], float]:
    """Search by each measure within each limit, print a line each, and return the seconds."""
    guarantees = compile_guarantees(list(declared), table)
    spent: dict[tuple[str, str], float] = {}
    for limit in arguments.limits:
        for measure in measures:
            found = [
                timed(
                    lambda m=measure, x=limit: search(table, guarantees, make_loss(m), Decimal(x))
                )
                for _ in range(arguments.repeat)
            ]
            seconds, result = min(s for _, s in found), found[0][0]
            spent[measure, limit] = seconds
            ratio = seconds / spent.get(("loss", limit), seconds)
            best = result.optimum
            print(
                f"  limit {limit:<5} {measure:<23}{seconds:8.2f} s ({ratio:5.1f} x) "
                f"{result.checked:>7,} of {result.lattice_size:,}; "
                + ("none" if best is None else f"{best.loss:.10g} at {best.node}")
                + (f"; {seconds / alone[measure, limit]:.1f} x over k" if alone else ""),
                flush=True,
            )
    return spent


def _measure_efforts(table: Table, measure: str, arguments: argparse.Namespace) -> None:
    guarantees = compile_guarantees([K], table)
    for limit in arguments.limits:
        share = Decimal(limit)
        efforts, seconds = timed(
            lambda share=share: chain(table, guarantees, make_loss(measure), share, EFFORTS)
        )
        sizes = ", ".join(str(node.k) for _, node in efforts.points)
        print(f"  limit {limit:<5} {measure:<23}{seconds:8.2f} s chain, k {sizes}")
        front, seconds = timed(
            lambda share=share: pareto_front(table, guarantees, make_loss(measure), share)
        )
        points = len(front.points)
        print(f"  limit {limit:<5} {measure:<23}{seconds:8.2f} s front of {points}", flush=True)


def _plain_group_by(coded: CodedTable) -> None:
    grouped = f"select count(*) as records from coded group by {coded.columns}"  # noqa: S608
    coded.connection.execute(f"select max(records) from ({grouped})").fetchall()  # noqa: S608


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a function returns and the CPU seconds that it took."""
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def parsed() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    others = sorted(set(LOSSES) - {"loss"})
    tables = ["adult", "cup", "survey", "drawn"]
    parser.add_argument("--tables", nargs="+", choices=tables, default=tables[:2])
    # `loss` comes first: the others are compared with it.
    parser.add_argument(
        "--measures", nargs="+", choices=["loss", *others], default=["loss", *others]
    )
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--limits", nargs="+", default=["0", "0.04"])
    parser.add_argument("--records", type=int, default=1_000_000, help="of the drawn table")
    parser.add_argument("--efforts", action="store_true", help="chain and Pareto front too")
    parser.add_argument("--repeat", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main(parsed())
