"""Words of levels: from the files of hierarchies, and from those that are built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.level_words import words_of_relations, words_of_seeds
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.hierarchy_levels import ProjectFiles
from tests.worlds import specs

AGES = "lower_bound,upper_bound,level_1,level_2,level_3\n" + "".join(
    f"{ten},{ten + 10},[{ten}; {ten + 10}),from {ten // 20 * 20} to {ten // 20 * 20 + 20},*\n"
    for ten in range(0, 100, 10)
)
TOWNS = "value,level_1,level_2\nBonn,west,*\nKiel,north,*\nKöln,west,*\n"
DAYS = "lower_bound,upper_bound,level_1,level_2\n" + "".join(
    f"{year}-01-01,{year + 1}-01-01,{year},*\n" for year in range(2020, 2024)
)
FILES = {"ages": AGES, "towns": TOWNS, "days": DAYS}
WORDS = {"age": ("by 10", "by 20", "*"), "town": ("in 2 groups", "*"), "day": ("by year", "*")}


def _spec() -> Spec:
    columns = {
        "age": specs.intervals("ages", 3),
        "town": specs.categories("towns", 2),
        "day": specs.intervals("days", 2),
        "ill": specs.SENSITIVE,
    }
    declared = specs.spec_of("people", columns, record_key="id", target="ill", features=["age"])
    return Spec.model_validate(declared)


def _project(folder: Path) -> Path:
    (folder / "dbt_project.yml").write_text("name: people\n", encoding="utf-8")
    (folder / "seeds").mkdir()
    for name, text in FILES.items():
        (folder / "seeds" / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def test_seeds_say_what_levels_mean(tmp_path: Path) -> None:
    assert words_of_seeds(ProjectFiles(_project(tmp_path)), _spec()) == WORDS


@pytest.mark.parametrize("text", [None, "value,level_1\n", "value,level_1\nBonn,*\n"])
def test_a_seed_that_is_missing_or_wrong_says_nothing(tmp_path: Path, text: str | None) -> None:
    file = _project(tmp_path) / "seeds" / "towns.csv"
    file.unlink() if text is None else file.write_text(text, encoding="utf-8")
    assert set(words_of_seeds(ProjectFiles(tmp_path), _spec())) == {"age", "day"}


class _Warehouse:
    """Seeds as DuckDB reads them: numbers and dates are no texts."""

    def __init__(self, folder: Path) -> None:
        self._connection = duckdb.connect()
        self.kind = "duckdb"
        for name in FILES:
            file = folder / "seeds" / f"{name}.csv"
            self._connection.execute(f"create table {name} as from read_csv('{file}')")

    def relation_of_ref(self, name: str) -> str:
        if not self.rows(f"select 1 from duckdb_tables() where table_name = '{name}'"):
            raise WarehouseError(f"{name} must exist.")
        return name

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql).fetchall()


def test_built_hierarchies_say_the_same(tmp_path: Path) -> None:
    warehouse: Any = _Warehouse(_project(tmp_path))
    assert words_of_relations(warehouse, _spec()) == WORDS
    warehouse.rows("drop table towns")
    warehouse.rows("update ages set level_1 = null")
    assert words_of_relations(warehouse, _spec()) == {"day": WORDS["day"]}
