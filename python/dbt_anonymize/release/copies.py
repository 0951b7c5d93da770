"""Copies of a release in other formats, beside its DuckDB file and of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import PublishError, safe_reason
from dbt_anonymize.literals import quote_name, quote_path, quote_text
from dbt_anonymize.release.audit import open_file

# Options of `copy` by format: what every program reads, without guessing a dialect.
_COPY_OPTIONS = {
    "parquet": "format parquet, compression zstd",
    "csv": "format csv, header true, delimiter ',', quote '\"', escape '\"'",
}


# Names of anonymizations have no dot, so that no other file has this part.
_ABOUT = "about."


def places_of_copies(release: Path) -> dict[str, Path]:
    """Return the path of a release's copy in each format, declared or not, by suffix.

    The description of the release has copies of its own, such as ``about.csv``.
    """
    return {
        suffix: release.with_suffix(f".{suffix}")
        for form in _COPY_OPTIONS
        for suffix in (form, f"{_ABOUT}{form}")
    }


def is_copied(suffix: str, formats: Sequence[str], *, has_about: bool) -> bool:
    """Tell whether the declared formats call for a copy with this suffix."""
    return suffix.removeprefix(_ABOUT) in formats and (has_about or not is_about(suffix))


def is_about(suffix: str) -> bool:
    """Tell whether the copy is of the description of the release."""
    return suffix.startswith(_ABOUT)


def write_copies(
    session: DuckDBPyConnection, *, tables: Sequence[str], stage: Path, formats: Sequence[str]
) -> dict[str, Path]:
    """Write the tables of a closed release file into copies beside it, and read them back.

    The first table is the release, the second, if there is one, its description. Raises a
    `PublishError`, without a value, if a format cannot hold the values of the release.
    """
    has_about = len(tables) > 1
    wanted = {
        suffix: path
        for suffix, path in places_of_copies(stage).items()
        if is_copied(suffix, formats, has_about=has_about)
    }
    for suffix, path in wanted.items():
        form, table = suffix.removeprefix(_ABOUT), tables[is_about(suffix)]
        try:
            with open_file(session, stage, access_mode="read_only") as file:
                file.execute(
                    f"copy (select * from main.{quote_name(table)}) "  # noqa: S608 (quoted)
                    f"to {quote_path(path)} ({_COPY_OPTIONS[form]})"
                )
        except duckdb.Error as error:
            raise _format_error(form, safe_reason(error)) from None
        if difference := copy_difference(session, table=table, release=stage, copy=path):
            raise _format_error(form, difference)
    return wanted


def copy_difference(
    session: DuckDBPyConnection, *, table: str, release: Path, copy: Path
) -> str | None:
    """Return how a copy differs from its release file; None if columns, rows and order are equal.

    Names are compared, and values as text by their count and sums of 64-bit hashes.
    """
    if copy.is_symlink() or not copy.is_file():
        return "it is no file"
    with open_file(session, release, access_mode="read_only") as file:
        relation = f"main.{quote_name(table)}"
        names = [name for name, *_ in file.execute(f"describe {relation}").fetchall()]
        expected = _content(file, relation, names)
        try:
            if _names_of(file, copy, len(names)) != names:
                return "it has other columns"
            content = _content(file, _reader(copy, names), names)
            has_metadata = copy.suffix == ".parquet" and _has_metadata(file, copy)
        except duckdb.Error as error:
            return f"it cannot be read: {safe_reason(error)}"
    other_values = ""
    if content[1] != expected[1]:
        with open_file(session, release, access_mode="read_only") as file:
            other_values = _other_values(file, relation, _reader(copy, names))
    differences = {
        f"it has {content[0]:,} records instead of {expected[0]:,}": content[0] != expected[0],
        f"it has other values{other_values}": content[1] != expected[1],
        "its rows are in another order": content[2] != expected[2],
        "it has metadata of its own": has_metadata,
    }
    return next((text for text, applies in differences.items() if applies), None)


def _other_values(file: DuckDBPyConnection, relation: str, copy: str) -> str:
    """Return the columns whose values differ, with their types, as text."""
    columns = file.execute(f"describe {relation}").fetchall()
    sum_list = ", ".join(
        f"sum(hash(cast({quote_name(name)} as varchar))::hugeint)" for name, *_ in columns
    )
    (expected,), (copied,) = (
        file.execute(f"select {sum_list} from {rows}").fetchall()  # noqa: S608 (quoted)
        for rows in (relation, copy)
    )
    sums = zip(columns, expected, copied, strict=True)
    differing = [f"{name}, {kind.lower()}" for (name, kind, *_), a, b in sums if a != b]
    return f" in {'; '.join(differing)}" if differing else ""


def _format_error(form: str, reason: str) -> PublishError:
    return PublishError(
        f"the release must be the same in all of its formats; {form} cannot hold it ({reason}). "
        f"The earlier release is unchanged. Remove {form} from release.formats, or give the "
        "columns other types in a model before the source."
    )


def _reader(copy: Path, names: Sequence[str], *, header: bool = True) -> str:
    if copy.suffix == ".parquet":
        return f"read_parquet({quote_path(copy)})"
    columns = ", ".join(f"{quote_text(name)}: 'VARCHAR'" for name in names)
    # An empty text is quoted and NULL is not.
    return (
        f"read_csv({quote_path(copy)}, auto_detect=false, header={header}, delim=',', quote='\"', "
        f"escape='\"', nullstr='', allow_quoted_nulls=false, columns={{{columns}}})"
    )


def _names_of(file: DuckDBPyConnection, copy: Path, number: int) -> list[str]:
    if copy.suffix == ".parquet":
        described = file.execute(f"describe select * from {_reader(copy, [])}")  # noqa: S608
        return [name for name, *_ in described.fetchall()]
    reader = _reader(copy, [f"c{place}" for place in range(number)], header=False)
    first = file.execute(f"select * from {reader} limit 1").fetchone()  # noqa: S608 (quoted)
    return [] if first is None else list(first)


def _has_metadata(file: DuckDBPyConnection, copy: Path) -> bool:
    query = f"select 1 from parquet_kv_metadata({quote_text(str(copy))}) limit 1"  # noqa: S608
    return bool(file.execute(query).fetchall())


def _content(file: DuckDBPyConnection, relation: str, names: Sequence[str]) -> tuple[int, int, int]:
    """Return the number of rows, a checksum of the rows, and one of the rows in their order."""
    row = ", ".join(f"cast({quote_name(name)} as varchar)" for name in names)
    (content,) = file.execute(
        "select count(*), sum(content::hugeint), sum(hash(place, content)::hugeint) from "  # noqa: S608
        f"(select row_number() over () as place, hash({row}) as content from {relation})"
    ).fetchall()
    return content
