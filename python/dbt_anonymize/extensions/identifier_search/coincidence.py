"""Distinguish numbers that are identifiers from those that equal some by coincidence.

A column of order numbers has some telephone numbers, and nothing tells them apart one by one. So
the same place is searched for a *control*: numbers that nobody has, beside those that somebody has.
How often it has these is how often it has any number of that size by coincidence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbt_anonymize.extensions.identifier_search.text_variants import digits

# How many controls: so many for each value, within these limits.
_PER_VALUE = 20
_FEWEST, _MOST = 10_000, 200_000
# So many digits fit into a number of 64 bits: those that change.
_MOST_DIGITS = 18
# Controls are drawn at most so far from a value, or twice as far as there are values.
_NEAR = 500
# Many times as often as the control is no coincidence.
_TIMES = 10
# Where a control of n never occurs, others occur in fewer than 3 of n, with 95 % confidence
# (the rule of three; Hanley and Lippman-Hand 1983, JAMA 249(13):1743-1745).
_RULE_OF_THREE = 3


def controls(texts: Sequence[str]) -> list[str]:
    """Return distinct numbers that are nobody's, beside given ones and written like them.

    The same for the same texts (at least one); fewer than wanted where all numbers are taken.

    Examples
    --------
    >>> made = controls(["0113 496-055", "0113 496-057"])
    >>> "0113 496-056" in made, "0113 496-055" in made
    (True, False)
    """
    numbers = np.array([int(digits(text)[-_MOST_DIGITS:]) for text in texts], dtype=np.int64)
    each = -(-min(max(_PER_VALUE * len(texts), _FEWEST), _MOST) // len(texts))
    reach = max(_NEAR, 2 * len(texts))
    # The same numbers whenever it runs.
    steps = np.random.default_rng(0).integers(-reach, reach + 1, (len(texts), each))
    moved, places = np.unique((numbers[:, None] + steps).ravel(), return_index=True)
    is_free = ~np.isin(moved, numbers) & (moved >= 0)
    owners = places[is_free] // each
    made = map(_written, moved[is_free].tolist(), (texts[owner] for owner in owners))
    return list(made)


def _written(number: int, like: str) -> str:
    """Write a number with the digits and separators of another, the first ones if it has more."""
    given = digits(like)
    written = f"{given[:-_MOST_DIGITS]}{number:0{min(len(given), _MOST_DIGITS)}}"
    if given == like:
        return written
    left = iter(written)
    return "".join(next(left) if "0" <= character <= "9" else character for character in like)


def is_beyond(found: int, values: int, controls_found: int, number_of_controls: int) -> bool:
    """Tell whether more of the values were found than coincidence explains.

    Examples
    --------
    >>> is_beyond(1, 1000, 0, 20_000), is_beyond(50, 1000, 400, 20_000)
    (True, False)
    """
    if not number_of_controls:
        return True
    per_control = values / number_of_controls
    expected = controls_found * per_control
    at_most = (controls_found + _RULE_OF_THREE) * per_control
    return found > max(_TIMES * expected, at_most)
