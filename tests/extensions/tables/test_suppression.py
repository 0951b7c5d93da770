"""Secondary suppression: nothing primary can be computed, at the least cost, and no file stays."""

from __future__ import annotations

import itertools
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from dbt_anonymize.extensions.tables import calls, suppression
from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.primary import Primary, by_minimum_frequency, by_p_percent
from tests.extensions.tables.untested import untested

pytestmark = pytest.mark.sampled_tests(5)

needs_package = pytest.mark.skipif(untested() is not None, reason=str(untested()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "private"
    found.mkdir(mode=0o700)
    return found


def tree(name: str, groups: int, size: int) -> Dimension:
    """Return a dimension with subtotals, one of which has a single child."""
    parents = [0, *[0] * groups, *np.repeat(np.arange(1, groups + 1), size), 0, 0]
    parents[-1] = len(parents) - 2
    return Dimension(name, tuple(str(number) for number in range(len(parents))), np.array(parents))


def flat(*sizes: int) -> Cube:
    return Cube(
        tuple(Dimension.flat(str(n), [str(i) for i in range(s)]) for n, s in enumerate(sizes))
    )


def counts(cube: Cube, seed: int, mean: float = 8.0) -> Any:
    random = np.random.default_rng(seed)
    return cube.totals(random.negative_binomial(0.8, 0.8 / (0.8 + mean), cube.size).astype(float))


def hide(cube: Cube, values: Any, folder: Path, cost: Any = None, **changed: Any) -> Any:
    verdict = changed.pop("verdict", None)
    if verdict is None:
        verdict = by_minimum_frequency(values, 5)
    cost = values if cost is None else cost
    least = np.zeros(cube.size)
    return suppression.suppress(
        cube, values, Primary(*verdict), cost, least, seconds=60, folder=folder, **changed
    )


def interval(cube: Cube, values: Any, is_hidden: Any, cell: int) -> tuple[float, float]:
    """Return what an attacker can compute: all hidden cells are unknown, and each line adds up."""
    place = {int(number): column for column, number in enumerate(np.flatnonzero(is_hidden))}
    rows, sums = [], []
    for total, parts in cube.lines():
        row, right = np.zeros(len(place)), 0.0
        for sign, number in ((-1, total), *((1, int(part)) for part in parts)):
            if number in place:
                row[place[number]] += sign
            else:
                right -= sign * values[number]
        rows.append(row)
        sums.append(right)
    aim = np.zeros(len(place))
    aim[place[cell]] = 1
    ends = [
        linprog(sign * aim, A_eq=np.array(rows), b_eq=sums, bounds=(0, None)) for sign in (1, -1)
    ]
    assert ends[0].status == 0
    return ends[0].fun, -ends[1].fun if ends[1].status == 0 else np.inf


def is_protected(cube: Cube, values: Any, is_hidden: Any, verdict: Any) -> bool:
    scale = max(1.0, values.max() / 1e4)  # the program takes no larger numbers
    values = values / scale
    verdict = Primary(verdict.is_primary, verdict.lower / scale, verdict.upper / scale)
    room = 1e-6 * values.max()
    for cell in np.flatnonzero(verdict.is_primary):
        lowest, highest = interval(cube, values, is_hidden, int(cell))
        if lowest > max(values[cell] - verdict.lower[cell], 0) + room:
            return False
        if highest < values[cell] + verdict.upper[cell] - room:
            return False
    return True


TABLES = {
    "two dimensions": flat(4, 5),
    "three dimensions": flat(2, 3, 3),
    "subtotals": Cube((tree("a", 2, 2), Dimension.flat("b", ["x", "y", "z"]))),
    "subtotals of both": Cube((tree("a", 2, 2), tree("b", 1, 2))),
    "a single category": flat(4, 1, 3),
    "one dimension": flat(6),
}


@needs_package
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("seed", [1, 2])
def test_no_primary_cell_can_be_narrowed(name: str, seed: int, folder: Path) -> None:
    cube = TABLES[name]
    values = counts(cube, seed)
    verdict = by_minimum_frequency(values, 5)
    is_hidden = hide(cube, values, folder)
    assert verdict.is_primary.any()
    assert (is_hidden | ~verdict.is_primary).all()
    assert not is_hidden[values == 0].any()
    assert is_protected(cube, values, is_hidden, verdict)
    assert not is_protected(cube, values, verdict.is_primary, verdict)  # they alone do not do
    assert not list(folder.iterdir())


@needs_package
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "cube", [flat(5, 4), flat(2, 3, 2), Cube((tree("a", 2, 3), flat(4).dimensions[0]))]
)
def test_tables_in_parts_are_protected_too(
    cube: Cube, seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suppression, "LARGEST_OPTIMAL", 0)
    monkeypatch.setattr(suppression, "MOST_CHILDREN", 3)
    values = counts(cube, seed, mean=15.0)
    verdict = by_minimum_frequency(values, 5)
    is_hidden = hide(cube, values, folder)
    assert verdict.is_primary.any()
    assert is_protected(cube, values, is_hidden, verdict)
    assert not is_hidden[values == 0].any()
    assert not list(folder.iterdir())


@needs_package
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(3, 3), (1, 2, 2), (8,)])
def test_the_cost_is_the_least_of_all_patterns(
    seed: int, sizes: tuple[int, ...], folder: Path
) -> None:
    cube = flat(*sizes)
    values = counts(cube, seed)
    verdict = by_minimum_frequency(values, 4)
    cost = np.random.default_rng(seed).integers(1, 9, cube.size).astype(float)
    open_to_choice = np.flatnonzero(~verdict.is_primary & (values > 0))
    if len(open_to_choice) > 14:  # the others stay shown: too dear to hide
        cost[open_to_choice[14:]] = 10_000.0
        open_to_choice = open_to_choice[:14]
    patterns = sorted(
        (cost[list(cells)].sum(), cells)
        for size in range(len(open_to_choice) + 1)
        for cells in itertools.combinations(open_to_choice, size)
    )

    def protects(cells: tuple[int, ...]) -> bool:
        is_hidden = verdict.is_primary.copy()
        is_hidden[list(cells)] = True
        return is_protected(cube, values, is_hidden, verdict)

    least = next(price for price, cells in patterns if protects(cells))  # the cheapest first
    found = hide(cube, values, folder, cost, verdict=verdict)
    assert cost[found & ~verdict.is_primary].sum() == least


