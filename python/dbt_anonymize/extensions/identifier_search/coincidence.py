"""Distinguish numbers that are identifiers from those that equal some by coincidence.

A column of order numbers equals some telephone numbers, and one by one they cannot be told apart.
So the same place is searched for *controls*: nearby numbers that nobody has. Their frequency is the
rate of coincidence for numbers of that size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbt_anonymize.extensions.identifier_search.text_variants import digits

# Number of controls per value, within these limits.
_PER_VALUE = 20
_FEWEST, _MOST = 10_000, 200_000
# Digits that change; as many as fit into 64 bits.
_MOST_DIGITS = 18
# Largest distance of a control from its value, or twice the number of values.
_NEAR = 500
# Multiple of the control's rate that is no coincidence.
_TIMES = 10
# If none of n controls occurs, the rate is below 3 / n with 95 % confidence (the rule of three;
# Hanley and Lippman-Hand 1983, JAMA 249(13):1743-1745).
_RULE_OF_THREE = 3


def controls(texts: Sequence[str]) -> list[str]:
    """Return distinct numbers that nobody has, near the given ones and formatted like them.

    Deterministic for the same texts (at least one); fewer than wanted if all near numbers are used.

    Examples
    --------
    >>> made = controls(["0113 496-055", "0113 496-057"])
    >>> "0113 496-056" in made, "0113 496-055" in made
    (True, False)
    """
    numbers = np.array([int(digits(text)[-_MOST_DIGITS:]) for text in texts], dtype=np.int64)
    each = -(-min(max(_PER_VALUE * len(texts), _FEWEST), _MOST) // len(texts))
    reach = max(_NEAR, 2 * len(texts))
    steps = np.random.default_rng(0).integers(-reach, reach + 1, (len(texts), each))
    moved, places = np.unique((numbers[:, None] + steps).ravel(), return_index=True)
    is_free = ~np.isin(moved, numbers) & (moved >= 0)
    owners = places[is_free] // each
    return list(map(_format_like, moved[is_free].tolist(), (texts[owner] for owner in owners)))


def _format_like(number: int, like: str) -> str:
    """Format a number with the separators of another text, and its leading digits beyond 18."""
    all_digits = digits(like)
    plain = f"{all_digits[:-_MOST_DIGITS]}{number:0{min(len(all_digits), _MOST_DIGITS)}}"
    if all_digits == like:
        return plain
    remaining = iter(plain)
    return "".join(next(remaining) if "0" <= character <= "9" else character for character in like)


def is_beyond(matches: int, values: int, control_matches: int, number_of_controls: int) -> bool:
    """Tell whether there are more matches than coincidence explains.

    Examples
    --------
    >>> is_beyond(1, 1000, 0, 20_000), is_beyond(50, 1000, 400, 20_000)
    (True, False)
    """
    if not number_of_controls:
        return True
    per_control = values / number_of_controls
    expected = control_matches * per_control
    at_most = (control_matches + _RULE_OF_THREE) * per_control
    return matches > max(_TIMES * expected, at_most)
