"""Values of a hierarchy from a file."""

import pytest

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.commands.values import read_column


def test_a_column_is_read_without_its_empty_cells(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text('zip,name\n01234,"a,b"\n,c\n00999,d\n', encoding="utf-8")
    assert read_column(file, "zip") == ["01234", "00999"]
    with pytest.raises(HierarchyError, match="must have the column city; got: zip, name"):
        read_column(file, "city")
    file.write_text("zip,name\n01234\n", encoding="utf-8")
    with pytest.raises(HierarchyError, match="first on line 2"):
        read_column(file, "zip")
