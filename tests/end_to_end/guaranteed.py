"""The stranger's table with further guarantees."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.projects import Project

SPEC = "anonymizations/customers.yml"


QUASI_IDENTIFIERS = ("birth_date", "zip", "gender")


Row = dict[str, Any]


def declare(project: Project, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the spec and write the models anew."""

    def rewrite(text: str) -> str:
        spec = yaml.safe_load(text)
        change(spec)
        return yaml.safe_dump(spec, allow_unicode=True, sort_keys=False)

    project.edit(SPEC, rewrite)
    generate(project.folder)


def read_seed(project: Project, name: str) -> list[dict[str, str]]:
    with (project.folder / "seeds" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_seed(project: Project, name: str, rows: list[dict[str, str]]) -> None:
    with (project.folder / "seeds" / f"{name}.csv").open("w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def fetch(project: Project, sql: str) -> list[Row]:
    with project.connection() as connection:
        found = connection.execute(sql)
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def generalizer(project: Project) -> Callable[[Row, dict[str, int]], tuple[str, ...]]:
    """Return what gives the labels of a source record at some levels, from the seeds alone."""
    dates = read_seed(project, "customers_hierarchy_birth_date")
    categories = {
        name: {row["value"]: row for row in read_seed(project, f"customers_hierarchy_{name}")}
        for name in ("zip", "gender")
    }

    def label(name: str, value: str, level: int) -> str:
        if value == "":
            return "*"
        if level == 0:
            return value
        if name != "birth_date":
            return categories[name][value][f"level_{level}"]
        (leaf,) = (d for d in dates if d["lower_bound"] <= value < d["upper_bound"])
        return leaf[f"level_{level}"]

    return lambda row, levels: tuple(
        label(name, row[name], levels[name]) for name in QUASI_IDENTIFIERS
    )


# Of one effort alone.
CLOSE = {"attribute": "churned", "t": 0.35}
STALE = ("--exclude-resource-type", "test", "unit_test")

ONLY_MICRODATA = "path:seeds/customers.csv customers_microdata customers_anonymized"


def by_label(rows: list[Row]) -> Iterator[list[Row]]:
    """Group records by what everybody sees of them: labels, not texts of our own."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in QUASI_IDENTIFIERS)].append(row)
    yield from groups.values()


def is_close(records: list[Row], everybody: list[Row]) -> bool:
    """Tell whether the share of two values differs by at most t from that of everybody."""
    shares = [sum(row["churned"] == "yes" for row in of) / len(of) for of in (records, everybody)]
    return abs(shares[0] - shares[1]) <= CLOSE["t"]
