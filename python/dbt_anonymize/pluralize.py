"""Numbers of things in messages."""

from __future__ import annotations


def pluralized(number: int, one: str, several: str | None = None) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> pluralized(1, "row"), pluralized(1200, "row"), pluralized(0, "person", "people")
    ('1 row', '1,200 rows', '0 people')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
