"""Numbers of things in messages."""

from __future__ import annotations


def counted(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(0, "person", "people")
    ('1 row', '1,200 rows', '0 people')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
