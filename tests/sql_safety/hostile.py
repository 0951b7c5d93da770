"""Names and values that break out of quotes, look like something else, or are names of our own."""

from __future__ import annotations

import re

from tests.projects import REPOSITORY

# What must survive as text wherever it stands; nothing here is a path or starts with a dot.
TEXTS = [
    '"; drop table people; --',
    "'; drop table people; --",
    "it's",
    'say "hi"',
    "back`tick",
    '"',
    "'",
    "''",
    '""',
    '"a" as b, "c',
    "two\nlines",
    "\ttab",
    "carriage\r\nreturn",
    "\U0001f600 \U0001f468\u200d\U0001f469",
    "\u202eright to left",
    "شروع",
    "größe",
    "zero\u200bwidth",
    "line\u2028separator",
    "x" * 200,
    "select",
    "group",
    "order",
    "table",
    "user",
    "from",
    "{{ 1/0 }}",
    "{{ x",
    "{% raw %}",
    "{# comment",
    "#}",
    "}}",
    "${HOME}",
    "$1",
    "$$",
    "?",
    "%s",
    "%(name)s",
    ":name",
    "back\\slash",
    "\\",
    "ends with \\",
    "\\'",
    "\\x7b",
    " leading",
    "trailing ",
    "a * b",
    "1",
    "01",
    "-1",
    "1e3",
    "1.50",
    "0x1f",
    "2024-01-31",
    "yes",
    "no",
    "null",
    "NULL",
    "~",
    "true",
    "nan",
    "inf",
    "- a",
    "a: b",
    "#x",
    "!tag",
    "!!python/object:os.system",
    "&a",
    "*a",
    "<<",
    "[bold]",
    "[/]",
    "[link=file:///etc]x[/link]",
    "\x1b[31mred\x1b[0m",
    "\x07bell",
    "<script>alert(1)</script>",
    "<!-- x",
    "[x](javascript:alert(1))",
    "&lt;",
    "a,b",
    "a;b",
    "a|b",
    "n3:abc",
    "t1:a|t1:b",
    "--",
    "/* x",
    "*/",
    "a.b",
    "[1, 2)",
    "..",
    "C:\\temp",
    "levels",
    "recoding",
    "name",
    "role",
]

# Names that stand for something else in an SQL statement of ours.
_SQL_NAME = re.compile(
    r"\b([a-z_][a-z0-9_]*) as (?:\{\{[^}]*\}\} ?)?\(|\bas ([a-z_][a-z0-9_]*)\b|"
    r"\b(?:from|join) ([a-z_][a-z0-9_]*)\b"
)


def own_sql_names() -> list[str]:
    """Return what our macros call CTEs, tables and columns, so that a column may be called so."""
    found: set[str] = {"leaves_1", "hierarchy_1", "range_1", "value_1", "key_1", "part_1"}
    for path in sorted((REPOSITORY / "macros").rglob("*.sql")):
        for match in _SQL_NAME.finditer(path.read_text(encoding="utf-8")):
            found.update(name for name in match.groups() if name)
    return sorted(found)
