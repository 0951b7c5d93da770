"""Codes by their prefixes: A01.1, A01*, A*."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

_SYMBOL = "*"


def code_prefixes(
    values: Sequence[str], prefixes: Sequence[int], *, zeros: int | None = None
) -> CategoricalHierarchy:
    """Keep as many characters of distinct codes as each of ``prefixes`` says, which fall.

    Codes that are shorter stay as they are; an asterisk stands for what is left out, one for each
    character where all codes are of one length. Codes that were stored as numbers get leading
    ``zeros`` again in their labels, up to this many digits, and lose a decimal zero. Codes with an
    asterisk, and prefixes that do not fall, are a `HierarchyError`.

    Examples
    --------
    >>> code_prefixes(["A01", "A01.1", "B20"], [3, 1]).labels
    (('A01*', 'A01*', 'B20*'), ('A*', 'A*', 'B*'), ('*', '*', '*'))
    >>> code_prefixes(["1234", "90210"], [3], zeros=5).labels[0]
    ('012**', '902**')
    """
    if not prefixes or prefixes[-1] < 1 or any(a <= b for a, b in pairwise(prefixes)):
        raise HierarchyError("prefixes must be whole numbers >= 1 that fall, such as 4,3,2.")
    wrong = sum(_SYMBOL in value or not value for value in values)
    if wrong:
        raise HierarchyError(
            f"codes must be texts without an asterisk; {wrong} of {len(values)} are not. "
            "Clean them in a model before."
        )
    codes = list(values)
    if zeros is not None:
        codes = [value.removesuffix(".0").zfill(zeros) for value in values]
    lengths = {len(code) for code in codes}
    is_even = len(lengths) == 1 and max(lengths) > prefixes[0]
    labels = [
        tuple(code[:length] + (_hidden(code[length:]) if is_even else _SYMBOL) for code in codes)
        for length in prefixes
    ]
    return build_categories(values, labels, name="of codes")


def _hidden(rest: str) -> str:
    """Return the hidden part of a code, its separators kept."""
    return "".join(_SYMBOL if character.isalnum() else character for character in rest)
