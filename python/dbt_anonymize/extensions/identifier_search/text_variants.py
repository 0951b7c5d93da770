"""Comparable forms of identifiers and texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from dbt_anonymize.extensions.identifier_search.byte_search import Run

# Shorter numbers name nobody, and shorter texts occur everywhere in the bytes of a file.
LONG = 8
# Shorter codes with digits, such as `B-12`, name nobody.
_SHORTEST_CODE = 6
# Separates cells: no identifier contains it.
_BETWEEN = "\x00"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.+Z-]*)?")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[^\W\d_]")
_NO_DIGIT = re.compile(r"[^0-9]+")
# Digits that separators group, as telephone numbers are written.
_GROUPED = re.compile(r"[0-9](?:[ ()/.+-]{0,2}[0-9]){7,}")
# Neither ASCII nor a letter or digit: punctuation, symbols, white space, and marks on letters.
_OTHER = re.compile(r"[^\w\x00-\x7f]")
_SPACES = re.compile(r"\s{2,}|[^\S ]")
# Alphabets that write words without spaces between them, or with endings: Thai to Khmer, kana,
# Chinese characters, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_EDGE = re.compile(
    f"(?<=[{_UNSPACED}])(?=[^{_UNSPACED}\\s])|(?<=[^{_UNSPACED}\\s])(?=[{_UNSPACED}])"
)
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|([/"'\\])|[bfnrt])""")

Variant = tuple[str, Run]


def is_number(text: str) -> bool:
    """Tell whether a value is a number, however its digits are grouped, and not a date.

    Examples
    --------
    >>> [is_number(text) for text in ("0113 49-6055", "Flat 9", "1980-05-17")]
    [True, False, False]
    """
    return bool(_DIGIT.search(text)) and not (_LETTER.search(text) or _DATE.fullmatch(text))


def is_searched(text: str) -> bool:
    """Tell whether a value is searched for: no date, short number, short code or single letter.

    Examples
    --------
    >>> [is_searched(text) for text in ("0113 49-6055", "Jo", "\u674e", "AB-123")]
    [True, True, True, True]
    >>> [is_searched(text) for text in ("1234567", "x", "1980-05-17 09:30", "B-12")]
    [False, False, False, False]
    """
    if is_number(text):
        return len(digits(text)) >= LONG
    if _DIGIT.search(text):
        return len(text) >= _SHORTEST_CODE and not _DATE.fullmatch(text)
    return len(text) > 1 or _IS_UNSPACED.match(text) is not None


def digits(text: str) -> str:
    """Return the digits of a text alone.

    Examples
    --------
    >>> digits("0113 496-0371")
    '01134960371'
    """
    return _NO_DIGIT.sub("", text)


def variants_in_cells(text: str) -> Iterator[Variant]:
    """Yield the variants of a value in cells, which count as whole words only."""
    words = fold(text).strip()
    # An alphabet without spaces has no whole words, but one character is in any text.
    is_unspaced = len(words) > 1 and _IS_UNSPACED.search(words)
    yield words, Run.NONE if is_unspaced else Run.WORD
    if is_number(text):
        number = digits(text)
        yield number, Run.WORD
        # A number has lost the zeros before it.
        if len(number.lstrip("0")) >= LONG:
            yield number.lstrip("0"), Run.WORD


def variants_in_bytes(text: str) -> Iterator[Variant]:
    """Give the ways in which a file may hold a value of eight bytes or more: as it is written."""
    if len(text.encode("utf-8", "surrogatepass")) < LONG:
        return
    run = Run.DIGITS if is_number(text) else Run.WORD
    run = Run.NONE if _IS_UNSPACED.search(text) else run
    yield text, run
    if not text.isascii():
        yield unicodedata.normalize("NFC", text), run
        yield unicodedata.normalize("NFD", text), run


def has_parts(text: str) -> bool:
    """Tell whether a value is several words, as ``Ada Lind`` and ``ada@lind.org`` are."""
    return re.search(r"\w\W+\w", text) is not None and not is_number(text)


def comparable_bytes(cells: Sequence[str]) -> list[bytes]:
    r"""Return the folded cells, then the digits of their grouped numbers, as bytes.

    Examples
    --------
    >>> comparable_bytes(["Ring 0113/49.60-55", r"Jos\u0065"])
    [b'ring 0113/49.60-55\x00jos\\u0065\x00jose', b'0113496055']
    """
    text = _BETWEEN.join([*cells, *(unescape_json(cell) for cell in cells if "\\" in cell)])
    grouped = _BETWEEN.join(digits(number) for number in _GROUPED.findall(text))
    return [_encoded(fold(text)), _encoded(grouped)]


def _encoded(text: str) -> bytes:
    """Return a text as bytes, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")


def fold(text: str) -> str:
    """Return a text for comparison: composed characters, case folded, words separated.

    Punctuation beyond ASCII and any white space become a space; invisible characters are dropped.
    The dotted and the dotless i of Turkish are one letter. Words of alphabets without spaces are
    separated from those of others.

    Examples
    --------
    >>> fold("\u201cBo\u201d\u2013LIND"), fold("\u0130pek"), fold("Bo\u5148\u751f")
    (' bo lind', 'ipek', 'bo \u5148\u751f')
    """
    if text.isascii():
        return _SPACES.sub(" ", text.lower())
    text = (
        unicodedata.normalize("NFC", text).casefold().replace("i\u0307", "i").replace("\u0131", "i")
    )
    text = _EDGE.sub(" ", _OTHER.sub(_separator, text))
    return _SPACES.sub(" ", text)


def _separator(match: re.Match[str]) -> str:
    character = match[0]
    category = unicodedata.category(character)
    if category.startswith("M"):
        return character
    # A soft hyphen or a joiner stands inside of words; a space without width between them.
    return "" if category == "Cf" and character != "\u200b" else " "


def unescape_json(text: str) -> str:
    r"""Return a text without the escapes of JSON; line breaks are escapes only beside a quote.

    Examples
    --------
    >>> unescape_json(r'"Jos\u0065 A\/B\n"'), unescape_json(r"C:\new")
    ('"Jose A/B "', 'C:\\new')
    """
    is_json = '"' in text

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        return match[2] or (" " if is_json else match[0])

    return _ESCAPE.sub(character, text)
