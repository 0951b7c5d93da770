"""One call of the package pytauargus, in a process of its own: what it crashes at ends only that.

The folder has a problem and gets the numbers of the cells to hide. The package writes files that
hold values: into the temporary folder of this process, which is the same one.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.tables.cube import Cube, Dimension

PROBLEM, SOLUTION, REASON = "problem.npz", "solution.npy", "reason.txt"
OPTIMAL, MODULAR = "optimal", "modular"
_TOTAL = "all"
# Statuses of the package: hidden by hand before and by the method.
_PRIMARY, _SECONDARY = 9, (11, 12)


def save_problem(
    folder: Path, cube: Cube, method: str, seconds: float, cells: dict[str, Floats]
) -> None:
    """Write a problem: ``cells`` has values, demanded cells, bounds, costs, least values."""
    trees = {f"tree_{place}": one.parents for place, one in enumerate(cube.dimensions)}
    header = {"method": np.array(method), "seconds": np.array(seconds)}
    arrays: dict[str, Any] = {**header, **trees, **cells}
    np.savez(folder / PROBLEM, **arrays)


def main(folder: Path) -> None:
    """Solve the problem of a folder."""
    with np.load(folder / PROBLEM) as saved:
        problem = dict(saved)
    seconds = float(problem["seconds"])
    if hasattr(signal, "alarm"):  # ends it even where the process that waits for it was killed
        signal.alarm(int(seconds) + 5)
    trees = sum(name.startswith("tree_") for name in problem)
    parents = [problem[f"tree_{place}"] for place in range(trees)]
    # Categories are in the order of their tree, so that the codes are sorted as the package sorts.
    dimensions = [
        Dimension(f"d{place}", tuple(f"c{number:06d}" for number in range(len(one))), one)
        for place, one in enumerate(parents)
    ]
    solve = _optimal if problem["method"] == OPTIMAL else _modular
    # The limit of the package is of its processor time, in whole minutes.
    hidden = solve(folder, Cube(tuple(dimensions)), problem, max(1, int(seconds / 90)))
    np.save(folder / SOLUTION, hidden)


def _optimal(folder: Path, cube: Cube, problem: dict[str, Any], minutes: int) -> Ints:
    """Hide the cheapest cells; after the time limit, the cheapest that were found.

    The file says of each cell: value, whole cost, status (u: primary, z: shown, s: either), bounds
    that everybody knows, and protection below, above and in all.
    """
    values, demanded = problem["values"], problem["demanded"]
    highest = 2 * float((values + problem["upper"]).max())
    status = np.where(values == 0, "z", np.where(demanded, "u", "s"))
    columns = [problem[name] for name in ("cost", "least", "lower", "upper")]
    cells = [
        f"{number} {value:.0f} {cost:.0f} {kind} {least:.0f} {highest:.6f} {lower:.6f} "
        f"{upper:.6f} 0"
        for number, (value, kind, cost, least, lower, upper) in enumerate(
            zip(values, status, *columns, strict=True)
        )
    ]
    sums = [
        f"0 {len(parts) + 1} : {total} (-1) " + " ".join(f"{part} (1)" for part in parts)
        for total, parts in cube.lines()
    ]
    lines = ["0", str(cube.size), *cells, str(len(sums)), *sums, ""]
    (folder / "cells.jj").write_text("\n".join(lines), encoding="utf-8")
    found = folder / "found.jj"
    solver = import_module("pytauargus").HiTaSCtrl()
    code = solver.full_jj(
        in_file_jj=str(folder / "cells.jj"), out_file=str(found), max_time=minutes
    )
    if code > 1:  # 1: the time was over, with a pattern
        raise RuntimeError(f"FullJJ {code}")
    secondary = np.array(found.read_text(encoding="utf-8").split(), dtype=np.int64)
    return np.union1d(np.flatnonzero(demanded), secondary)


def _modular(folder: Path, cube: Cube, problem: dict[str, Any], minutes: int) -> Ints:
    """Hide cells subtable by subtable, from the totals down."""
    engine = import_module("pytauargus.engine").Engine()
    suppress = import_module("pytauargus.batch").Suppress
    _write_table(folder, cube, problem)
    engine.run_batch(folder / "table.arb")
    cells = engine._tau
    numbers = range(cube.size)
    before = [cells.get_table_cell_status(0, number) for number in numbers]
    read = np.array([cells.get_table_cell_value(0, number) for number in numbers])
    is_same = np.array_equal(read, problem["values"])
    if not is_same or np.any((np.array(before) == _PRIMARY) != problem["demanded"]):
        raise RuntimeError("order of cells")
    engine.suppress(suppress("MOD", 1, mod_max_time=minutes))
    status = np.array([cells.get_table_cell_status(0, number) for number in numbers])
    return np.flatnonzero(problem["demanded"] | np.isin(status, _SECONDARY))


def _write_table(folder: Path, cube: Cube, problem: dict[str, Any]) -> None:
    """Write cells, their description and what to do, as the package reads them.

    Statuses in capitals: the package raises those of the file, not those of the description.
    """
    described = ['<SEPARATOR> ";"', '<SAFE> "S"', '<UNSAFE> "U"', '<PROTECT> "P"']
    for dimension in cube.dimensions:
        described += [dimension.name, "<RECODEABLE>", f'<TOTCODE> "{_TOTAL}"']
        if dimension.parents.any():
            tree = folder / f"{dimension.name}.hrc"
            tree.write_text("".join(_branches(dimension)), encoding="utf-8")
            described += ["<HIERARCHICAL>", f'<HIERCODELIST> "{tree}"', '<HIERLEADSTRING> "@"']
    numeric = {"value": "", "cost": "<COST>", "lower": "<LOWERPL>", "upper": "<UPPERPL>"}
    for name, kind in numeric.items():
        described += [name, f"<NUMERIC> {kind}", f"<DECIMALS> {0 if name == 'value' else 6}"]
    described += ["status", "<STATUS>", ""]
    (folder / "table.rda").write_text("\n".join(described), encoding="utf-8")
    codes = [(_TOTAL, *dimension.labels[1:]) for dimension in cube.dimensions]
    columns = (problem[name] for name in ("values", "cost", "lower", "upper", "demanded"))
    with (folder / "table.tab").open("w", encoding="utf-8") as file:
        for categories, value, cost, lower, upper, is_primary in zip(
            cube.categories, *columns, strict=True
        ):
            labels = [code[category] for code, category in zip(codes, categories, strict=True)]
            numbers = [f"{value:.0f}", f"{cost:.6f}", f"{lower:.6f}", f"{upper:.6f}"]
            file.write(";".join([*labels, *numbers, "U" if is_primary else "S"]) + "\n")
    names = "".join(f'"{dimension.name}"' for dimension in cube.dimensions)
    commands = [
        f'<OPENTABLEDATA> "{folder / "table.tab"}"',
        f'<OPENMETADATA> "{folder / "table.rda"}"',
        f'<SPECIFYTABLE> {names}|"value"||"cost"',
        "<SAFETYRULE>",
        "<READTABLE>",
        "",
    ]
    (folder / "table.arb").write_text("\n".join(commands), encoding="utf-8")


def _branches(dimension: Dimension) -> list[str]:
    """Return the categories below the root, each after its parent, with a mark per level."""
    depth = np.zeros(len(dimension.parents), dtype=int)
    for number in range(1, len(depth)):
        depth[number] = depth[dimension.parents[number]] + 1
    return [
        "@" * (depth[number] - 1) + dimension.labels[number] + "\n"
        for number in range(1, len(depth))
    ]


if __name__ == "__main__":
    at = Path(sys.argv[1])
    try:
        main(at)
    except Exception as error:  # its text may have values
        (at / REASON).write_text(type(error).__name__, encoding="utf-8")
        os._exit(1)
    os._exit(0)  # the libraries of the package crash where they clean up
