"""Read and write hierarchy seeds: RFC 4180 CSV in UTF-8."""

from __future__ import annotations

import csv
from pathlib import Path

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.model import Hierarchy
from dbt_anonymize.hierarchies.table import SeedRow, SeedTable, table_kind


def read_rows(path: Path, *, delimiter: str = ",", limit: int | None = None) -> tuple[SeedRow, ...]:
    """Return the rows of a UTF-8 CSV file that are not blank, with the line on which each starts.

    ``limit`` is the largest number of rows. A file that cannot be read, is not UTF-8 or has broken
    quotation marks is a `HierarchyError`.
    """
    rows: list[SeedRow] = []
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for cells in reader:
                if cells:
                    rows.append(SeedRow(line, tuple(cells)))
                if len(rows) == limit:
                    break
                line = reader.line_num + 1
    except UnicodeDecodeError:
        raise HierarchyError(
            f"{path} must be UTF-8 text; it is not. Save it with the encoding UTF-8."
        ) from None
    except csv.Error:
        raise HierarchyError(
            f"{path} must be CSV; quotation marks or line ends near line {line} are broken. "
            'Write a quotation mark inside a quoted cell as "".'
        ) from None
    except OSError as error:
        raise HierarchyError(
            f"{path} must be a readable file; got: {error.strerror}. Correct the path."
        ) from None
    return tuple(rows)


def read_header(path: Path) -> tuple[str, ...]:
    """Return the header row of a CSV file, empty if there is none."""
    return next((row.cells for row in read_rows(path, limit=1)), ())


def read_table(path: Path) -> SeedTable:
    """Return the rows of a hierarchy seed as text, unchecked.

    A file that cannot be read, or has another header, is a `HierarchyError`.
    """
    rows = read_rows(path)
    header = rows[0].cells if rows else ()
    return SeedTable(table_kind(header, name=str(path)), header, rows[1:])


def hierarchy_csv(hierarchy: Hierarchy) -> str:
    r"""Return the text of the seed of a hierarchy.

    Parameters
    ----------
    hierarchy : Hierarchy
        The hierarchy.

    Returns
    -------
    str
        CSV with a header row; lines end in a line feed, whatever the operating system.

    Examples
    --------
    >>> from dbt_anonymize.hierarchies.model import CategoricalHierarchy
    >>> hierarchy_csv(CategoricalHierarchy(("yes, no",), (("*",),)))
    'value,level_1\n"yes, no",*\n'
    """
    table = hierarchy.table()
    rows = [table.columns, *(row.cells for row in table.rows)]
    return "".join(",".join(map(_quote, cells)) + "\n" for cells in rows)


def write_hierarchy(hierarchy: Hierarchy, path: Path) -> None:
    """Write the seed of a hierarchy into an existing folder; an existing file is replaced."""
    path.write_text(hierarchy_csv(hierarchy), encoding="utf-8", newline="\n")


def _quote(cell: str) -> str:
    """Quote a cell if needed; the csv module of Python 3.11 forgets lone carriage returns."""
    if any(character in cell for character in ',"\r\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell
