"""Write the seeds of the demonstrations; ``--check`` only compares them with the files.

Run ``python scripts/make_demo_seeds.py`` from the activated environment. Every run writes the same
bytes: the measurements come from scikit-learn's copy of the data, the clinic and its
branch from a seeded random generator.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from sklearn.datasets import load_breast_cancer
from synthetic_clinic import BRANCH_YEAR, draw_patients, draw_visits

from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.quantiles import quantile_intervals
from dbt_anonymize.hierarchies import hierarchy_csv

SEEDS = Path(__file__).resolve().parents[1] / "seeds"

ESTRADIOL_CUTS = (0, 20, 28, 34, 40, 45, 50, 56, 62, 70, 80, 90, 100, 120, 150, 190, 2000)


def _csv(header: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def wdbc_seeds() -> dict[str, str]:
    """Return the seeds made from the Wisconsin diagnostic breast cancer data.

    Returns
    -------
    dict of str to str
        Text by path below ``seeds``.
    """
    data = load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    radius = data.data[:, names.index("mean radius")].tolist()
    symmetry = data.data[:, names.index("mean symmetry")].tolist()
    diagnosis = [str(data.target_names[code]) for code in data.target]
    nested = {
        "radius": quantile_intervals(radius, 0, 40, leaves=32, decimals=1, merge=[2, 2, 2, 2]),
        "symmetry": quantile_intervals(
            symmetry, 0, "0.4", leaves=32, decimals=3, merge=[2, 2, 2, 2]
        ),
    }
    return {
        "wdbc/wdbc_source.csv": _csv(
            ("record_id", "mean_radius", "mean_symmetry", "diagnosis"),
            zip(range(1, len(radius) + 1), radius, symmetry, diagnosis, strict=True),
        ),
        "wdbc/wdbc_hierarchy_mean_radius.csv": hierarchy_csv(
            equal_width_intervals(0, 36, widths=[1, 3, 5, 7, 9, 11])
        ),
        **{
            f"wdbc_nested/wdbc_nested_hierarchy_mean_{name}.csv": hierarchy_csv(hierarchy)
            for name, hierarchy in nested.items()
        },
    }


def clinic_seeds() -> dict[str, str]:
    """Return the seeds of the synthetic fertility clinic.

    Returns
    -------
    dict of str to str
        Text by path below ``seeds``.
    """
    patients = draw_patients()
    folder = "fertility_clinic/fertility_clinic"
    return {
        f"{folder}_patients.csv": _csv(
            [str(name) for name in patients.columns], patients.astype(object).to_numpy().tolist()
        ),
        f"{folder}_hierarchy_age.csv": hierarchy_csv(
            equal_width_intervals(16, 56, widths=[2, 4, 8, 16])
        ),
        f"{folder}_hierarchy_estradiol.csv": hierarchy_csv(
            cut_intervals(ESTRADIOL_CUTS, merge=[2, 2, 2])
        ),
    }


def branch_seeds() -> dict[str, str]:
    """Return the seeds of the visits to a synthetic branch of the clinic.

    Returns
    -------
    dict of str to str
        Text by path below ``seeds``.
    """
    visits = draw_visits()
    folder = "clinic_visits/clinic_visits"
    year = date(BRANCH_YEAR, 1, 1), date(BRANCH_YEAR, 12, 31)
    return {
        f"{folder}_source.csv": _csv(
            [str(name) for name in visits.columns], visits.astype(object).to_numpy().tolist()
        ),
        f"{folder}_hierarchy_visited_on.csv": hierarchy_csv(
            date_intervals(*year, ["month", "quarter"])
        ),
        f"{folder}_hierarchy_age.csv": hierarchy_csv(equal_width_intervals(20, 50, widths=[5, 10])),
    }


def main(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file differs.")
    ] = False,
) -> None:
    """Write the seeds of the demonstrations, or compare them with what would be written."""
    differing = []
    for path, text in {**wdbc_seeds(), **clinic_seeds(), **branch_seeds()}.items():
        file = SEEDS / path
        if check:
            if not file.exists() or file.read_bytes() != text.encode():
                differing.append(path)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
            typer.echo(f"wrote seeds/{path}")
    if differing:
        typer.echo(f"differ from scripts/make_demo_seeds.py: {', '.join(differing)}", err=True)
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
