from pathlib import Path

import pytest

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.extensions.hierarchy_builders.rules import check, is_nested, violations
from dbt_anonymize.hierarchies import read_table

INTERVALS = "lower_bound,upper_bound,level_1,level_2,level_3"
VALUES = "value,level_1,level_2"

WRONG = {
    "gap": (INTERVALS, "0,1,a,x,*|2,3,b,y,*", "intervals have no gap between them", None, (3,)),
    "overlap": (INTERVALS, "0,2,a,x,*|1,3,b,y,*", "intervals do not overlap", None, (3,)),
    "interval within an interval": (
        INTERVALS,
        "0,9,a,x,*|1,2,b,y,*|9,10,c,z,*",
        "intervals do not overlap",
        None,
        (3,),
    ),
    "equal intervals": (INTERVALS, "0,1,a,x,*|0,1,b,y,*", "intervals do not overlap", None, (3,)),
    "swapped bounds": (
        INTERVALS,
        "1,0,a,x,*|1,2,b,y,*",
        "bounds are finite and lower_bound < upper_bound",
        None,
        (2,),
    ),
    "infinite bound": (
        INTERVALS,
        "0,1,a,x,*|1,Infinity,b,y,*",
        "bounds are finite and lower_bound < upper_bound",
        None,
        (3,),
    ),
    "not a number": (
        INTERVALS,
        "NaN,1,a,x,*|1,2,b,y,*",
        "bounds are finite and lower_bound < upper_bound",
        None,
        (2,),
    ),
    "empty bound": (
        INTERVALS,
        ",1,a,x,*|1,2,b,y,*",
        "bounds are finite and lower_bound < upper_bound",
        None,
        (2,),
    ),
    "impossible date": (
        INTERVALS,
        "2023-02-28,2023-02-29,a,x,*",
        "bounds are finite and lower_bound < upper_bound",
        None,
        (2,),
    ),
    "dates among numbers": (
        INTERVALS,
        "0,1,a,x,*|2024-01-01,2024-01-02,b,y,*",
        "bounds are all numbers or all dates",
        None,
        (3,),
    ),
    "repeated leaf label": (
        INTERVALS,
        "0,1,a,x,*|1,2,a,x,*",
        "labels of level 1 are unique",
        1,
        (3,),
    ),
    "scattered label": (
        INTERVALS,
        "0,1,a,x,*|1,2,b,y,*|2,3,c,x,*",
        "labels cover neighbouring intervals",
        2,
        (4,),
    ),
    "root below the top": (
        INTERVALS,
        "0,1,a,x,*|1,2,b,*,*",
        "the root label * stands at the top level only",
        2,
        (3,),
    ),
    "no interval": (INTERVALS, "", "it has at least one interval", None, ()),
    "no value": (VALUES, "", "it has at least one value", None, ()),
    "ragged row": (VALUES, "a,x,*|b,y", "every row has as many cells as the header", None, (3,)),
    "empty value": (
        VALUES,
        "a,x,*|,y,*",
        "values are not NULL (NULL generalizes to * by itself)",
        None,
        (3,),
    ),
    "repeated value": (VALUES, "a,x,*|b,y,*|a,x,*", "values are unique", None, (4,)),
    "root as value": (VALUES, "a,x,*|*,*,*", "the root label * is not a value", None, (3,)),
    "empty label": (VALUES, "a,x,*|b,,*", "labels are not empty", 1, (3,)),
    "empty root": (VALUES, "a,x,*|b,y,", "labels are not empty", 2, (3,)),
    "no root": (VALUES, "a,x,all|b,y,*", "the top level is the root *", 2, (2,)),
    "root twice": (
        VALUES,
        "a,*,*|b,*,*",
        "only the top level is wholly * (leave the other out)",
        1,
        (2, 3),
    ),
    "root left again": (
        "value,level_1,level_2,level_3",
        "a,*,x,*|b,y,x,*",
        "the label * stays * at every higher level",
        1,
        (2,),
    ),
    "two parents": (
        "value,level_1,level_2,level_3",
        "a,x,p,*|b,x,q,*",
        "a label has one parent (declare nested: false to relax it)",
        1,
        (3,),
    ),
}


def write(folder: Path, header: str, rows: str) -> Path:
    file = folder / "hierarchy.csv"
    file.write_text("\n".join([header, *filter(None, rows.split("|"))]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_hierarchy_is_reported_with_rule_level_and_lines(tmp_path, case):
    header, rows, rule, level, lines = WRONG[case]
    file = write(tmp_path, header, rows)
    found = {
        (violation.rule, violation.level, violation.lines)
        for violation in violations(read_table(file))
    }
    assert (rule, level, lines) in found
    with pytest.raises(HierarchyError) as error:
        read_hierarchy(file)
    assert rule in str(error.value)
    assert str(file) in str(error.value)


def test_all_broken_rules_are_listed_in_one_error(tmp_path):
    file = write(tmp_path, INTERVALS, "0,1,a,x,*|2,3,a,,root|2,4,b,x,*")
    with pytest.raises(HierarchyError) as error:
        read_hierarchy(file)
    for rule in (
        "no gap between them",
        "do not overlap",
        "level 1 are unique",
        "labels are not empty",
        "the top level is the root",
        "cover neighbouring intervals",
    ):
        assert rule in str(error.value)


def test_rows_may_stand_in_any_order_and_are_read_in_ascending_order(tmp_path):
    file = write(tmp_path, INTERVALS, "10,20,b,x,*|-5,2,a,x,*|2,10,c,x,*")
    hierarchy = read_hierarchy(file)
    assert [int(bound) for bound in hierarchy.lower_bounds] == [-5, 2, 10]
    assert hierarchy.labels[0] == ("a", "c", "b")


def test_the_message_names_lines_and_never_quotes_a_cell(tmp_path):
    file = write(tmp_path, VALUES, "Rosa,x,*|Rosa,x,*")
    (violation,) = violations(read_table(file))
    assert str(violation) == "values are unique (1 row, line 3)"


def test_many_lines_are_cut_short_in_the_message(tmp_path):
    file = write(tmp_path, VALUES, "|".join(["a,x,*"] * 30))
    (violation,) = violations(read_table(file))
    assert str(violation) == "values are unique (29 rows, lines 3, 4, 5, 6, 7, 8, 9, 10, …)"


def test_a_hierarchy_that_is_not_nested_passes_only_when_that_is_declared(tmp_path):
    file = write(tmp_path, f"{INTERVALS},level_4", "0,1,a,x,p,*|1,2,b,x,q,*|2,3,c,y,q,*")
    hierarchy = read_hierarchy(file, nested=False)
    assert not is_nested(hierarchy)
    assert check(hierarchy, name="widths", nested=False) is hierarchy
    with pytest.raises(HierarchyError, match="hierarchy widths must keep these rules"):
        check(hierarchy, name="widths")


@pytest.mark.parametrize(
    "header",
    ["value", "lower_bound,upper_bound", "value,level_1,level_3", "value,level_2,level_1", "a,b"],
)
def test_a_header_of_neither_kind_is_refused(tmp_path, header):
    with pytest.raises(HierarchyError, match="columns of a hierarchy must be"):
        read_table(write(tmp_path, header, "x,*"))
