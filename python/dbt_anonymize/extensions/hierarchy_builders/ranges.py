"""Ranges written as text: 18-25, 65+, under 18, $10,000 - $19,999, 1-9 employees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[,.' ]\d{3})+(?![\d,.])|\d+(?:[.,]\d+)?")
# Words and signs around numbers, in English, German and Spanish.
_INCLUSIVE = (
    r"<=|≤|le|up to|at most|no more than|or (?:less|fewer|below|younger)|bis|höchstens"
    r"|oder weniger|hasta|o menos"
)
_BELOW = (
    r"<|lt|under|less than|below|fewer than|younger than|or under|bis zu|unter|weniger als"
    rf"|menos de|menor de|{_INCLUSIVE}"
)
_ABOVE = (
    r"\+|>=|>|≥|gt|ge|over|more than|above|at least|older than|plus|über|ab|mehr als|mindestens"
    r"|(?:and|or) (?:over|above|older|more|up)|(?:und|oder) (?:mehr|älter|darüber)"
    r"|más de|mayor de|[oy] más"
)
_BEYOND = r">(?!=)|gt|over|more than|above|older than|über|mehr als|más de|mayor de"
_BETWEEN = r"[-\u2013\u2014]|to|bis|a|hasta|and|und|y|to less than|to under|bis unter|\.\.|,"
_AROUND = r"from|between|von|zwischen|de|entre|ages?|aged"
_UNITS = (
    r"years?|yrs?|y|yo|old|days?|weeks?|months?|hours?|hrs?|minutes?|mins?|jahren?|jahr|tagen?|tag"
    r"|wochen?|monaten?|monat|stunden?|años?|días?|meses|mes|horas?|k|eur|usd|euros?|dollars?"
    r"|kg|cm|grade|stage|level|class|tier|phase|quarter|klasse|stufe|nivel|score|q"
)
_SIGNS = r"[\s$€£%().\[\]]"
# Numbers without a word are an order if at least one in this many of their range occurs.
_DENSE = 3


@dataclass(frozen=True)
class Range:
    """Range in a text: its ends, None where open, and the spans of its numbers."""

    text: str
    lower: Decimal | None
    upper: Decimal | None
    spans: tuple[tuple[int, int], ...]
    words: str

    @property
    def key(self) -> tuple[Decimal, Decimal]:
        """Key by which ranges are sorted."""
        low = Decimal("-Infinity") if self.lower is None else self.lower
        return low, Decimal("Infinity") if self.upper is None else self.upper

    def token(self, place: int) -> str:
        """Return a number as the text writes it."""
        start, end = self.spans[place]
        return self.text[start:end]

    def with_token(self, place: int, token: str) -> str:
        """Return the text with another number."""
        start, end = self.spans[place]
        return f"{self.text[:start]}{token}{self.text[end:]}"

    def says(self, pattern: str) -> bool:
        """Tell whether the text has one of some words."""
        return _has(pattern, self.text.casefold())


def order_of_ranges(values: Sequence[str]) -> dict[str, Range]:
    """Return the range of each text, in order; empty if they are no disjoint ranges.

    Texts without a range are left out.

    Examples
    --------
    >>> list(order_of_ranges(["65+", "18-25", "under 18", "26-64", "refused"]))
    ['under 18', '18-25', '26-64', '65+']
    >>> order_of_ranges(["11-1011", "11-1021", "12-9000"])
    {}
    """
    ranges = [range_ for value in values if (range_ := parse_range(value)) is not None]
    ordered = sorted(ranges, key=lambda range_: (range_.key, range_.text))
    words = {range_.words.rstrip("s") for range_ in ordered} - {""}
    overlaps = sum(a.key[1] > b.key[0] or a.key == b.key for a, b in pairwise(ordered))
    if len(ordered) < 3 or len(words) > 1 or overlaps:
        return {}
    is_plain = all(range_.lower == range_.upper for range_ in ordered)
    if is_plain and (words or not _is_dense(ordered)):
        return {}
    return {range_.text: range_ for range_ in ordered}


def parse_range(text: str) -> Range | None:
    """Return the range in a text; None if there is none.

    Examples
    --------
    >>> one = parse_range("$10,000 - $19,999")
    >>> one.lower, one.upper
    (Decimal('10000'), Decimal('19999'))
    >>> parse_range("A01") is None, parse_range("65 and over").upper is None
    (True, True)
    """
    numbers = list(_NUMBER.finditer(text))
    if not 1 <= len(numbers) <= 2:
        return None
    spans = tuple(number.span() for number in numbers)
    sizes = [_size(text, number) for number in numbers]
    folded = text.casefold()
    before, after = folded[: spans[0][0]], folded[spans[-1][1] :]
    if re.search(r"\w$", before) or re.match(r"[a-z]\d|\d", after):
        return None
    if len(numbers) == 2:
        between = _without(_UNITS, folded[spans[0][1] : spans[1][0]])
        is_between = re.fullmatch(_BETWEEN, _without("<", between).strip()) is not None
        words = _without(f"{_UNITS}|{_AROUND}", f"{before} {after}")
        if not is_between or sizes[0] > sizes[1]:
            return None
        return Range(text, sizes[0], sizes[1], spans, words)
    around = f"{before} {after}"
    words = _without(f"{_UNITS}|{_AROUND}|{_BELOW}|{_ABOVE}", around)
    if _has(_ABOVE, around):
        return Range(text, sizes[0], None, spans, words)
    lower = None if _has(_BELOW, around) else sizes[0]
    return Range(text, lower, sizes[0], spans, words)


def name_of_ranges(ordered: Sequence[Range], first: int, last: int) -> str:
    """Return the name of neighbours from ``first`` to ``last``, in the way of their own texts.

    Examples
    --------
    >>> texts = ["<20", "20-29 years", "30-39 years", "40+ years"]
    >>> ranges = [parse_range(text) for text in texts]
    >>> [name_of_ranges(ranges, *ends) for ends in ((0, 1), (1, 2), (2, 3), (1, 1))]
    ['<30', '20-39 years', '30+ years', '20-29 years']
    """
    start, end = ordered[first], ordered[last]
    if first == last:
        return start.text
    if start.lower is None or end.upper is None:
        following = ordered[last + 1] if last + 1 < len(ordered) else None
        return _open_name(start, end, following) or f"{start.text} - {end.text}"
    if len(start.spans) == 2:
        return start.with_token(1, end.token(-1))
    return start.with_token(0, f"{start.token(0)}-{end.token(-1)}")


def _open_name(start: Range, end: Range, following: Range | None) -> str | None:
    if start.lower is None and end.upper is None:
        return None
    if end.upper is None and end.says(_BEYOND):
        # More than 65 and the range below begin at its first number.
        unit = end.text[end.spans[0][1] :]
        return f"{start.token(0)}+{unit}"
    if end.upper is None:
        return end.with_token(0, start.token(0))
    if start.says(_INCLUSIVE):
        return start.with_token(0, end.token(-1))
    if following is not None and not following.says(_BEYOND):
        return start.with_token(0, following.token(0))
    return f"≤{end.token(-1)}{start.text[start.spans[0][1] :]}"


def _size(text: str, number: re.Match[str]) -> Decimal:
    digits = number.group()
    if re.fullmatch(r"\d{1,3}([,.' ]\d{3})+", digits):
        digits = re.sub(r"\D", "", digits)
    is_thousands = text[number.end() : number.end() + 1] in {"k", "K"}
    return Decimal(digits.replace(",", ".")) * (1000 if is_thousands else 1)


def _is_dense(ordered: Sequence[Range]) -> bool:
    lower, upper = ordered[0].key[0], ordered[-1].key[0]
    has_zeros = any(re.match(r"0\d", range_.token(0)) for range_ in ordered)
    has_unit = any(re.search(r"[^\W\d]", range_.text) for range_ in ordered)
    return not has_zeros and (has_unit or upper - lower < _DENSE * len(ordered))


def _without(pattern: str, text: str) -> str:
    """Return a text without words and signs of a pattern, of currencies and of brackets."""
    signs = re.sub(_SIGNS, " ", text)
    bare = re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", " ", f" {' '.join(signs.split())} ")
    return " ".join(bare.split())


def _has(pattern: str, text: str) -> bool:
    return re.search(rf"(?<![^\W\d])(?:{pattern})(?![^\W\d])", text) is not None
