"""Small cells that are hidden stay so: an attacker has the table alone, and her own presence."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dbt_anonymize
from dbt_anonymize.extensions.tables.audit import intervals
from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.hidden import hidden_intervals
from dbt_anonymize.extensions.tables.programs import Known
from dbt_anonymize.extensions.tables.reading import Published, read_table
from tests.docs.pages import DOCS, Page
from tests.extensions.tables.test_audit_command import audit
from tests.extensions.tables.untested import untested
from tests.projects import Project

pytestmark = pytest.mark.costly

has_pytauargus = pytest.mark.skipif(untested() is not None, reason=str(untested()))
PAGE = Page(DOCS / "extensions" / "tables.md")


def counted(rng: np.random.Generator, *sizes: int, most: int = 30) -> pd.DataFrame:
    """Return a table with all totals."""
    names = [f"d{place}" for place in range(len(sizes))]
    shape = [[f"{place}{i}" for i in range(size)] for place, size in enumerate(sizes)]
    inner = {cell: int(rng.integers(0, most)) for cell in itertools.product(*shape)}
    rows = [
        (*cell, sum(n for c, n in inner.items() if _is_below(c, cell)))
        for cell in itertools.product(*[[*labels, None] for labels in shape])
    ]
    return pd.DataFrame(rows, columns=[*names, "people"])


def _is_below(cell: tuple[str, ...], total: tuple[str | None, ...]) -> bool:
    return all(y in (None, x) for x, y in zip(cell, total, strict=True))


def hide(cells: pd.DataFrame, tmp_path: Path, minimum: int = 5, **options: Any) -> pd.DataFrame:
    return dbt_anonymize.suppress_table(
        cells,
        dimensions=[*cells.columns[:-1]],
        count="people",
        minimum_frequency=minimum,
        folder=tmp_path / "private",
        **options,
    )


def seen(shown: pd.DataFrame) -> Published:
    dimensions = [name for name in shown.columns if name.startswith("d")]
    columns = shown[[*dimensions, "people"]].astype(object)
    return read_table(columns.where(columns.notna(), None).to_numpy().tolist(), dimensions, None)


@pytest.mark.sampled(1)
@has_pytauargus
@pytest.mark.parametrize("sizes", [(5,), (4, 4), (2, 3, 3)], ids=str)
def test_no_small_cell_can_be_told(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    small_cells = 0
    for _ in range(2):
        cells = counted(rng, *sizes)
        shown = hide(cells, tmp_path)
        is_small = cells.people.between(1, 4)
        small_cells += int(is_small.sum())
        assert (shown.status[is_small] == "hidden").all()
        assert (shown.status[cells.people == 0] == "published").all()
        is_shown = shown.status == "published"
        assert (shown.people[is_shown] == cells.people[is_shown]).all()
        assert shown.people[~is_shown].isna().all()
        table = seen(shown)
        # Hidden cells that are not small may be told: they give nobody away.
        for one in hidden_intervals(table):
            row = cells[[*cells.columns[:-1]]].apply(
                lambda r, labels=one.labels: tuple(None if pd.isna(x) else x for x in r) == labels,
                axis=1,
            )
            (true,) = cells.people[row]
            assert one.lowest <= true <= one.highest
            assert one.hides(5) or true >= 5
        # Somebody knows that one hidden cell is not empty.
        known = Known.of_published(table.values)
        small = table.of_row[is_small.to_numpy()]
        for cell in np.flatnonzero(table.is_hidden):
            known.lowest[cell], before = 1.0, known.lowest[cell]
            _, highest = intervals(table.cube, known, small, are_integers=True)
            assert (highest >= 5).all()
            known.lowest[cell] = before
    assert small_cells > 0


@pytest.mark.sampled(2)
@has_pytauargus
@pytest.mark.parametrize(
    "inner",
    [
        [1, 1, 1, 1, 1, 1, 20],
        [[1, 0, 2, 0]],
        [[1, 4, 1, 1], [0, 5, 2, 4]],
        [[[0, 0, 1], [0, 2, 0], [1, 0, 0]], [[0, 2, 2], [0, 1, 3], [0, 0, 2]]],
        np.tile([1, 2, 1, 1, 30], (12, 5)).tolist(),  # above 250 cells
    ],
    ids=["line", "zeros", "matrix", "three dimensions", "modular"],
)
def test_shown_zeros_tell_that_no_hidden_cell_is_empty(tmp_path: Path, inner: Any) -> None:
    """Six hidden cells that add up to 6 are six ones."""
    values = np.array(inner)
    for axis in range(values.ndim):
        values = np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)
    last = np.array(values.shape) - 1
    rows = [
        (*(None if n == end else f"{n:02}" for n, end in zip(at, last, strict=True)), int(people))
        for at, people in np.ndenumerate(values)
    ]
    names = [f"d{place}" for place in range(values.ndim)]
    cells = pd.DataFrame(rows, columns=[*names, "people"])
    table = seen(hide(cells, tmp_path))
    known = Known.of_published(table.values)
    known.lowest[table.is_hidden] = 1.0
    small = np.flatnonzero(cells.people.between(1, 4))
    of_small = table.of_row[small]
    lowest, highest = intervals(table.cube, known, of_small, are_integers=True)
    assert (highest >= 6).all()
    assert (lowest[table.cube.is_inner[of_small]] == 1).all()
    assert len(small) > 0


@has_pytauargus
def test_sums_protect_the_largest_contributor(tmp_path: Path) -> None:
    """Nobody's cost can be told to 20 percent, by whom contributes most beside her."""
    rng = np.random.default_rng(9)
    costs = pd.DataFrame(
        {
            "d0": rng.choice([*"abcd"], 70),
            "d1": rng.choice([*"xyz"], 70),
            "cost": np.round(rng.pareto(0.8, 70) * 100),
        }
    )
    rows = []
    for d0, d1 in itertools.product([*"abcd", None], [*"xyz", None]):
        of = costs[(costs.d0 == (d0 or costs.d0)) & (costs.d1 == (d1 or costs.d1))].cost
        first, second = sorted([*of, 0.0, 0.0], reverse=True)[:2]
        rows.append((d0, d1, len(of), of.sum(), first, second))
    names = ["d0", "d1", "people", "cost", "cost_first", "cost_second"]
    cells = pd.DataFrame(rows, columns=names)
    sums = {"cost": ("cost_first", "cost_second")}
    shown = dbt_anonymize.suppress_table(
        cells,
        dimensions=["d0", "d1"],
        count="people",
        sums=sums,
        minimum_frequency=3,
        p_percent=20,
        folder=tmp_path / "private",
    )
    assert [*shown.columns] == ["d0", "d1", "people", "cost", "status"]
    assert (shown.people.isna() == (shown.status == "hidden")).all()
    assert (shown.cost.isna() == (shown.status == "hidden")).all()
    others = cells.cost - cells.cost_first - cells.cost_second
    demanded = 0.2 * cells.cost_first - others
    is_primary = (demanded > 0) & (cells.cost > 0)
    assert 2 < is_primary.sum() < len(cells)
    columns = shown[["d0", "d1", "cost"]].astype(object)
    table = read_table(columns.where(columns.notna(), None).to_numpy().tolist(), ["d0", "d1"], None)
    of_primary = table.of_row[is_primary.to_numpy()]
    lowest, highest = intervals(table.cube, Known.of_published(table.values), of_primary)
    told = cells.cost[is_primary].to_numpy()
    assert (lowest <= np.maximum(told - demanded[is_primary], 0) + 1e-3).all()
    assert (highest >= told + demanded[is_primary] - 1e-3).all()


@has_pytauargus
def test_margins_that_are_not_shown_cost_nothing(tmp_path: Path) -> None:
    """Without totals, small cells alone are hidden."""
    cells = counted(np.random.default_rng(8), 4, 4)
    inner = cells[cells.d0.notna() & cells.d1.notna()].reset_index(drop=True)
    shown = hide(inner, tmp_path)
    assert (shown.status == "hidden").tolist() == inner.people.between(1, 4).tolist()
    assert (hide(cells, tmp_path).status == "hidden").sum() > (shown.status == "hidden").sum()


@has_pytauargus
def test_the_page_hides_what_it_shows(consumer: Project) -> None:
    """Count, hide, test, audit: as the page says, in a stranger's project."""
    models = consumer.folder / "models"
    for name in ("keys.sql", "counted.sql", "shown.py"):
        (code,) = re.findall(rf"```\w+\n\S+ models/{name}\n(.*?)```", PAGE.text, re.S)
        (models / name).write_text(code, encoding="utf-8")
    (declared,) = re.findall(r"```yaml\n(models:\n  - name: shown\n.*?)```", PAGE.text, re.S)
    (models / "tables.yml").write_text(declared, encoding="utf-8")
    assert consumer.dbt("build", "-s", "keys+").succeeded
    hidden = "select count(*) from shown where status = 'hidden' and people is null"
    assert consumer.query(hidden)[0][0] > 3
    assert audit(consumer, "shown", minimum=5, of=("zip", "gender"))[0] == 0


