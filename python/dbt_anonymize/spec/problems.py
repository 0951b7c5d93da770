"""A problem of a spec: where it is, which rule, what came, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

KeyPath = tuple[str | int, ...]

_SIMPLE_KEY = re.compile(r"[^\W\d]\w*")
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Problem:
    """One violated rule: it starts with "must"; the remedy is one sentence.

    ``path`` counts list items from 1, like efforts; ``got`` is the input, by `short_repr`.
    """

    path: KeyPath
    rule: str
    remedy: str
    got: str | None = None

    def __str__(self) -> str:
        where = f"{key_path(self.path)}: " if self.path else ""
        got = "" if self.got is None else f"; got {self.got}"
        return f"{where}{self.rule}{got}. {self.remedy}"


def key_path(path: KeyPath) -> str:
    """Return keys joined by dots; a key that is not a plain word is quoted.

    Examples
    --------
    >>> key_path(("columns", "full name", "role"))
    "columns.'full name'.role"
    """
    return ".".join(
        key if isinstance(key, str) and _SIMPLE_KEY.fullmatch(key) else repr(key) for key in path
    )


def short_repr(value: object) -> str:
    """Return a value for a message: short and on one line.

    Examples
    --------
    >>> short_repr("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def names(known: Iterable[str]) -> str:
    """Return names as a list for a message.

    Examples
    --------
    >>> names(["age", "full name"]), names([])
    ('age, full name', '(none)')
    """
    return ", ".join(known) or "(none)"


def split_names(options: Iterable[str], known: Container[str]) -> list[str]:
    """Return the names in options, each of which holds one name or several with commas.

    A known name may hold a comma itself.

    Examples
    --------
    >>> split_names(["age, zip", "name, first"], {"name, first"})
    ['age', 'zip', 'name, first']
    """
    return [
        name
        for option in options
        for name in ([option] if option in known else map(str.strip, option.split(",")))
    ]


def did_you_mean(name: object, known: Iterable[str], otherwise: str) -> str:
    """Return a suggestion, or ``otherwise`` if no name is near.

    Examples
    --------
    >>> did_you_mean("Agee", ["age"], "Remove it.")
    'Did you mean age?'
    """
    by_folded = {item.casefold(): item for item in known}
    match = difflib.get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=0.6)
    return f"Did you mean {by_folded[match[0]]}?" if match else otherwise


def unknown(path: KeyPath, rule: str, name: object, known: Sequence[str], what: str) -> Problem:
    """Return the problem of a name that is not among the known ones, which ``what`` names."""
    remedy = did_you_mean(name, known, f"{what} are {names(known)}.")
    return Problem(path, rule, remedy, short_repr(name))
