"""Time hiding small cells and checking them, beside two linear programs for each small cell.

Tables with counts of a skewed distribution (negative binomial, mean 20), of which each dimension
has a total; cells below 5 are small. ``hiding`` is the package that chooses cells, ``checking`` the
intervals of all small cells as `suppress_table` needs them, ``one by one`` two programs for each
small cell without what they share (a sample of them, multiplied), over the same pattern::

    python benchmarks/hidden_cells.py --sizes 10,14,12 24,19,39

Seconds of all cores together (CPU), and on the clock for the package.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from metering import Clock

from dbt_anonymize.extensions.tables import suppression
from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.cube import Cube, Dimension
from dbt_anonymize.extensions.tables.primary import by_minimum_frequency
from dbt_anonymize.extensions.tables.programs import Known, Program

MEAN, SHAPE, MINIMUM = 20.0, 0.8, 5


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["10,14,12"], help="categories, by commas")
    parser.add_argument("--sample", type=int, default=20, help="cells that move one by one")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit of the package")
    arguments = parser.parse_args()
    print("cells small hidden | hiding CPU clock | checking | one by one")
    for sizes in arguments.sizes:
        measure([int(size) for size in sizes.split(",")], arguments.sample, arguments.seconds)


def measure(sizes: list[int], sample: int, seconds: float) -> None:
    """Hide the small cells of one table, and check it in both ways."""
    cube = Cube(
        tuple(
            Dimension.flat(str(place), [str(n) for n in range(size)])
            for place, size in enumerate(sizes)
        )
    )
    rng = np.random.default_rng(1)
    drawn = rng.negative_binomial(SHAPE, SHAPE / (SHAPE + MEAN), cube.size)
    values = cube.totals(drawn.astype(float))
    primary = by_minimum_frequency(values.astype(np.int64), MINIMUM)
    least = np.minimum(values, 1.0)
    hiding = Clock()
    with tempfile.TemporaryDirectory() as folder, hiding.running():
        before = time.process_time()
        is_hidden = suppression.suppress(
            cube, values, primary, values, least, seconds=seconds, folder=Path(folder)
        )
        own = time.process_time() - before  # most of it the check
    small = np.flatnonzero(primary.is_primary)
    known = Known(np.where(is_hidden, least, values), np.where(is_hidden, np.inf, values))
    low, high = (values - primary.lower)[small], (values + primary.upper)[small]
    before = time.process_time()
    intervals(cube, known, small, enough=(low, high))
    checking = time.process_time() - before
    some = rng.choice(small, min(sample, len(small)), replace=False)
    program = Program.of(cube, known)
    before = time.process_time()
    for cell in some:
        weights = program.members[[cell]].toarray().ravel()
        program.solution(weights), program.solution(-weights)
    one_by_one = (time.process_time() - before) / len(some) * len(small)
    print(
        f"{cube.size:,} {len(small):,} {is_hidden.sum():,} | {hiding.cpu - own:.1f} "
        f"{hiding.wall - own:.1f} | {checking:.2f} | {one_by_one:.0f} ({os.cpu_count()} cores)",
        flush=True,
    )


if __name__ == "__main__":
    main()
