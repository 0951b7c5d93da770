"""Redaction of codes, character by character: 12345, 1234*, 123**, …, ``*``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

End = Literal["suffix", "prefix"]

MOST_CODES = 1_000_000


def redact_codes(
    values: Sequence[str],
    *,
    end: End = "suffix",
    counts: Sequence[int] | None = None,
    symbol: str = "*",
    pad: str | None = None,
    alphabet: str | None = None,
) -> CategoricalHierarchy:
    """Replace more and more characters of distinct codes by a symbol, which is in no code.

    ``end`` is redacted first: ``counts`` characters at each level, rising and below the length of
    the codes, by default one more each; the root follows by itself. Codes of different lengths need
    ``pad``, a character that lengthens the shorter ones at that end, so that their length stays
    hidden. Characters outside ``alphabet``, if it is given, are a `HierarchyError`.

    Examples
    --------
    >>> redact_codes(["01234", "01299"], counts=[1, 3]).labels
    (('0123*', '0129*'), ('01***', '01***'), ('*', '*'))
    """
    _refuse_bad_characters(values, symbol=symbol, pad=pad, alphabet=alphabet)
    codes = _pad(values, end=end, pad=pad)
    length = len(codes[0]) if codes else 0
    chosen = list(counts) if counts is not None else list(range(1, length))
    rises = all(a < b for a, b in zip([0, *chosen], [*chosen, length], strict=True))
    if codes and not rises:
        raise HierarchyError(
            f"counts must rise from 1 and stay below the length {length} of the codes; they do "
            "not. The root follows by itself."
        )
    labels = [tuple(_redact(code, count, end, symbol) for code in codes) for count in chosen]
    return build_categories(values, labels, name="of redacted codes")


def all_codes(alphabet: str, length: int) -> tuple[str, ...]:
    """Return every code of a length >= 1 over distinct characters, at most a million.

    Examples
    --------
    >>> all_codes("01", 2)
    ('00', '01', '10', '11')
    """
    if not alphabet or len(set(alphabet)) < len(alphabet) or length < 1:
        raise HierarchyError(
            "an alphabet must be distinct characters and the length an int >= 1. Correct them."
        )
    if len(alphabet) ** length > MOST_CODES:
        raise HierarchyError(
            f"there must be at most {MOST_CODES} codes; this alphabet and length give more. "
            "List the codes that occur instead."
        )
    return tuple("".join(code) for code in product(alphabet, repeat=length))


def _pad(values: Sequence[str], *, end: End, pad: str | None) -> list[str]:
    length = max(map(len, values), default=0)
    if pad is None:
        other = sum(1 for value in values if len(value) != length)
        if other:
            raise HierarchyError(
                f"codes must have one length; {other} of {len(values)} are shorter than the "
                "longest. Give a padding character: the length would tell them apart."
            )
        return list(values)
    if end == "suffix":
        return [value.ljust(length, pad) for value in values]
    return [value.rjust(length, pad) for value in values]


def _redact(code: str, count: int, end: End, symbol: str) -> str:
    shown_length = len(code) - count
    return (
        code[:shown_length] + symbol * count if end == "suffix" else symbol * count + code[count:]
    )


def _refuse_bad_characters(
    values: Sequence[str], *, symbol: str, pad: str | None, alphabet: str | None
) -> None:
    problems = []
    if len(symbol) != 1 or (pad is not None and len(pad) != 1) or symbol == pad:
        problems.append("symbol and padding must be two different single characters.")
    elif any(symbol in value for value in values):
        problems.append("codes must not hold the symbol that redacts; some do. Choose another.")
    if alphabet is not None:
        foreign = sum(1 for value in values if set(value) - set(alphabet))
        if foreign:
            problems.append(
                f"codes must consist of the alphabet; {foreign} of {len(values)} do not. "
                "Clean them, or widen the alphabet."
            )
    if problems:
        raise HierarchyError("redaction: " + " ".join(problems))