@needs_package
def test_sums_with_cents_and_large_totals_are_protected(folder: Path) -> None:
    cube = flat(4, 4)
    random = np.random.default_rng(3)
    first = random.pareto(1.0, cube.size) * 12_345_678.91
    values = cube.totals(first * (1 + random.random(cube.size)))
    part = np.where(cube.is_inner, first, 0)
    verdict = by_p_percent(values, part, np.zeros(cube.size), 40)
    is_hidden = hide(cube, values, folder, verdict=verdict)
    assert verdict.is_primary.any()
    assert is_protected(cube, values, is_hidden, verdict)


@needs_package
def test_cells_that_are_not_shown_cost_nothing(folder: Path) -> None:
    cube = flat(5, 5)
    values = counts(cube, 4)
    verdict = by_minimum_frequency(values, 5)
    is_shown = ~cube.is_inner  # two margins
    free = hide(cube, values, folder, np.where(is_shown, values, 0))
    dear = hide(cube, values, folder)
    assert free[~is_shown & (values > 0)].all()
    assert (free & is_shown & ~verdict.is_primary).sum() < (dear & ~verdict.is_primary).sum()
    assert is_protected(cube, values, free, verdict)


def test_nothing_primary_needs_nothing(folder: Path) -> None:
    cube = flat(2, 2)
    values = cube.totals(np.full(cube.size, 9.0))
    assert not hide(cube, values, folder).any()


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppression, "find_spec", lambda _: None)
    with pytest.raises(TableError, match=r"pip install dbt-anonymize\[tables\]") as error:
        hide(flat(3, 3), counts(flat(3, 3), 1), folder)
    assert "\n" not in str(error.value)


