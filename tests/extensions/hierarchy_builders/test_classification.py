"""Hierarchies of classifications: ICD-10, and what is none."""

from pathlib import Path

import pytest

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.classification import (
    classify,
    read_classification,
)
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested

UNEVEN = """code,parent,level
A00-B99,,3
A00-A09,A00-B99,2
A01,A00-A09,1
A01.1,A01,0
U07,,3
"""


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str) -> Path:
        file = tmp_path / "codes.csv"
        file.write_text(text, encoding="utf-8")
        return file

    return written


def test_a_level_bridges_codes_of_uneven_depth(write) -> None:
    hierarchy = classify(read_classification(write(UNEVEN)))
    assert hierarchy.values == ("A01.1", "U07")
    assert hierarchy.labels == (("A01", "U07"), ("A00-A09", "U07"), ("A00-B99", "U07"), ("*", "*"))
    assert is_nested(hierarchy)


def test_values_belong_to_the_longest_code_that_begins_them(write) -> None:
    nodes = read_classification(write("code,parent\nA,\nA0,A\nA01,A0\nB,\nB0,B\nB01,B0\n"))
    hierarchy = classify(nodes, ["A01.9", "A0X", "B01"])
    assert hierarchy.labels == (
        ("A01", "A0", "B01"),
        ("A0", "A0", "B0"),
        ("A", "A", "B"),
        ("*",) * 3,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("code\nA\n", "must have the columns code and parent; missing: parent"),
        ("", "must have the columns code and parent"),
        ("code,parent\nA,\nA01,A\nB,\nA01,B\n", "a code of their own, with one parent; 2 have not"),
        ("code,parent\nA01,A\n", "must have a parent that is a code; 1 have not, rows 2"),
        ("code,parent\nA,B\nB,A\n", "go round in a circle at 2 codes"),
        ("code,parent\nA,A\n", "go round in a circle at 1 codes"),
        (
            "code,parent\nA,\nA0,A\nA01,A0\nB,\n",
            "must be equally deep; they are 1 to 3 levels deep",
        ),
        ("code,parent,level\nA,,1\nA0,A,1\n", "must be below that of its parent; 1 are not"),
        ("code,parent,level\nA,,top\n", "must have a whole number as level"),
        ("code,parent,label\nA,,x\nA0,A,x\n", "must have a label of their own; 2 have not"),
        ("code,parent\nA,\n,A\n", "must have a code other than *"),
        ("code,parent\nA\n", "must have as many cells as the header"),
    ],
)
def test_what_is_no_classification_is_refused_in_one_line(write, text: str, message: str) -> None:
    with pytest.raises(HierarchyError) as error:
        classify(read_classification(write(text)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_values_of_no_code_are_refused_and_not_shown(write) -> None:
    nodes = read_classification(write("code,parent\nA,\nA0,A\n"))
    with pytest.raises(HierarchyError, match="1 of 2 do not") as error:
        classify(nodes, ["A01", "secret"])
    assert "secret" not in str(error.value)
