"""Aggregates that classes show for labels: by an oracle, in random tables and in builds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from dbt_anonymize.extensions.recoding.kernels import Source, cell_suppression
from tests.extensions.recoding import wages
from tests.oracle.aggregates import Member, aggregate
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")

SIZES = (0, 3, 12, 40, 150)
# Of ranges of 60: to a hundredth.
UNIT = 0.01


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with its anonymizations, built once."""
    folder = tmp_path_factory.mktemp("wages") / "project"
    project = wages.wages_project(folder, wages.people(1, 300), wages.SPECS)
    project.build()
    return project


def declared(effort: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levels of an effort, each as a mapping."""
    levels = effort.get("levels", effort)
    return {n: v if isinstance(v, dict) else {"level": v} for n, v in levels.items()}


def check_effort(
    query: Callable[[str], list[tuple[Any, ...]]], spec: Mapping[str, Any], number: int
) -> int:
    """Compare an effort with the oracle; return how many aggregates are shown."""
    name, effort = spec["name"], spec["efforts"][number - 1]
    levels = declared(effort)
    columns = ", ".join(f"{column}_shown, {column}" for column in levels)
    shown = ", ".join(f"e.{column} as {column}_shown" for column in levels)
    holder = "s.name" if "subject" in spec else "s.id"
    rows = query(
        f"select holder, is_suppressed, equivalence_class, {columns} from (select "
        f"{holder} as holder, is_suppressed, equivalence_class, {shown}, s.age, s.income, s.job "
        f"from {name}_effort_{number} as e inner join vault.main.wages as s on e.id = s.id) as r"
    )
    classes = defaultdict(list)
    labels = {}
    for who, is_suppressed, text, *cells in rows:
        raw = dict(zip(levels, zip(cells[::2], cells[1::2], strict=True), strict=True))
        of_record = tuple(
            "*"
            if seen == "*" and "recoding" in effort
            else wages.label(column, value, levels[column]["level"])
            for column, (seen, value) in raw.items()
        )
        if text is not None:  # the class is that of the labels, whatever is shown
            assert labels.setdefault(text, of_record) == of_record
            assert [part.partition(":")[2] for part in text.split("|")] == [*of_record]
        if is_suppressed:
            assert tuple(seen for seen, _ in raw.values()) == of_record
        else:
            classes[of_record].append((who, raw))
    return sum(
        check_class(of_record, members, levels, k=effort.get("k", wages.K))
        for of_record, members in classes.items()
    )


def check_class(
    labels: Sequence[str],
    members: Sequence[tuple[Any, Mapping[str, tuple[str, Any]]]],
    levels: Mapping[str, Mapping[str, Any]],
    *,
    k: int,
) -> int:
    """Compare what a class shows with the oracle."""
    aggregates, is_small = 0, len({who for who, _ in members}) < k
    for label, (column, level) in zip(labels, levels.items(), strict=True):
        (seen,) = {raw[column][0] for _, raw in members}
        expected: Fraction | str | None = None
        if "show" in level and not is_small and (label != "*" or level["level"] == 3):
            low, high = (20, 80) if not label.startswith("[") else map(int, label[1:-1].split(","))
            own = [
                Member(who, value if column == "job" or value is None else Fraction(value))
                for who, value in ((who, raw[column][1]) for who, raw in members)
            ]
            p_percent = level.get("p_percent", 10)
            expected = aggregate(own, level["show"], (low, high), p_percent)
        if expected is None:
            assert seen == label
        elif isinstance(expected, str):
            assert seen == expected
        else:
            assert abs(float(seen) - float(expected)) <= UNIT / 2 + 1e-9
        aggregates += expected is not None
    return aggregates


@pytest.mark.parametrize("spec", wages.SPECS, ids=lambda spec: spec["name"])
def test_a_build_shows_what_the_oracle_says(built: Project, spec: dict[str, Any]) -> None:
    for number in range(1, len(spec["efforts"]) + 1):
        assert check_effort(built.query, spec, number) > 3


def test_the_vault_remembers_people_by_name(built: Project) -> None:
    ((people, others),) = built.query(
        "select count(*), count(case when person is distinct from name then 1 end) "
        "from vault.main.workers_aggregated inner join vault.main.wages "
        "on record_key = cast(id as varchar)"
    )
    assert people > 0
    assert not others


class Warehouse:
    """The compiled models, run on other tables."""

    def __init__(self, project: Project) -> None:
        self.folder = project.folder / "target" / "compiled" / "shop" / "models"
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        self.connection.execute("attach ':memory:' as shop; attach ':memory:' as vault; use shop")
        for name in ("age", "income", "job"):
            seed = project.folder / "seeds" / f"{name}.csv"
            self.connection.execute(f"create table {name} as from read_csv('{seed}')")

    def model(self, name: str, kind: str = "table", spec: str = "wages") -> None:
        """Create a relation by its compiled SQL."""
        sql = (self.folder / spec / f"{spec}_{name}.sql").read_text(encoding="utf-8")
        self.connection.execute(f"create or replace {kind} {spec}_{name} as {sql}")

    def load(self, rows: Sequence[Sequence[Any]]) -> None:
        """Compute everything from a source up to efforts."""
        self.connection.execute(
            "create or replace table vault.main.wages "
            "(id bigint, name varchar, age integer, income double, job varchar, sick varchar)"
        )
        for row in rows:
            values = [None if value == "" else value for value in row]
            self.connection.execute(
                "insert into vault.main.wages values (?, ?, ?, ?, ?, ?)", values
            )
        for spec in wages.SPECS[:2]:
            self.model("microdata", spec=spec["name"])
            self.model("frequencies", spec=spec["name"])
            if spec["name"] == "wages":
                self.recode(spec)
            self.model("classes", spec=spec["name"])
            for number in range(1, len(spec["efforts"]) + 1):
                self.model(f"aggregates_{number}", spec=spec["name"])
                self.model(f"effort_{number}", "view", spec["name"])

    def recode(self, spec: Mapping[str, Any]) -> None:
        """Suppress cells."""
        source = Source(
            session=self.connection,
            microdata=self.connection.table("wages_microdata"),
            record_key="id",
            quasi_identifiers=[
                {"name": name, **column["hierarchy"], "hierarchy": self.connection.table(name)}
                for name, column in spec["columns"].items()
                if "hierarchy" in column
            ],
            guarantees=[{"model": "k_anonymity", "k": wages.K}],
        )
        levels = {name: level["level"] for name, level in declared(wages.CELLS).items()}
        recoded = cell_suppression(source, levels=levels)
        self.connection.execute("drop table if exists wages_recoding_2")
        recoded.create("wages_recoding_2")

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def warehouse(built: Project) -> Iterator[Warehouse]:
    """Give a warehouse for random tables."""
    opened = Warehouse(built)
    yield opened
    opened.connection.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_show_what_the_oracle_says(
    warehouse: Warehouse, size: int, seed: int
) -> None:
    warehouse.load(wages.people(100 * seed + size, size, people_of=1 + seed))
    shown = sum(
        check_effort(warehouse.query, spec, number)
        for spec in wages.SPECS[:2]
        for number in range(1, len(spec["efforts"]) + 1)
    )
    assert shown or size < 40
