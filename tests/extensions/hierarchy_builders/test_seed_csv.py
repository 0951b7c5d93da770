from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.hierarchies import (
    CategoricalHierarchy,
    IntervalHierarchy,
    hierarchy_csv,
    read_table,
    write_hierarchy,
)

texts = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\",;\n\r\t*'é漢 "), min_size=1
).filter(lambda text: text != "*")


def numbers(*texts: str) -> tuple[Decimal, ...]:
    return tuple(Decimal(text) for text in texts)


@given(values=st.lists(texts, unique=True, min_size=1, max_size=8), data=st.data())
def test_any_text_survives_writing_and_reading(tmp_path_factory, values, data):
    groups = data.draw(st.lists(texts, min_size=len(values), max_size=len(values)))
    hierarchy = CategoricalHierarchy(tuple(values), (tuple(groups), ("*",) * len(values)))
    file = tmp_path_factory.mktemp("seed") / "hierarchy.csv"
    write_hierarchy(hierarchy, file)
    assert read_hierarchy(file) == hierarchy


@pytest.mark.parametrize(
    "hierarchy",
    [
        IntervalHierarchy(
            numbers("-1.5", "0", "0.25"), numbers("0", "0.25", "1000"), (tuple("abc"), tuple("***"))
        ),
        IntervalHierarchy(
            (date(2023, 12, 31), date(2024, 1, 1)),
            (date(2024, 1, 1), date(2024, 1, 2)),
            (("last", "first"), ("*", "*")),
        ),
    ],
)
def test_bounds_survive_writing_and_reading(tmp_path, hierarchy):
    file = tmp_path / "hierarchy.csv"
    write_hierarchy(hierarchy, file)
    assert read_hierarchy(file) == hierarchy


def test_bounds_are_written_without_exponents_and_superfluous_zeros():
    labels = ("[-1.5, 0)", "[0, 1000)"), ("*", "*")
    text = hierarchy_csv(IntervalHierarchy(numbers("-1.50", "0.0"), numbers("0.0", "1e3"), labels))
    assert text == (
        'lower_bound,upper_bound,level_1,level_2\n-1.5,0,"[-1.5, 0)",*\n0,1000,"[0, 1000)",*\n'
    )


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path):
    file = tmp_path / "hierarchy.csv"
    file.write_bytes("\ufeffvalue,level_1\r\nNúñez,*\r\n\r\nb,*\r\n".encode())
    assert read_hierarchy(file).values == ("Núñez", "b")


def test_lines_are_counted_in_the_file_and_not_in_rows(tmp_path):
    file = tmp_path / "hierarchy.csv"
    file.write_text('value,level_1\n"two\nlines",*\n\nb,*\n', encoding="utf-8")
    assert [row.line for row in read_table(file).rows] == [2, 5]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"value,level_1\n\xff,*\n", "must be UTF-8"),
        (b'value,level_1\n"a"b,*\n', "quotation marks or line ends near line 2"),
        (b'value,level_1\n"a,*\n', "quotation marks"),
        (b"", "columns of a hierarchy"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, message):
    file = tmp_path / "hierarchy.csv"
    file.write_bytes(content)
    with pytest.raises(HierarchyError, match=message):
        read_table(file)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(HierarchyError, match="must be a readable file"):
        read_table(tmp_path / "absent.csv")
