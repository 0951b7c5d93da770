"""People are shown without an order to a terminal; CSV and JSON hold what the vault holds."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal

import pytest

from dbt_anonymize.output import Format, escaped, show

HOSTILE = '\x1b]0;owned\x07\u202e\u009b2J\u2028=cmd()\n\t\x00,"'
COLUMNS = ("id", "na\x1bme")
ROWS = [(1, HOSTILE), (20, None), (300, "Zoë 李")]


class Terminal(io.StringIO):
    """A text file that says that somebody looks at it."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def shown(form: Format, out: io.StringIO | None = None) -> str:
    out = out or io.StringIO()
    show(out, COLUMNS, [ROWS[:1], ROWS[1:]], form)
    return out.getvalue()


@pytest.mark.parametrize("form", list(Format))
def test_a_terminal_gets_nothing_to_obey(form: Format) -> None:
    text = shown(form, Terminal())
    assert all(character.isprintable() or character == "\n" for character in text)
    assert len(text.splitlines()) == (3 if form == Format.json else 4)


def test_a_table_is_aligned_also_where_characters_are_wide() -> None:
    lines = shown(Format.table).splitlines()
    assert lines[0].startswith("id   na\\x1bme")
    assert lines[2] == "20"
    assert lines[3] == "300  Zoë 李"


def test_csv_is_the_data() -> None:
    rows = list(csv.reader(io.StringIO(shown(Format.csv), newline="")))
    assert rows == [list(COLUMNS), ["1", HOSTILE], ["20", ""], ["300", "Zoë 李"]]


def test_json_lines_are_the_data_in_ascii() -> None:
    text = shown(Format.json)
    assert text.isascii()
    assert [tuple(json.loads(line).values()) for line in text.splitlines()] == ROWS


def test_json_knows_every_type() -> None:
    out = io.StringIO()
    row = (True, 1.5, float("nan"), Decimal("1.10"), datetime.date(2020, 1, 2), None)
    show(out, list("abcdef"), [[row]], Format.json)
    assert json.loads(out.getvalue()) == {
        "a": True,
        "b": 1.5,
        "c": "nan",
        "d": "1.10",
        "e": "2020-01-02",
        "f": None,
    }


def test_what_can_be_seen_is_not_changed() -> None:
    assert escaped("Ana Nguyễn 😀 - 1") == "Ana Nguyễn 😀 - 1"
