"""Numbers of things in messages."""

from __future__ import annotations


def pluralized(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number of things in words.

    Examples
    --------
    >>> pluralized(1, "row"), pluralized(1200, "row"), pluralized(0, "person", "people")
    ('1 row', '1,200 rows', '0 people')
    """
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"
