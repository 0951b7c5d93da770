"""`dbt-anonymize profile`: what it prints, against the classes of the build."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import open_warehouse
from tests.cli.conftest import run
from tests.projects import Project

NAMES = {"birth_date": "interval", "zip": "categorical", "gender": "categorical"}
LEVELS = ({"birth_date": 2, "zip": 1, "gender": 0}, {"birth_date": 0, "zip": 0, "gender": 0})


@pytest.fixture
def shop(built_consumer: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    return built_consumer


def below(project: Project, effort: int, k: int) -> float:
    """Return the share of records in classes below k, of the classes of the build."""
    ((share,),) = project.query(
        f"select coalesce(sum(class_size) filter (where class_size < {k}), 0) / sum(class_size)"
        f" from customers_classes where effort = {effort}"
    )
    return float(share)


def test_all_classes_are_counted_where_they_are_few(shop: Project) -> None:
    result = run("profile", "customers", "--project-dir", shop.folder)
    assert result.exit_code == 0, result.output
    assert "all classes counted" in result.stdout
    for effort in range(4):
        (row,) = re.findall(rf"^ *{effort} +([\d.]+)% +exact", result.stdout, re.M)
        assert float(row) == pytest.approx(100 * below(shop, effort, 4), abs=0.006)


def test_a_sample_has_an_interval_that_holds_the_share(shop: Project) -> None:
    arguments = ("--sample", "40", "-k", "3", "--project-dir", shop.folder)
    result = run("profile", "customers", *arguments)
    assert result.exit_code == 0, result.output
    for effort in range(4):
        (row,) = re.findall(rf"^ *{effort} +[\d.]+% +([\d.]+)% to ([\d.]+)%", result.stdout, re.M)
        low, high = map(float, row)
        assert low - 0.006 <= 100 * below(shop, effort, 3) <= high + 0.006


@pytest.mark.parametrize("engine", ["duckdb", "default"])
@pytest.mark.parametrize("levels", LEVELS)
def test_a_sampled_class_is_counted_whole(
    shop: Project, levels: dict[str, int], engine: str
) -> None:
    """Whatever the hash: together the parts that it makes are all classes."""
    with open_warehouse(find_project(shop.folder), None) as warehouse:
        microdata = warehouse.relation_of_ref("customers_microdata")
        declared = [
            {
                "name": name,
                "kind": kind,
                "hierarchy": warehouse.relation_of_ref(f"customers_hierarchy_{name}"),
                "level": levels[name],
            }
            for name, kind in NAMES.items()
        ]

        def counted(one_in: int) -> Counter[int]:
            sql = warehouse.macro(
                "_sampled_class_sizes",
                microdata=microdata,
                quasi_identifiers=declared,
                one_in=one_in,
            )
            if engine == "default" and one_in > 1:
                condition = warehouse.macro(
                    "default___is_one_in", one_in=one_in, quasi_identifiers=declared
                )
                sql, changed = re.subn(r"where hash\(.*", f"where {condition}", sql)
                assert changed == 1
            return Counter(dict(warehouse.rows(sql)))

        whole, half = counted(1), counted(2)
    assert sum(size * classes for size, classes in whole.items()) == len(
        shop.query("from customers_microdata")
    )
    assert half < whole
    assert 0.25 < half.total() / whole.total() < 0.75


def test_what_cannot_be_profiled_is_said(shop: Project) -> None:
    result = run("profile", "nobody", "--project-dir", shop.folder)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
