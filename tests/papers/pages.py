"""Pages about papers as they should be: rows, plots and tables are what is computed.

A table below a block of SQL holds its rows in a build. A block ``text <kind> <n>`` is a plot, of
kind ``alpha`` that of the largest quality. Other computed tables are known by the first word of
their header: ``curve`` holds the rows of `noisy_masking`. A table below a comment
``computed: <name>`` holds the rows of a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.case_studies.pages import CasePage
from tests.docs.pages import DOCS
from tests.papers import noisy_masking
from tests.papers.alpha import Effort, plot

PAGE = DOCS / "papers" / "test_driven_anonymization.md"
Query = Callable[[str], Sequence[Sequence[Any]]]

_ROWS = re.compile(r"(^```sql\n(.*?)^```\n\n\|[^\n]*\n\|[-|]+\n)(?:\|[^\n]*\n)*", re.M | re.S)
_COMPUTED = re.compile(r"(^<!-- computed: ([\w ]+) -->\n\n)((?:\|[^\n]*\n)*)", re.M)


def efforts_of_demonstration(query: Query, name: str) -> list[Effort]:
    """Return the efforts of a demonstration, the untouched table first."""
    rows = query(f"select effort, k, qf_mean from {name}_results order by effort")
    return [Effort(*row) for row in rows]


def efforts_of_case_study(name: str) -> list[Effort]:
    """Return the efforts of a case study as its page tells them."""
    section = CasePage(name).text.partition("## Results")[2].partition("```")[0]
    rows = [re.split(r"\s*\|\s*", line.strip("| ")) for line in section.splitlines()]
    header = next(row for row in rows if row[0] == "`effort`")
    effort, k, qf = (header.index(f"`{column}`") for column in ("effort", "k", "qf_mean"))
    return [
        Effort(int(row[effort]), int(row[k]), float(row[qf])) for row in rows if row[0].isdigit()
    ]


def efforts(query: Query, name: str) -> list[Effort]:
    """Return the efforts of a table of the paper."""
    if name == "medical_cost":
        return efforts_of_case_study(name)
    return efforts_of_demonstration(query, name)


def with_builds(text: str, query: Query) -> str:
    """Return a page with the rows and plots of a build in place of those that it shows."""
    return with_plots(with_queries(text, query), "alpha", lambda name: plot(efforts(query, name)))


def with_queries(text: str, query: Query) -> str:
    """Return a page with the rows of its queries."""
    return _ROWS.sub(lambda block: block[1] + "".join(map(_row, query(block[2]))), text)


def with_plots(text: str, kind: str, draw: Callable[[str], str]) -> str:
    """Return a page with its plots of a kind, each drawn by its name."""
    block = re.compile(rf"(^```text {kind} (\w+)\n).*?(^```$)", re.M | re.S)
    return block.sub(lambda found: found[1] + draw(found[2]) + found[3], text)


def with_rows(text: str, heading: str, rows: Iterable[Sequence[Any]]) -> str:
    """Return a page with the rows of the table whose header begins with a word."""
    table = re.compile(rf"(^\| {heading} \|[^\n]*\n\|[-|]+\n)(?:\|[^\n]*\n)*", re.M)
    lines = "".join(map(_row, rows))
    return table.sub(lambda found: found[1] + lines, text)


def with_curves(text: str) -> str:
    """Return a page with the curves as they are fitted in place of those that it shows."""
    return with_rows(text, "curve", ([*row.values()] for row in noisy_masking.rows()))


def with_tables(text: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return a page with the computed tables in place of those that it shows."""

    def table(block: re.Match[str]) -> str:
        rows = tables.get(block[2])
        if rows is None:
            return block[0]
        header = _row([*rows[0]]) + "|" + "---|" * len(rows[0]) + "\n"
        return block[1] + header + "".join(_row([*row.values()]) for row in rows)

    return _COMPUTED.sub(table, text)


def table_of(text: str, name: str) -> list[str]:
    """Return the lines of a computed table as the page shows them, without its header."""
    (found,) = [block for block in _COMPUTED.finditer(text) if block[2] == name]
    return found[3].splitlines()[2:]


def _row(values: Sequence[Any]) -> str:
    cells = ("yes" if v is True else "no" if v is False else str(v) for v in values)
    return f"| {' | '.join(cells)} |\n"
