"""Names and values as text of other languages, safe for any text: one place for each.

Macros have `_quote` and `_literal` for the same; ``hierarchies.seed_csv`` writes
CSV. dbt renders Jinja in SQL files and YAML strings, and refuses Python files in which it would
change something: so no literal holds a brace, only its escape, which Jinja and Python read alike.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

# What dbt takes for a sign that a string of a YAML file holds Jinja.
_JINJA_DELIMITER = re.compile(r"\{[{%#]|[#}%]\}")
_PLAIN_YAML = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# Characters that `_escaped` may change, of those that are printable.
_SPECIAL = re.compile(r"""[\\'"{}<]""")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What a terminal obeys, and what turns the direction of a line; the rest is harmless.
_UNSHOWN_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# A link of Markdown to anything but a page.
_DOUBTFUL_LINK = re.compile(r"\]\((?!https?://)")


def quote_name(name: str) -> str:
    """Return a name as a quoted SQL identifier of DuckDB and of standard SQL.

    Examples
    --------
    >>> print(quote_name('we"ird'))
    "we""ird"
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return a text as an SQL string literal of DuckDB and of standard SQL.

    Examples
    --------
    >>> print(quote_text("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """Return a path as the SQL literal of `attach` and `copy`.

    Absolute, so that no file name is taken for an address (``s3:``) or a kind of database
    (``sqlite:``).

    Examples
    --------
    >>> print(quote_path(Path("/it's here/a.duckdb")))
    '/it''s here/a.duckdb'
    """
    return quote_text(str(path.absolute()))


def jinja(value: object) -> str:
    r"""Return a Jinja literal, on one line, of a scalar, list, tuple or mapping.

    Examples
    --------
    >>> print(jinja({"k": 3, "it's {{ x }}": [True, None]}))
    {'k': 3, 'it\'s \x7b\x7b x \x7d\x7d': [true, none]}
    """
    return _literal(value, "'", {None: "none", True: "true", False: "false"})


def python(value: object) -> str:
    r"""Return a Python literal, with the same arguments as ``jinja``.

    Examples
    --------
    >>> print(python(["größe", "a\nb", None]))
    ["größe", "a\nb", None]
    """
    return _literal(value, '"', {None: "None", True: "True", False: "False"})


def yaml_text(value: str) -> str:
    r"""Return a YAML scalar that dbt reads as the text itself, where it renders Jinja.

    Examples
    --------
    >>> print(yaml_text("age"), yaml_text("no"), yaml_text("full name"))
    age "no" "full name"
    >>> print(yaml_text("{{ x }}"))
    "{{ '\\x7b\\x7b x \\x7d\\x7d' }}"
    """
    # Jinja changes line ends of what is not a literal.
    is_changed = _JINJA_DELIMITER.search(value) or "\r" in value or value.endswith("\n")
    return plain_yaml_text(f"{{{{ {jinja(value)} }}}}" if is_changed else value)


def plain_yaml_text(value: str) -> str:
    r"""Return a YAML scalar that is read as the text itself, where nobody renders Jinja.

    Examples
    --------
    >>> print(plain_yaml_text("{{ x }}"), plain_yaml_text("on"))
    "{{ x }}" "on"
    """
    if _PLAIN_YAML.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    # YAML's double quotes know every escape of JSON; what is not printable must be escaped.
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(map(_escaped_character, quoted)) if not quoted.isprintable() else quoted


def markdown(text: str) -> str:
    """Return prose with names in it as Markdown that dbt's pages show and never run.

    Examples
    --------
    >>> markdown("k < 3 of <script> [a](javascript:x), see [b](https://example.org)")
    'k &lt; 3 of &lt;script> [a]&#40;javascript:x), see [b](https://example.org)'
    """
    return _DOUBTFUL_LINK.sub("]&#40;", text.replace("<", "&lt;"))


def printable(text: str) -> str:
    r"""Return a text without terminal control characters; line breaks stay.

    Examples
    --------
    >>> print(printable("\x1b[31mred\x1b[0m name"))
    \x1b[31mred\x1b[0m name
    """
    if text.replace("\n", "").isprintable():  # has no character of the categories below
        return text
    return "".join(_visible_if_control(character) for character in text)


def _visible_if_control(character: str) -> str:
    if character in "\n\t":
        return character
    if unicodedata.category(character) in _UNSHOWN_CATEGORIES or character in _DIRECTIONS:
        return visible(character)
    return character


def visible(character: str) -> str:
    """Return the escape of a character for a terminal."""
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def _literal(value: object, quote: str, words: Mapping[bool | None, str]) -> str:
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, str):
        is_plain = value.isprintable() and not _SPECIAL.search(value)
        text = value if is_plain else "".join(_escaped(character, quote) for character in value)
        return quote + text + quote
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(item, quote, words) for item in value)}]"
    if isinstance(value, Mapping):
        items = (
            f"{_literal(key, quote, words)}: {_literal(item, quote, words)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    raise TypeError(f"a literal must be a scalar, list or mapping; got {type(value).__name__}")


def _escaped(character: str, quote: str) -> str:
    if character == quote:
        return f"\\{quote}"
    # Braces are Jinja's; dbt's pages show the code of a model in which they find a word as HTML.
    if character in "{}<":
        return f"\\x{ord(character):02x}"
    return _ESCAPES.get(character) or _escaped_character(character)


def _escaped_character(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
