"""Subtotals by levels of hierarchies: protected with all else, and counted in a project."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.tables.cube import Cube
from dbt_anonymize.extensions.tables.errors import TableError, UnknownLabelError
from dbt_anonymize.extensions.tables.reading import read_table
from dbt_anonymize.extensions.tables.subtotals import tree_of, trees_of
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.run import verify
from tests.cli.conftest import run
from tests.extensions.tables.counting import Labels, by_first_letters, protected
from tests.extensions.tables.projects import HIDE, NAME, build, declare, released
from tests.extensions.tables.test_built import LEAST, rows_of
from tests.projects import Project, copy_consumer

pytestmark = pytest.mark.costly

MINIMUM = 3
# Ages of two letters, of which the first is that of the subtotal.
AGES, WARDS = ("ax", "ay", "bx", "by"), ("n", "s")
# Of a cell that nothing bounds; above all counts that are drawn.
MOST = 8
# Label and level of each dimension, None of a total.
Cell = tuple[tuple[int, str] | None, ...]


def some_people(seed: int, most: int) -> list[tuple[Labels, int]]:
    chance = random.Random(seed)
    cells = [("n", age) for age in AGES] + [("s", "ax"), ("s", "bx")]
    return [
        (cell, chance.randrange(2**32)) for cell in cells for _ in range(chance.randint(1, most))
    ]


def declared(*efforts: dict[str, Any], **more: Any) -> dict[str, Any]:
    given = {"dimensions": ["ward", "age"], "subtotals": {"age": [1]}, "efforts": efforts}
    return {**given, "minimum_frequency": MINIMUM, **more}


def categories(labels: Labels) -> list[Cell]:
    """Return the cells that somebody is in."""
    ward, age = labels
    return [*itertools.product([(0, ward), None], [(0, age), (1, age[0]), None])]


def shown_by(people: list[tuple[Labels, int]], **table: Any) -> dict[Cell, tuple[Any, str]]:
    """Return count and status of each shown cell of the first effort."""
    from dbt_anonymize.extensions.tables.declared import Table
    from dbt_anonymize.extensions.tables.efforts import table_efforts
    from tests.extensions.tables.counting import counted

    own = Table.model_validate(table)
    cells, labels = counted(people, own, coarser=by_first_letters)
    rows = table_efforts(cells, labels, own.model_dump_json(exclude_unset=True))  # type: ignore[arg-type]
    found: dict[Cell, tuple[Any, str]] = {}
    for row in rows[rows["kind"] == "cell"].to_dict("records"):
        age = None if row["age"] is None else (int(row["age_level"]), row["age"])
        ward = None if row["ward"] is None else (0, row["ward"])
        found[(ward, age)] = (None if row["people"] is pd.NA else row["people"], row["status"])
    return found


def counts(people: list[tuple[Labels, int]]) -> dict[Cell, int]:
    found = defaultdict[Cell, int](int)
    for labels, _ in people:
        for cell in categories(labels):
            found[cell] += 1
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_no_reader_tells_a_small_cell_from_subtotals(seed: int) -> None:
    """Every table that a reader may think of is tried out: zeros are shown, nothing else known."""
    people = some_people(seed, most=4)
    truth = counts(people)
    shown = shown_by(people, **declared({"method": "hide"}))
    assert shown.keys() == truth.keys()
    inner = sorted({labels for labels, _ in people})
    below = {
        cell: [place for place, one in enumerate(inner) if cell in categories(one)]
        for cell in truth
    }
    possible = np.array([*itertools.product(range(1, MOST + 1), repeat=len(inner))])
    for cell, (count, status) in shown.items():
        assert (count, status) in {(truth[cell], "published"), (None, "hidden")}
        if count is not None:
            possible = possible[possible[:, below[cell]].sum(axis=1) == count]
    for cell, count in truth.items():
        if count < MINIMUM:
            assert shown[cell][1] == "hidden"
            sums = possible[:, below[cell]].sum(axis=1)
            assert sums.min() <= max(1, len(below[cell])), cell
            assert sums.max() >= MINIMUM + 1, cell
    assert any(cell[1] and cell[1][0] == 1 for cell in truth)


def test_subtotals_alone_would_give_a_hidden_cell_back() -> None:
    """Else the tests above show nothing: one hidden cell of a subtotal alone."""
    told = 0
    for seed in range(8):
        people = some_people(seed, most=6)
        truth = counts(people)
        without, _ = protected(people, declared({"method": "hide"}, subtotals={}))
        for (ward, age), (count, _) in without[1].items():
            line = [truth.get(((0, ward), (0, a)), 0) for a in AGES if age and a[0] == age[0]]
            hidden = [
                a
                for a in AGES
                if age and a[0] == age[0] and without[1].get((ward, a), (0,))[0] is None
            ]
            told += count is None and ward is not None and hidden == [age] and sum(line) > 0
    assert told > 0


def test_questions_are_asked_of_the_finest_labels() -> None:
    people = some_people(1, most=4)
    rounds = {"method": "round", "base": 1000, "levels": {"age": 1}}
    asked = {"questions": [{"share": "age"}], "shows": [["age"]]}
    finest = {"method": "hide"}
    with_subtotals = declared(finest, rounds, minimum_frequency=2, **asked)
    _, told = protected(people, with_subtotals)
    _, plain = protected(people, {**with_subtotals, "subtotals": {}})
    for number in (1, 2):
        for name in ("qf", "zero_rule"):
            mine, other = told[number][name], plain[number][name]
            assert mine == pytest.approx(other, nan_ok=True)


def test_a_level_that_is_no_part_of_the_next_is_refused() -> None:
    with pytest.raises(TableError, match="1 labels of zip belong to two"):
        tree_of("zip", [("0^a", "1^x", "2^p"), ("0^b", "1^x", "2^q")])
    rows = [("zip", 0, "a", "a"), ("zip", 1, "x", "a"), ("zip", 1, "y", "a")]
    labels = pd.DataFrame(rows, columns=["dimension", "level", "label", "finest_label"])
    with pytest.raises(TableError, match="labels of zip belong to two"):
        trees_of(labels, {"zip": [0, 1]})


def test_a_tree_adds_up_and_knows_its_labels() -> None:
    tree = tree_of("zip", [("0^*", "1^*"), ("0^11", "1^1*"), ("0^12", "1^1*")])
    cube = Cube((tree,))
    labels = ["0^*", "0^11", "0^12", "1^*", "1^1*"]
    rows = [(label, n) for label, n in zip(labels, [4, 1, 2, 4, 3], strict=True)] + [(None, 7)]
    table = read_table(rows, ["zip"], None, trees={"zip": tree})
    assert np.array_equal(cube.totals(table.values), table.values)
    with pytest.raises(UnknownLabelError, match="1 rows have others"):
        read_table([*rows, ("0^13", 1)], ["zip"], None, trees={"zip": tree})


SUBTOTALS = {"birth_date": [3], "zip": [2]}
# Of the finest cells most are small, so that whose shares they are is told by few.
ASKED = [{"share": "churned", "by": ["zip"]}]
DECLARED: dict[str, Any] = {
    "efforts": [HIDE],
    "questions": ASKED,
    "subtotals": SUBTOTALS,
    "intervals": True,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a built project whose table shows subtotals of two dimensions."""
    project = copy_consumer(tmp_path_factory.mktemp("subtotals") / "project")
    declare(project, **DECLARED, more={"details": ["table_audit"]})
    build(project)
    return project


