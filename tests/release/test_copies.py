"""A release is published in all of its formats or in none."""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import PublishError
from dbt_anonymize.project.generate import generate
from dbt_anonymize.release.copies import copy_difference
from dbt_anonymize.release.publish import STORAGE_VERSION, publish
from tests.projects import REPOSITORY, Project

pytestmark = pytest.mark.costly

TABLE = "people_anonymized"
ALL = ("duckdb", "parquet", "csv")
HOSTILE = """
    select * from (values
        (1, 'plain', 0.1::double, date '2020-01-31', true),
        (2, '', 'nan'::double, null, null),
        (3, null, 1e-300, date '0001-01-01', false),
        (4, 'a,"b"' || chr(10) || chr(13) || 'größe', -0.0, date '9999-12-31', true),
        (5, '=1+1', 'infinity'::double, null, false)
    ) as t(number, "a ""text"", here", measure, day, is_so)
"""


@pytest.fixture
def session() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as session:
        session.execute(f"create table old as {HOSTILE}")
        session.execute("create table new as select * replace (number + 10 as number) from old")
        yield session


def publish_as(session: Any, folder: Path, relation: str, *formats: str) -> None:
    path = "release/people.duckdb"
    publish(session, relation=relation, table=TABLE, folder=str(folder), path=path, formats=formats)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "release").iterdir()}


def numbers(folder: Path, form: str) -> list[int]:
    """Read the first column as any other program would, in the order of the file."""
    place = folder / "release" / f"people.{form}"
    with duckdb.connect() as reader:
        if form == "duckdb":
            reader.execute(f"attach '{place}' as released (read_only)")
            rows = reader.execute(f"select number from released.{TABLE}").fetchall()
        else:
            rows = reader.execute(f"select number from '{place}'").fetchall()
    return [number for (number,) in rows]


