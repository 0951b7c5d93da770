import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.arx import (
    arx_text,
    read_arx,
    to_interval_hierarchy,
)
from dbt_anonymize.extensions.hierarchy_builders.commands.hierarchy import app
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.hierarchies import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import write_hierarchy

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", ROOT.parent / "shared" / "data"))
ADULT_FILES = sorted((DATA / "adult").glob("adult_hierarchy_*.csv"))


def write(folder: Path, text: str) -> Path:
    file = folder / "arx.csv"
    file.write_text(text, encoding="utf-8", newline="")
    return file


def test_null_and_any_are_left_out_and_levels_above_the_root_are_cut_off(tmp_path):
    file = write(tmp_path, 'a;"x;1";*;*\r\nb;y;*;*\r\nNULL;NULL;*;*\r\n*;*;*;*\r\n')
    assert read_arx(file) == CategoricalHierarchy(("a", "b"), (("x;1", "y"), ("*", "*")))


def test_a_missing_root_is_added(tmp_path):
    assert read_arx(write(tmp_path, "a;x\nb;y\n")).labels == (("x", "y"), ("*", "*"))


def test_numbers_become_intervals_with_the_labels_of_the_file(tmp_path):
    hierarchy = to_interval_hierarchy(
        read_arx(write(tmp_path, "10;ten;all\n0;low;all\n5;low;all\n20;high;all\n"))
    )
    assert violations(hierarchy) == ()
    assert [int(bound) for bound in hierarchy.lower_bounds] == [0, 10, 20]
    assert [int(bound) for bound in hierarchy.upper_bounds] == [10, 20, 25]
    assert hierarchy.labels[0] == ("low", "ten", "high")


def test_dates_become_intervals_that_end_a_day_after_the_last():
    values = ("2024-02-28", "2024-02-29")
    hierarchy = to_interval_hierarchy(CategoricalHierarchy(values, (("a", "b"), ("*", "*"))))
    assert str(hierarchy.upper_bounds[-1]) == "2024-03-01"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "equally many cells"),
        ("a;x;*\nb;*\n", r"1 of 2 differ from the first one, lines \[2\]"),
        ("NULL;*\n", "must hold values"),
        ("a;x;p;*\nb;x;q;*\n", "one parent"),
        ("a;*\na;*\n", "values are unique"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, text, message):
    with pytest.raises(HierarchyError, match=message):
        read_arx(write(tmp_path, text))


@pytest.mark.parametrize(
    ("values", "labels", "message"),
    [
        (("1", "x"), (("a", "b"), ("*", "*")), "1 of 2 are neither"),
        (("1", "2024-01-01"), (("a", "b"), ("*", "*")), "kinds are mixed"),
        (("1", "2", "3"), (("a", "b", "a"), ("*",) * 3), "labels of level 1 are unique"),
        (("1", "2"), (("a", "a"), ("p", "q"), ("*",) * 2), "cut by higher levels"),
        (("1", "1.0"), (("a", "b"), ("*", "*")), "lower_bound < upper_bound"),
    ],
)
def test_what_is_no_interval_is_not_converted(values, labels, message):
    with pytest.raises(HierarchyError, match=message):
        to_interval_hierarchy(CategoricalHierarchy(values, labels))


@pytest.mark.skipif(not ADULT_FILES, reason=f"needs the ARX hierarchies of adult in {DATA}")
def test_the_adult_hierarchies_of_arx_are_imported():
    imported = {file.stem.removeprefix("adult_hierarchy_"): read_arx(file) for file in ADULT_FILES}
    assert {name: hierarchy.levels for name, hierarchy in imported.items()} == {
        "age": 4,
        "education": 3,
        "marital-status": 2,
        "native-country": 2,
        "occupation": 2,
        "race": 1,
        "salary-class": 1,
        "sex": 1,
        "workclass": 2,
    }
    age = to_interval_hierarchy(imported["age"])
    assert age.levels == 4
    assert (int(age.lower_bounds[0]), int(age.upper_bounds[-1])) == (1, 101)
    for value, *labels in zip(imported["age"].values, *imported["age"].labels, strict=True):
        leaf = age.leaf(int(value))
        assert [level[leaf] for level in age.labels] == labels


@pytest.mark.parametrize("delimiter", [";", ","])
def test_what_is_exported_is_imported_as_it_was(tmp_path, delimiter):
    hierarchy = CategoricalHierarchy(
        ("a;b", 'say "c"', "größe", "1,5"), (("x", "x", "y", "y;z"), ("*",) * 4)
    )
    file = tmp_path / "arx.csv"
    file.write_text(arx_text(hierarchy, delimiter=delimiter), encoding="utf-8")
    assert read_arx(file, delimiter=delimiter) == hierarchy


def test_intervals_are_exported_for_the_values_of_the_data():
    hierarchy = IntervalHierarchy(
        (Decimal(0), Decimal(18)),
        (Decimal(18), Decimal(65)),
        (("[0, 18)", "[18, 65)"), ("*", "*")),
    )
    text = arx_text(hierarchy, ["17.5", "18", "18"])
    assert text == "17.5;[0, 18);*\n18;[18, 65);*\nNULL;*;*\n"
    for values, reason in (
        (["65"], "1 of 1 are in none"),
        (["2020-01-01", "x"], "2 of 2 are in none"),
        ([], "Name the values of intervals"),
    ):
        with pytest.raises(HierarchyError, match=reason):
            arx_text(hierarchy, values)
    with pytest.raises(HierarchyError, match="none of them NULL"):
        arx_text(CategoricalHierarchy(("NULL",), (("*",),)))


def test_moments_are_in_the_intervals_of_their_days_for_export_and_extension(tmp_path):
    tree = date_intervals(date(2024, 3, 1), date(2024, 4, 30), ["month"])
    moments = ["2024-03-31 23:59:59.25", "2024-04-01T00:00", "2024-04-30"]
    rows = arx_text(tree, moments).splitlines()
    assert rows[:3] == [
        f"{moments[0]};2024-03;*",
        f"{moments[1]};2024-04;*",
        f"{moments[2]};2024-04;*",
    ]
    file, data = tmp_path / "tree.csv", tmp_path / "data.csv"
    write_hierarchy(tree, file)
    data.write_text("\n".join(["seen", *moments, ""]), encoding="utf-8")
    words = [str(file), "--from", str(data), "--column", "seen"]
    result = CliRunner().invoke(app, ["extend", *words])
    assert result.output == f"{file}: nothing to add.\n"
    data.write_text("seen\n2024-05-01 00:00:00\n", encoding="utf-8")
    assert CliRunner().invoke(app, ["extend", *words]).output == f"{file}: 1 interval added.\n"
    result = CliRunner().invoke(app, ["export-arx", *words, "-o", str(tmp_path / "arx.csv")])
    assert (tmp_path / "arx.csv").read_text("utf-8").startswith("2024-05-01 00:00:00;2024-05;*")


def test_a_file_with_another_delimiter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "city.csv"
    file.write_text("Bonn,west,*\nKiel,north,*\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match=r"with a ',' in it.*Write --delimiter ','"):
        read_arx(file)
    assert read_arx(file, delimiter=",").values == ("Bonn", "Kiel")
    # A comma within a label says nothing.
    file.write_text("Bonn, west;*\nKiel, north;*\n", encoding="utf-8")
    assert read_arx(file).values == ("Bonn, west", "Kiel, north")