# Runners in place of the package; each finds its folder with the problem in its last argument.
SLOW = """
import os, subprocess, sys, time
from pathlib import Path
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
Path(sys.argv[1]).parents[1].joinpath("child").write_text(str(child.pid))
time.sleep(60)
"""
CRASHING = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
RAISING = """
import os, sys
from pathlib import Path
Path(sys.argv[1], "reason.txt").write_text("BatchError")
os._exit(1)
"""
WRONG = """
import sys
from pathlib import Path
import numpy as np
np.save(Path(sys.argv[1]) / "solution.npy", np.array([], dtype=np.int64))
"""


def run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(suppression, "find_spec", lambda _: object())
    monkeypatch.setattr(calls, "command", lambda: (sys.executable, "-c", program))


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_call_ends_with_its_children_after_its_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, SLOW)
    cube = flat(3, 3)
    values = counts(cube, 1)
    with pytest.raises(TableError, match=r"must finish within 1\.5 s"):
        suppression.suppress(
            cube,
            values,
            by_minimum_frequency(values, 5),
            values,
            np.zeros(cube.size),
            seconds=1.5,
            folder=folder,
        )
    assert not list(folder.iterdir())
    child = folder.parent / "child"
    if Path("/proc").is_dir() and child.exists():
        end = time.monotonic() + 5  # the system takes a moment
        while is_running(int(child.read_text("utf-8"))) and time.monotonic() < end:
            time.sleep(0.02)
        assert not is_running(int(child.read_text("utf-8")))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (CRASHING, "returned none: it ended with code -11"),
        (RAISING, "returned none: it raised BatchError"),
        (WRONG, r"left \d+ of them too narrow"),
    ],
)
def test_whatever_the_package_does_ends_in_one_line(
    program: str, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, program)
    with pytest.raises(TableError, match=said) as error:
        hide(flat(3, 3), counts(flat(3, 3), 1), folder)
    assert "\n" not in str(error.value)
    assert not list(folder.iterdir())


def test_what_a_killed_call_left_is_removed_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = folder / "tau-left" / "tmp"
    left.mkdir(parents=True)
    (left / "table.tab").write_text("7", encoding="utf-8")
    (folder / "mine").mkdir()
    run_instead(monkeypatch, CRASHING)
    with pytest.raises(TableError):
        hide(flat(3, 3), counts(flat(3, 3), 1), folder)
    assert [one.name for one in folder.iterdir()] == ["mine"]


def test_a_folder_that_others_can_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_instead(monkeypatch, CRASHING)
    folder.chmod(0o750)
    with pytest.raises(TableError, match=r"its mode is 0750\. Run chmod 700"):
        hide(flat(3, 3), counts(flat(3, 3), 1), folder)


@needs_package
def test_the_package_writes_only_into_the_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    monkeypatch.setattr(suppression, "LARGEST_OPTIMAL", 0)
    monkeypatch.chdir(elsewhere)
    hide(flat(3, 3), counts(flat(3, 3), 1), folder)
    assert not os.listdir(elsewhere)


def test_values_that_cannot_be_protected_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cube = flat(3, 3)
    values = counts(cube, 1)
    wrong = values.copy()
    wrong[0] += 1
    with pytest.raises(TableError, match="must add up along each line"):
        hide(cube, wrong, folder)
    with pytest.raises(TableError, match="values must be a number of at least 0"):
        hide(cube, -values, folder, values, verdict=by_minimum_frequency(values, 5))
    zeros = np.zeros(cube.size)
    with pytest.raises(TableError, match="primary cells must have values above 0"):
        hide(cube, zeros, folder, verdict=by_minimum_frequency(values, 5))
    four = flat(2, 2, 2, 2)
    monkeypatch.setattr(suppression, "LARGEST_OPTIMAL", 50)
    with pytest.raises(TableError, match="must have at most 3 dimensions; got 81 cells of 4"):
        hide(four, counts(four, 1), folder)