def checked(project: Project) -> dict[str, Any]:
    """Return what holds of the table, by check and subject."""
    spec = load_spec(project.folder / "anonymizations" / f"{NAME}.yml")
    return {f"{one.check} {one.subject}": one for one in verify(find_project(project.folder), spec)}


def by_hand(project: Project) -> dict[tuple[Any, ...], list[dict[str, str]]]:
    """Return the customers of each cell: labels and levels of the dimensions with subtotals."""
    dates = rows_of(project, "seeds/customers_hierarchy_birth_date.csv")
    zips = {r["value"]: r for r in rows_of(project, "seeds/customers_hierarchy_zip.csv")}
    found = defaultdict[tuple[Any, ...], list[dict[str, str]]](list)
    for one in rows_of(project, "seeds/customers.csv"):
        own = next(
            (
                row
                for row in dates
                if one["birth_date"]
                and row["lower_bound"] <= one["birth_date"] < row["upper_bound"]
            ),
            {},
        )
        of_zip = zips.get(one["zip"], {})
        choices = [
            [*((own.get(f"level_{n}", "*"), n) for n in (2, 3)), (None, None)],
            [*((of_zip.get(f"level_{n}", "*"), n) for n in (1, 2)), (None, None)],
            [one["churned"] or "*", None],
        ]
        for (date, date_level), (code, code_level), churned in itertools.product(*choices):
            found[(date, code, churned, date_level, code_level)].append(one)
    return found


COLUMNS = "birth_date, zip, churned, birth_date_level, zip_level"


@pytest.mark.dbt
def test_every_cell_is_counted_at_every_level(project: Project) -> None:
    rows = project.query(f"select {COLUMNS}, people from {NAME}_table_cells where effort = 1")
    assert {row[:5]: row[5] for row in rows} == {c: len(p) for c, p in by_hand(project).items()}


