"""Whatever a name or value is, the functions that quote it give it back, and nobody else quotes."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.literals import markdown, printable, quote_name, quote_path, quote_text
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from tests.extensions import has
from tests.projects import REPOSITORY, Project
from tests.sql_safety.hostile import TEXTS

# No database stores NUL or half of a pair.
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
TEXT = ANY | st.sampled_from(TEXTS) | st.builds("".join, st.lists(st.sampled_from(TEXTS)))
MANY = settings(max_examples=200, deadline=None)
_DOUBLINGS = ([repr("'"), repr("''")], [repr('"'), repr('""')])
_SQL_MACROS = ("_quote.sql", "_literal.sql")


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def warehouse(plain_project: Project) -> Iterator[Warehouse]:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    with open_warehouse(find_project(plain_project.folder)) as opened:
        yield opened
    DuckDBConnectionManager.close_all_connections()


@MANY
@given(TEXT)
def test_a_text_comes_back_from_duckdb(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    assert connection.execute(f"select {quote_text(text)}").fetchall() == [(text,)]


@MANY
@given(TEXT.filter(bool))
def test_a_column_of_each_name_can_be_made_and_read(
    connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    quoted = quote_name(name)
    cursor = connection.execute(f"select {quoted} from (select 1 as {quoted}) as t")
    assert [column[0] for column in cursor.description or []] == [name]


@settings(max_examples=20, deadline=None)
@given(text=TEXT.filter(lambda text: not set("/\\?") & set(text) and len(text.encode()) < 200))
def test_a_file_of_each_name_can_be_attached(
    connection: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("attached") / f"x{text}.duckdb"
    connection.execute(f"attach {quote_path(path)} as attached")
    connection.execute("detach attached")
    assert path.is_file()


def test_a_path_is_never_an_address() -> None:
    assert quote_path(Path("s3:/a")).startswith("'/")


@pytest.mark.parametrize("text", TEXTS)
def test_macros_quote_like_the_functions(warehouse: Warehouse, text: str) -> None:
    assert warehouse.macro("_quote", name=text) == quote_name(text)
    literal = warehouse.macro("_literal", value=text)
    assert literal == quote_text(text)
    assert warehouse.rows(f"select {literal}") == [(text,)]


@pytest.mark.parametrize(
    "dialect", [pytest.param("spark", marks=pytest.mark.needs("spark")), "snowflake", "bigquery"]
)
@pytest.mark.parametrize("text", [*TEXTS, "\\\\'", "\\n", "'\\"])
def test_a_backslash_ends_no_literal_of_other_engines(
    warehouse: Warehouse, dialect: str, text: str
) -> None:
    literal = warehouse.macro(f"{dialect}___literal", value=text)
    (select,) = sqlglot.parse(f"select {literal}", dialect=dialect)
    assert isinstance(select, sqlglot.exp.Select)
    assert [value.this for value in select.expressions] == [text]


@pytest.mark.parametrize("text", [*TEXTS, "\udc80"])
def test_python_made_by_a_macro_yields_the_text(warehouse: Warehouse, text: str) -> None:
    step = {"module": "a.module", "function": "run", "arguments": {"text": text}}
    code = str(warehouse.macro("_python_code", step=step))
    assert code.isascii()
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    (loaded,) = [call for call in calls if ast.unparse(call.func) == "json.loads"]
    assert json.loads(ast.literal_eval(loaded.args[0])) == {"text": text}


@MANY
@given(TEXT)
def test_a_terminal_obeys_nothing(text: str) -> None:
    shown = printable(text)
    assert all(c.isprintable() or c in "\n\t" or not c.isascii() for c in shown)
    assert not re.search("[\x1b\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]", shown)
    assert shown == text or not text.isprintable()


@pytest.mark.parametrize("text", TEXTS)
def test_messages_of_macros_show_the_same(warehouse: Warehouse, text: str) -> None:
    assert warehouse.macro("_shown", text=text) == printable(text)


@MANY
@given(TEXT)
def test_prose_has_no_tag_and_reads_the_same(text: str) -> None:
    assert "<" not in markdown(text)
    assert html.unescape(markdown(text)) == html.unescape(text)


def files(folder: str, *suffixes: str) -> list[Path]:
    return [path for path in sorted((REPOSITORY / folder).rglob("*")) if path.suffix in suffixes]


def test_macros_quote_in_one_place() -> None:
    by_hand = re.compile(
        r"""replace\((?:"'"|'"'|"`")|adapter\.quote|string_literal|escape_single_"""
    )
    # `values.sql`: those of an engine.
    ours = {"_quote.sql", "_literal.sql", "_raise_errors.sql", "values.sql"}
    found = {path.name for path in files("macros", ".sql") if by_hand.search(path.read_text())}
    assert found - ours == set()
    assert set(_SQL_MACROS) <= found


def _text(part: ast.expr) -> str | None:
    """Return what stands in an f-string; None for a value that is not a constant of ours."""
    if isinstance(part, ast.FormattedValue):
        name = ast.unparse(part.value)
        return name if name.isupper() else None
    return str(ast.literal_eval(part))


def quotes_by_hand(source: str) -> list[int]:
    """Return the lines with a value between quotes in an f-string, or with quotes doubled."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            texts = [_text(value) for value in node.values]
            around = zip(texts, texts[1:], texts[2:], strict=False)
            if any(
                value is None and str(left)[-1:] in {"'", '"'} and str(left)[-1:] == str(right)[:1]
                for left, value, right in around
            ):
                lines.append(node.lineno)
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith(".replace")
            and [ast.unparse(argument) for argument in node.args] in _DOUBLINGS
        ):
            lines.append(node.lineno)
    return lines


def test_python_quotes_in_one_place() -> None:
    found = {
        path.relative_to(REPOSITORY / "python" / "dbt_anonymize").as_posix()
        for path in files("python", ".py")
        if quotes_by_hand(path.read_text(encoding="utf-8"))
    }
    # The others write cells of CSV, a message, and the batch language of tau-ARGUS.
    batches = {"extensions/tables/tau.py"} if has("tables") else set[str]()
    assert found == {"literals.py", "hierarchies/seed_csv.py", "spec/yaml_file.py", *batches}


@pytest.mark.parametrize(
    "source",
    ["f\"select '{x}'\"", "f'a \"{x}\" b'", 'x.replace("\'", "\'\'")', "x.replace('\"', '\"\"')"],
)
def test_what_is_quoted_by_hand_is_found(source: str) -> None:
    assert quotes_by_hand(source)


def test_what_has_no_quotes_around_it_is_not_found() -> None:
    assert not quotes_by_hand("f'{x} is `{y}`'; x.replace('a', 'b')")