TABLE = pd.DataFrame({"d0": ["a", "b", None], "people": [3, 8, 11]})


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (TABLE.rename(columns={"people": "n"}), "missing: people"),
        (TABLE.assign(people=[3, None, 11]), "people must have a figure in each row; 1 are NULL"),
        (TABLE.assign(people=[3, 8, 12]), "1 of 3 totals are no sums"),
        (TABLE.assign(people=[3.5, 8, 11.5]), "people must have whole numbers"),
        (TABLE.assign(people=[-3, 8, 5]), "must not be negative"),
        (TABLE.assign(d0=["a", "a", None]), "1 of 3 rows repeat another"),
        (
            TABLE.assign(people=["3", "many", "11"]),
            "counts must be finite numbers; 1 of 3 are none",
        ),
        (
            TABLE.assign(people=[3, np.inf, np.inf]),
            "counts must be finite numbers; 2 of 3 are none",
        ),
        (TABLE.iloc[:0], "a table of counts must have cells; it has no row"),
        (
            pd.DataFrame({"d0": ["a", None], "d1": [None, "x"], "people": [7, 7]}),
            "must have its finest cells",
        ),
    ],
)
def test_what_cannot_be_hidden_is_said(tmp_path: Path, cells: pd.DataFrame, said: str) -> None:
    with pytest.raises(TableError, match=said):
        dbt_anonymize.suppress_table(
            cells,
            dimensions=[name for name in cells.columns if name.startswith("d")],
            count="people",
            folder=tmp_path / "private",
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minimum_frequncy": 5}, "rules must be minimum_frequency, p_percent, dominance; got"),
        ({"minimum_frequency": 0}, "minimum_frequency must be a whole number >= 2"),
        ({"minimum_frequency": 1}, "got 1. Nobody is hidden by it; 5 is usual"),
        ({"minimum_frequency": "5"}, "minimum_frequency must be a whole number >= 2"),
        ({"dimensions": []}, "dimensions must be a list of columns, none of them twice; got none"),
        ({"dimensions": "d0"}, "dimensions must be a list of columns"),
        ({"dimensions": ["d0", "d0"]}, "none of them twice; got d0, d0"),
        ({"dimensions": ["d0", "people"]}, "none of them twice; got d0, people, people"),
        ({"other": ["share"]}, "missing: share"),
        ({"sums": {"cost": ("c1", "c2")}}, "missing: cost, c1, c2"),
    ],
)
def test_rules_that_are_none_are_said(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    given = {"dimensions": ["d0"], "count": "people", "folder": tmp_path / "private", **options}
    with pytest.raises(TableError, match=said) as error:
        dbt_anonymize.suppress_table(TABLE, **given)
    assert "\n" not in str(error.value)


def test_a_dimension_may_not_be_called_as_the_status(tmp_path: Path) -> None:
    cells = TABLE.rename(columns={"d0": "status"})
    with pytest.raises(TableError, match="a column status, which says what is hidden; rename it"):
        hide(cells, tmp_path)


def test_a_column_that_may_give_counts_away_is_named_or_left_out(tmp_path: Path) -> None:
    """Two shares beside one shown count tell the hidden ones."""
    cells = TABLE.assign(people=[9, 8, 17], share=[9 / 17, 8 / 17, 1.0], area=["x", "y", None])
    given: dict[str, Any] = {
        "dimensions": ["d0"],
        "count": "people",
        "folder": tmp_path / "private",
    }
    with pytest.raises(TableError, match=r"no argument names share, area\.") as error:
        dbt_anonymize.suppress_table(cells, **given)
    assert "\n" not in str(error.value)
    with pytest.raises(TableError, match=r"no argument names share\."):
        dbt_anonymize.suppress_table(cells, other=["area"], **given)
    shown = dbt_anonymize.suppress_table(cells.drop(columns="share"), other=["area"], **given)
    assert [*shown.columns] == ["d0", "people", "area", "status"]


def test_a_total_that_no_row_has_is_said(tmp_path: Path) -> None:
    """A misspelt label would be one more category, and give back what is hidden."""
    cells = TABLE.assign(d0=["a", "b", "all"])
    with pytest.raises(TableError, match=r"total must be a label of d0; no row has 'All'"):
        hide(cells, tmp_path, total="All")


def test_a_table_that_cannot_be_checked_as_a_whole_is_refused(tmp_path: Path) -> None:
    wide = pd.DataFrame({"d0": [f"{i}" for i in range(25_001)], "people": 9})
    with pytest.raises(TableError, match=r"at most 25,000 cells, totals included.*got 25,002"):
        hide(wide, tmp_path)


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(TableError, match="another's or a link"):
        dbt_anonymize.suppress_table(
            TABLE, dimensions=["d0"], count="people", folder=tmp_path / "link"
        )