@pytest.mark.dbt
def test_the_release_has_levels_and_verify_counts_them_again(
    project: Project, tmp_path: Path
) -> None:
    with duckdb.connect(str(project.release_file(NAME)), read_only=True) as reader:
        rows = reader.execute(f"select {COLUMNS}, people, status from {NAME}_table").fetchall()
    truth = {cell: len(people) for cell, people in by_hand(project).items()}
    assert {row[:5] for row in rows} == truth.keys()
    for *cell, people, status in rows:
        assert (people, status) in {(truth[tuple(cell)], "published"), (None, "hidden")}
        assert status == "hidden" or people >= LEAST
    names = ("recomputation table", "recomputation intervals", "guarantees table")
    found = checked(project)
    assert {name: found[name].holds for name in names} == dict.fromkeys(names, True)
    hidden = min((row for row in rows if 3 in row[3:4]), key=lambda row: truth[row[:5]])
    assert truth[hidden[:5]] < LEAST
    changed = project.copy(tmp_path / "changed")
    conditions = zip(COLUMNS.split(", "), hidden, strict=False)
    where = " and ".join(f"{name} is not distinct from ?" for name, _ in conditions)
    with duckdb.connect(str(changed.release_file(NAME))) as writer:
        writer.execute(
            f"update {NAME}_table set people = ?, status = 'published' where {where}",
            [truth[hidden[:5]], *hidden[:5]],
        )
        writer.execute(
            f"update {NAME}_table set people_lowest = people_lowest - 1 where people_lowest > 1"
        )
    found = checked(changed)
    assert [found[name].holds for name in names] == [False, False, False]


@pytest.mark.dbt
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (f"alter table {NAME}_table add column counted integer", "counted differ"),
        (f"insert into {NAME}_table from {NAME}_table limit 1", "must stand once"),
        (f"update {NAME}_table set zip_level = null where zip is not null", "with a level where"),
    ],
)
def test_rows_and_columns_that_nobody_declared_stop_verification(
    project: Project, tmp_path: Path, change: str, reason: str
) -> None:
    changed = project.copy(tmp_path / "changed")
    with duckdb.connect(str(changed.release_file(NAME))) as writer:
        writer.execute(change)
    said = run("verify", NAME, "--project-dir", changed.folder)
    assert said.exit_code != 0
    assert reason in " ".join(said.output.split())


@pytest.mark.dbt
def test_other_subtotals_are_another_table_and_an_earlier_one_is_still_audited(
    project: Project, tmp_path: Path
) -> None:
    later = project.copy(tmp_path / "later")
    before = released(later)
    declare(later, **{**DECLARED, "subtotals": {"zip": [2]}})
    build_messages = build_with_failures(later)
    assert "released otherwise, and both would tell more together" in build_messages
    declare(later, **DECLARED)
    # Everybody of a code leaves, so that its labels are in the hierarchy alone.
    codes = {row["zip"] for row in rows_of(later, "seeds/customers.csv")}
    gone = sorted(code for code in codes if code)[0]
    later.edit(
        "seeds/customers.csv",
        lambda text: "".join(line for line in text.splitlines(True) if f",{gone}," not in line),
    )
    assert "stays as it is" in build(later)
    assert released(later) == before
    found = checked(later)
    assert found["guarantees table"].holds
    assert "which stays" in found["recomputation table"].message
    declare(later, **DECLARED, more={"release": {"composition": "strict"}})
    assert "and composition is strict" in build_with_failures(later)
    assert released(later) == before


@pytest.mark.dbt
def test_custodians_see_what_readers_can_compute_of_small_cells(project: Project) -> None:
    truth = {cell: len(people) for cell, people in by_hand(project).items()}
    rows = project.query(
        f"select {COLUMNS}, measure, value, lowest, highest, demanded from {NAME}_table_audit "
        "where effort = 1"
    )
    assert {row[:5] for row in rows} == {cell for cell, count in truth.items() if count < LEAST}
    for *cell, measure, value, lowest, highest, demanded in rows:
        assert measure == "people"
        assert value == truth[tuple(cell)]
        assert lowest <= value
        assert highest is None or highest - lowest >= 0.99 * demanded
    ((qnf,),) = project.query(f"select qnf from {NAME}_table_results where effort = 1")
    widths = [(row[8] - row[7], row[9]) for row in rows if row[8] is not None]
    assert qnf == pytest.approx(min([w / (w + d) for w, d in widths], default=1))


def build_with_failures(project: Project) -> str:
    from dbt_anonymize.project.generate import generate

    generate(project.folder, [NAME])
    return project.dbt("build", "--select", f"+path:models/{NAME}").messages
