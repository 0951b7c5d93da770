"""The project of customers from month to month."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
from typer.testing import CliRunner, Result

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import check, generate
from tests.projects import Project

SPEC = "anonymizations/customers.yml"
SEED = "seeds/customers.csv"
K = 4
CLASS = ["birth_date", "birth_date_lower", "birth_date_upper", "zip", "gender"]


def run(project: Project, *arguments: str) -> Result:
    environment = {"DBT_PROFILES_DIR": str(project.folder)}
    where = ["--project-dir", str(project.folder)]
    return CliRunner().invoke(app, [*arguments, *where], env=environment)


def frozen_copy(built: Project, folder: Path) -> Project:
    """Return a copy of the stranger's project in which the released effort is frozen."""
    project = built.copy(folder)
    # Efforts and quality stay as they were, and waiting is another test's.
    result = run(project, "freeze", "customers")
    assert result.exit_code == 0, result.output
    assert check(project.folder) == []
    return project


class Customers:
    """The rows of the source, which a test changes from month to month."""

    def __init__(self, project: Project) -> None:
        self.project = project
        with (project.folder / SEED).open(encoding="utf-8", newline="") as file:
            self.rows = {row["customer_id"]: row for row in csv.DictReader(file)}
        self.columns = list(next(iter(self.rows.values())))
        self.new = itertools.count(10_000)

    def join(self, like: str, count: int) -> list[str]:
        """Add records of the class of another; each differs by what is released as it is."""
        keys = [str(next(self.new)) for _ in range(count)]
        for key in keys:
            own = {"customer_id": key, "spending": f"{key}.5", "full name": f"Neu {key}"}
            self.rows[key] = {**self.rows[like], **own}
        return keys

    def leave(self, keys: Iterable[str]) -> list[dict[str, str]]:
        """Remove records, and return them."""
        return [self.rows.pop(key) for key in list(keys)]

    def write(self) -> None:
        """Write the source."""
        with (self.project.folder / SEED).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows.values())

    def build(self) -> str:
        """Write the source and build, and return what dbt said."""
        self.write()
        return self.project.build().messages


def members_of(project: Project) -> dict[str, list[str]]:
    """Return the keys of each class of the frozen effort, large classes first; "" is suppressed."""
    ((effort,),) = project.query("select effort from customers_results where is_chosen")
    rows = project.query(
        "select case when is_suppressed then '' else equivalence_class end as cqi, "
        "list(cast(customer_id as varchar) order by customer_id) "
        f"from customers_effort_{effort} group by 1 order by cqi = '', count(*) desc, 1"
    )
    return dict(rows)


def published(project: Project) -> Counter[tuple[Any, ...]]:
    """Return the rows of the release file: the labels first, then what is kept."""
    with duckdb.connect(str(project.release_file("customers")), read_only=True) as file:
        rows = file.execute("select * from customers_anonymized").fetchall()
        names = [column[0] for column in file.description or ()]
    order = [names.index(name) for name in CLASS]
    order += [place for place, name in enumerate(names) if name not in {*CLASS, "cqi"}]
    return Counter(tuple(row[place] for place in order) for row in rows)


def subtracted(months: list[Counter[tuple[Any, ...]]]) -> list[int]:
    """Return how many rows of a class one release has and another has not, for every two."""
    sizes = []
    for one, other in itertools.permutations(months, 2):
        left: Counter[tuple[Any, ...]] = Counter()
        for row, count in (one - other).items():
            left[row[: len(CLASS)]] += count
        sizes += left.values()
    return sizes


def diverse_copy(built: Project, folder: Path, formats: str) -> Project:
    """Return an unbuilt copy of the stranger's project that promises more than k-anonymity."""
    project = built.copy(folder)
    project.edit(
        SPEC,
        lambda text: (
            text.replace(
                "k_anonymity: {k: 4}",
                "k_anonymity: {k: 4}\n  l_diversity: {attribute: churned, l: 2}\n"
                "  t_closeness: {attribute: churned, t: 0.55}",
            )
            + f"release: {{formats: [{formats}], effort: 3, midpoints: true}}\n"
        ),
    )
    generate(project.folder)
    return project
