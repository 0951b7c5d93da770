"""Files, functions, macros, argument lists and lines stay small; docstrings do not count.

That each public macro has a file of its own is tested in ``test_macro_documentation``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from tests.macro_keys import macros
from tests.projects import REPOSITORY

# Lines of code of the core, without docstrings, comments and blank ones. Lower them where it gets
# smaller; what an anonymization can do without is an extension.
CORE_PYTHON, CORE_SQL = 16_029, 10_150
PYTHON_FILE, FUNCTION, MACRO, SQL_LINE, ARGUMENTS = 400, 60, 120, 120, 8
DEFINITION = re.compile(
    r"{%-?\s*(macro|test|materialization)\s+(\w+).*?{%-?\s*end\1\s*-?%}", re.DOTALL
)
COMMENT = re.compile(r"{#.*?#}", re.DOTALL)
PYTHON, MACROS = (
    {
        str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
        for folder in folders
        for path in sorted((REPOSITORY / folder).rglob(f"*.{suffix}"))
    }
    for folders, suffix in (
        (("python", "tests", "scripts", "benchmarks"), "py"),
        (("macros",), "sql"),
    )
)


def test_the_core_does_not_grow() -> None:
    python = sum(
        _lines_of_code(text)
        for name, text in PYTHON.items()
        if name.startswith("python/") and "/extensions/" not in name
    )
    sql = sum(
        bool(line.strip())
        for name, text in MACROS.items()
        if "/extensions/" not in name
        for line in COMMENT.sub("", text).splitlines()
    )
    assert python <= CORE_PYTHON, python
    assert sql <= CORE_SQL, sql


def test_no_python_file_is_large() -> None:
    large = {name for name, text in PYTHON.items() if text.count("\n") > PYTHON_FILE}
    assert not large


def test_no_function_is_large() -> None:
    large = {
        f"{name}: {function.name}"
        for name, text in PYTHON.items()
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and _lines(function) > FUNCTION
    }
    assert not large


def test_no_function_has_many_arguments() -> None:
    # The arguments of a command are its options.
    assert not {
        f"{name}: {function.name}"
        for name, text in PYTHON.items()
        if name.startswith("python")
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and "/commands/" not in name
        and _arguments(function) > ARGUMENTS
    }


def test_no_macro_is_large() -> None:
    large = {
        f"{name}: {macro[2]}"
        for name, text in MACROS.items()
        for macro in DEFINITION.finditer(text)
        if macro[0].count("\n") >= MACRO
    }
    assert not large


def test_no_macro_has_many_arguments() -> None:
    # A dbt test says in its own arguments what it tests, and so does the macro of its name.
    tests = {
        definition[2]
        for text in MACROS.values()
        for definition in DEFINITION.finditer(text)
        if definition[1] == "test"
    }
    assert tests
    assert not {
        name
        for name, macro in macros().items()
        if len(macro.args) > ARGUMENTS and name not in tests
    }


def test_no_line_of_sql_is_long() -> None:
    assert not {
        name
        for name, text in MACROS.items()
        if any(len(line) > SQL_LINE for line in text.splitlines())
    }


def _lines_of_code(text: str) -> int:
    """Count the lines that hold a token of code, without docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.update(range(node.lineno, (node.end_lineno or 0) + 1))
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in empty | {tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    listed = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in listed if one.arg not in {"self", "cls"}])


def _lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[1 if ast.get_docstring(function) and function.body[1:] else 0]
    signature = function.body[0].lineno - function.lineno
    return signature + (function.end_lineno or 0) - first.lineno + 1
