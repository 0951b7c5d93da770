"""A table of visits that grows by months, declared twice: in partitions, and without."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.projects import Outcome, Project, copy_consumer
from tests.worlds.specs import DROPPED, IDENTIFIER, INSENSITIVE, SENSITIVE, intervals, spec_of

# The anonymization in partitions, and the same without.
PARTED, WHOLE = "parted", "whole"
# What a text may be made of, and no month at all.
MONTHS = ("2026-01", "2026-02", "2026-'03\"", "", "null", None)
# What is compared of both.
RELATIONS = ("microdata", "frequencies")
AGES = "lower_bound,upper_bound,level_1,level_2\n" + "".join(
    f"{i},{i + 10},{i}s,*\n" for i in range(0, 100, 10)
)
Row = tuple[int, str, int | None, float | None, str, str | None]


def spec(name: str, **own: Any) -> dict[str, Any]:
    """Return the declaration of one of both."""
    columns: dict[str, Any] = {
        "phone": IDENTIFIER,
        "age": intervals("ages", 2),
        "weight": INSENSITIVE,
        "illness": SENSITIVE,
        "month": DROPPED,
    }
    own = {"partition_by": "month"} | own if name == PARTED else own
    declared = {
        "source": {"ref": "visits"},
        "record_key": "visit",
        "target": "illness",
        "features": ["age"],
        "efforts": [{"age": 1}, {"age": 2}],
        "suppression_limit": 0.5,
    }
    columns |= own.pop("columns", {})
    return spec_of(name, columns, **(declared | own))


def write(folder: Path, **own: Any) -> Project:
    """Write the project; the table is empty."""
    project = copy_consumer(folder)
    for place in ("models/customers", "anonymizations"):
        for path in (folder / place).iterdir():
            path.unlink()
    (folder / "models" / "unit_tests.yml").unlink()
    (folder / "models" / "visits.sql").write_text("select * from raw_visits\n", encoding="utf-8")
    (folder / "seeds" / "ages.csv").write_text(AGES, encoding="utf-8")
    declare(project, **own)
    return project


def declare(project: Project, **own: Any) -> None:
    """Write both specs and their models; ``own`` are further keys of both."""
    for name in (PARTED, WHOLE):
        text = yaml.safe_dump(spec(name, **own), sort_keys=False)
        (project.folder / "anonymizations" / f"{name}.yml").write_text(text, encoding="utf-8")
    generate(project.folder)


class Visits:
    """The rows of the source, which a test changes from month to month."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project, self.draw, self.last = project, random.Random(seed), 0
        self.rows: dict[int, Row] = {}

    def row(self, month: str | None) -> Row:
        """Return a row of somebody new."""
        self.last += 1
        draw = self.draw
        age = draw.choice([None, *range(100)])
        weight = draw.choice([None, 0.0, -0.0, float("nan"), 1 / 3, 70.5])
        return (self.last, f"+{self.last}", age, weight, draw.choice(["flu", "none"]), month)

    def join(self, month: str | None, count: int) -> None:
        """Add records to a month."""
        for _ in range(count):
            row = self.row(month)
            self.rows[row[0]] = row

    def live(self) -> None:
        """Let some join, leave, change, move to another month; now and then a month vanishes."""
        draw = self.draw
        for month in draw.sample(MONTHS, 2):
            self.join(month, draw.randrange(1, 4))
        if draw.random() < 0.3:
            gone = draw.choice(MONTHS)
            self.rows = {key: row for key, row in self.rows.items() if row[5] != gone}
        keys = draw.sample(sorted(self.rows), min(len(self.rows), draw.randrange(6)))
        for key in keys:
            if draw.random() < 0.4:
                del self.rows[key]
                continue
            new, place = list(self.rows[key]), draw.choice([2, 3, 4, 5])
            new[place] = draw.choice(MONTHS) if place == 5 else self.row(None)[place]
            self.rows[key] = tuple(new)  # type: ignore[assignment]
        self.join("2026-01", 2 + 2 * (len({row[4] for row in self.rows.values()}) < 2))

    def write(self) -> None:
        """Put the rows into the source."""
        with self.project.connection() as connection:
            connection.execute(
                "create or replace table raw_visits (visit integer, phone varchar, age integer, "
                "weight double, illness varchar, month varchar)"
            )
            connection.executemany(
                "insert into raw_visits values (?, ?, ?, ?, ?, ?)", list(self.rows.values())
            )

    def build(self, *arguments: str) -> Outcome:
        """Write the source and build what is compared."""
        self.write()
        wanted = [f"+{name}_frequencies" for name in (PARTED, WHOLE)]
        return self.project.build("--select", *wanted, *arguments)


def contents(project: Project, name: str, relation: str) -> Counter[str]:
    """Return the rows of a relation and their columns, as texts."""
    with project.connection() as connection:
        found = connection.execute(f"select * from {name}_{relation}")
        names = [(column[0], str(column[1])) for column in found.description or ()]
        return Counter(map(str, [names, *found.fetchall()]))


def digests(project: Project) -> dict[str, str]:
    """Return the digest of each partition that is built, by its least record key."""
    return dict(
        project.query(
            "select min(visit), partition_digest from parted_microdata_parts group by 2 order by 1"
        )
    )