def test_all_formats_hold_the_same_rows_in_the_same_order(session: Any, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        publish_as(session, tmp_path, "new", *ALL)
    finally:
        os.umask(before)
    assert set(files(tmp_path)) == {f"people.{form}" for form in ALL}
    for form in ALL:
        assert numbers(tmp_path, form) == [11, 12, 13, 14, 15]
        place = tmp_path / "release" / f"people.{form}"
        assert stat.S_IMODE(place.stat().st_mode) == 0o644
    text = (tmp_path / "release" / "people.csv").read_text(encoding="utf-8")
    assert text.startswith('number,"a ""text"", here",measure,day,is_so\n')
    assert '12,"",nan,,\n' in text, "an empty text is quoted, NULL is not"


def test_the_file_opens_with_a_duckdb_two_versions_older(session: Any, tmp_path: Path) -> None:
    """2.0 writes what 1.4 reads: 1.5 lies between them."""
    publish_as(session, tmp_path, "new", "duckdb")
    assert STORAGE_VERSION == "v1.4.0"
    place = tmp_path / "release" / "people.duckdb"
    with duckdb.connect() as reader:
        reader.execute(f"attach '{place}' as released (read_only)")
        ((tags,),) = reader.execute(
            "select tags from duckdb_databases() where database_name = 'released'"
        ).fetchall()
    assert tags["storage_version"].startswith("v1.4.0")
    header = place.read_bytes()[:20]
    assert header[8:12] == b"DUCK"
    assert int.from_bytes(header[12:20], "little") == 67, "the number that 1.4 writes and reads"


def test_what_a_format_cannot_hold_leaves_every_format_as_it_was(
    session: Any, tmp_path: Path
) -> None:
    publish_as(session, tmp_path, "old", *ALL)
    before = files(tmp_path)
    session.execute("create table huge as select 170141183460469231731687303715884105727 as n")
    with pytest.raises(
        PublishError, match=r"parquet cannot hold it \(it has other values in n, hugeint\)"
    ):
        publish_as(session, tmp_path, "huge", *ALL)
    assert files(tmp_path) == before
    publish_as(session, tmp_path, "huge", "duckdb", "csv")


# Every type that a released column may have, with values at its ends.
VALUES = {
    "tinyint": ["-128", "127"],
    "smallint": ["-32768", "32767"],
    "integer": ["-2147483648", "2147483647"],
    "bigint": ["-9223372036854775808", "9223372036854775807"],
    "hugeint": ["1"],
    "utinyint": ["255"],
    "usmallint": ["65535"],
    "uinteger": ["4294967295"],
    "ubigint": ["18446744073709551615"],
    "uhugeint": ["1"],
    "float": ["0.1", "3.4e38", "'nan'", "'-inf'"],
    "double": ["0.1", "1.7e308", "'nan'", "'inf'", "-0.0"],
    "decimal(4, 1)": ["0.1"],
    "decimal(18, 3)": ["1.125"],
    "decimal(38, 10)": ["9999999999999999999999999999.1"],
    "decimal(38, 0)": ["9" * 38],
    "date": ["'0001-01-01'", "'9999-12-31'", "'2000-01-01 (BC)'"],
    "time": ["'23:59:59.999999'"],
    "timestamp": ["'1969-12-31 23:59:59.999999'", "'0001-01-01'"],
    "timestamp_s": ["'9999-12-31 23:59:59'"],
    "timestamp_ms": ["'1969-12-31 23:59:59.999'"],
    "timestamp_ns": ["'2020-01-01 00:00:00.123456789'"],
    "timestamp with time zone": ["'2020-01-01 00:00:00.123456+00'"],
    "varchar": ["''", "'a,b\"c'", "'x\ny'", "'é'", "'NULL'"],
    "boolean": ["true", "false"],
    "uuid": ["'6f1e1d2c-0000-4000-8000-000000000001'"],
}


def test_every_format_holds_every_type_but_those_that_a_build_names_before(
    session: Any, tmp_path: Path
) -> None:
    macro = (REPOSITORY / "macros" / "release" / "_format_errors.sql").read_text(encoding="utf-8")
    refused = yaml.safe_load(re.search(r"return\(({.*?})\)", macro)[1])  # type: ignore[index]
    types = (REPOSITORY / "macros" / "sql" / "_column_type_errors.sql").read_text(encoding="utf-8")
    assert refused == {"parquet": ["hugeint", "uhugeint"], "csv": [], "duckdb": []}
    # No other number, date or moment may be released.
    lists = re.findall(r"set (?:un)?ordered = \[(.*?)\]", types, re.DOTALL)
    known = {kind for one in lists for kind in re.findall(r'"(.*?)"', one)}
    aliases = {"int", "real", "double precision", "decimal", "numeric", "number", "text", "string"}
    aliases |= {"char", "character", "character varying", "bool", "timestamp_ntz"}
    aliases |= {"timestamp without time zone", "time without time zone"}
    assert known - aliases == {kind.partition("(")[0] for kind in VALUES} - {"decimal"}
    for form in ("parquet", "csv"):
        hold(session, {kind: v for kind, v in VALUES.items() if kind not in refused[form]})
        publish_as(session, tmp_path, "held", "duckdb", form)
        for kind in refused[form]:
            hold(session, {kind: VALUES[kind]})
            with pytest.raises(PublishError, match=rf"other values in {kind}, {kind}\)"):
                publish_as(session, tmp_path, "held", "duckdb", form)


def hold(session: Any, values: dict[str, list[str]]) -> None:
    """Make a table with a column of each type, named after it, with its values and nulls."""
    columns = [[*found, "null"] for found in values.values()]
    rows = (
        ", ".join(f"cast({value} as {kind})" for kind, value in zip(values, row, strict=True))
        for row in itertools.zip_longest(*columns, fillvalue="null")
    )
    names = ", ".join(f'"{kind}"' for kind in values)
    listed = ", ".join(f"({row})" for row in rows)
    made = f"select * from (values {listed}) as s({names})"
    session.execute(f"create or replace table held as {made}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("failing", ["people.parquet", "people.csv", "people.duckdb"])
@pytest.mark.parametrize("earlier", [ALL, ("duckdb", "csv"), ()])
def test_a_rename_that_fails_takes_back_those_before(
    session: Any,
    tmp_path: Path,
    failing: str,
    earlier: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if earlier:
        publish_as(session, tmp_path, "old", *earlier)
    else:
        (tmp_path / "release").mkdir()
    before = files(tmp_path)
    rename = Path.replace

    def fail(self: Path, target: Path) -> Path:
        if self.name == failing:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(PublishError, match="could not be published"):
        publish_as(session, tmp_path, "new", *ALL)
    assert files(tmp_path) == before


def test_a_format_that_is_no_longer_declared_goes(session: Any, tmp_path: Path) -> None:
    publish_as(session, tmp_path, "old", *ALL)
    publish_as(session, tmp_path, "new", "duckdb", "csv")
    assert set(files(tmp_path)) == {"people.duckdb", "people.csv"}
    assert numbers(tmp_path, "csv") == [11, 12, 13, 14, 15]


def test_nothing_is_published_over_what_no_build_has_left(session: Any, tmp_path: Path) -> None:
    publish_as(session, tmp_path, "old", "duckdb")
    (tmp_path / "elsewhere.csv").write_text("mine")
    (tmp_path / "release" / "people.csv").symlink_to(tmp_path / "elsewhere.csv")
    for formats in (ALL, ("duckdb",)):
        with pytest.raises(PublishError, match="it is a symbolic link"):
            publish_as(session, tmp_path, "new", *formats)
    assert numbers(tmp_path, "duckdb") == [1, 2, 3, 4, 5]
    assert (tmp_path / "elsewhere.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("csv", "format csv, header true"),
        ("parquet", "format parquet"),
        ("parquet", "format parquet, kv_metadata {note: 'Ada'}"),
    ],
)
def test_a_copy_tells_no_more_than_the_release(
    session: Any, tmp_path: Path, form: str, written: str
) -> None:
    """Neither by the order of its rows, which could be that of the source, nor beside them."""
    session.execute("create table plain as select range as number from range(9)")
    publish_as(session, tmp_path, "plain", *ALL)
    release = tmp_path / "release" / "people.duckdb"
    copy = release.with_suffix(f".{form}")

    def difference() -> str | None:
        return copy_difference(session, table=TABLE, release=release, copy=copy)

    assert difference() is None
    order = "" if "metadata" in written else "order by number % 2, number"
    session.execute(f"copy (select * from plain {order}) to '{copy}' ({written})")
    reason = "it has metadata of its own" if "metadata" in written else "its rows are in another"
    assert reason in str(difference())


PLAIN = ("zip", "gender", "spending", "churned", "order", "größe", "cqi")


def require_facts(consumer: Project) -> None:
    with duckdb.connect(str(consumer.release_file("customers")), read_only=True) as file:
        facts = dict(file.execute("select fact, value from customers_about").fetchall())
        numbers = dict(file.execute("select fact, number from customers_about").fetchall())
        ((records,),) = file.execute("select count(*) from customers_anonymized").fetchall()
        comments = dict(
            file.execute(
                "select column_name, comment from duckdb_columns() where comment is not null"
            ).fetchall()
        )
    assert "Target that the models predict" in comments["churned"]
    assert set(comments) == {"birth_date", "birth_date_lower", "birth_date_upper", *PLAIN}
    assert facts["licence"] == "CC BY 4.0"
    assert facts["levels"].startswith("keeps birth_date in 3 intervals")
    assert numbers["records"] == records
    assert numbers["k"] >= 4
    assert 0 < numbers["QF"] <= 1


@pytest.mark.sampled_tests(group="builds")
def test_a_build_publishes_them_and_verify_compares_them(consumer: Project) -> None:
    def verified() -> tuple[int, str]:
        command = ["verify", "customers", "--check", "recomputation", "--format", "csv"]
        where = ["--project-dir", str(consumer.folder)]
        environment = {"DBT_PROFILES_DIR": str(consumer.folder)}
        result = CliRunner().invoke(app, [*command, *where], env=environment)
        return result.exit_code, result.output

    spec = consumer.folder / "anonymizations" / "customers.yml"
    content = yaml.safe_load(spec.read_text(encoding="utf-8"))
    content["release"] = {"formats": list(ALL), "about": {"licence": "CC BY 4.0"}}
    spec.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    assert generate(consumer.folder)
    consumer.build("--select", "customers_anonymized")
    code, output = verified()
    assert code == 0, output
    assert "customers.parquet,true" in output.lower()
    assert "customers.about.csv,true" in output.lower()
    assert 'release file, customers_about",true' in output.lower()
    require_facts(consumer)
    copy = consumer.release_file("customers").with_suffix(".csv")
    copy.write_text(copy.read_text(encoding="utf-8").replace(",yes,", ",no,", 1), encoding="utf-8")
    code, output = verified()
    assert code == 1
    assert "it has other values" in output
    with duckdb.connect(str(consumer.release_file("customers"))) as file:
        file.execute("update customers_about set value = 'Ada' where fact = 'licence'")
    code, output = verified()
    assert "must say what the rows, the results and the spec say; these differ: licence" in output
    assert "Ada" not in output
    content["release"] = {"formats": ["duckdb", "parquet"]}
    spec.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    code, output = verified()
    assert code == 1
    assert "release.formats does not name csv" in output
