"""The forms in which a value of a person could have left the vault, and how texts are compared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial

# Fewer characters make a word that is found everywhere, as part of others.
LONG = 6
# A number that contains so many digits of an identifier does not do so by chance.
LONG_NUMBER = 9
# A number has lost the zeros before it; fewer digits than these are any number.
SHORTEST_NUMBER = 5
_NO_DIGIT = re.compile(r"[^0-9]+")
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
_WHOLE = re.compile(r"-?0*([0-9]+)(?:\.0*)?")
_SCIENTIFIC = re.compile(r"-?([0-9])(?:\.([0-9]+))?e\+?([0-9]{1,3})")
_NUMBERS = re.compile(
    r"(?:u?(?:tiny|small|big|huge)?int(?:eger)?|float|real|double(?: precision)?|decimal|numeric"
    r"|bignum)(?:\(.*\))?",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(
    r"(?:date|time|boolean|bool|uuid|interval|bit)\b.*|timestamp.*", re.IGNORECASE
)
# More digits than any identifier has.
MOST_DIGITS = 40
# A date alone, as dates and the midnights of timestamps are written.
_ONLY_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T]00:00:00(?:\.0+)?)?")
# What JSON, and texts within lists of DuckDB, write instead of a character. Line breaks and the
# like are escapes only where a quote shows that the text is JSON: `C:\temp` holds none.
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|([/"'\\])|[bfnrt])""")
# What JSON writes as it is.
_PLAIN = re.compile(r"[ !#-.0-\[\]-~]*")
# JSON in JSON in JSON.
_MOST_ESCAPED = 3

Forms = Callable[[str], Iterator[tuple[str, bool]]]


def digits(text: str) -> str:
    """Return the digits of a text alone; nothing where they are too few to name a person.

    Examples
    --------
    >>> digits("0113 496-0371"), digits("Flat 9")
    ('01134960371', '')
    """
    found = _NO_DIGIT.sub("", text)
    return found if len(found) >= LONG else ""


def folded(text: str) -> str:
    """Return a text as it is compared: composed characters, in any case, words apart.

    Punctuation beyond ASCII is a space, as is any white space; what is not seen is left out. The
    dotted and the dotless i of Turkish are one letter. Words of alphabets without spaces stand
    apart from those of others.

    Examples
    --------
    >>> folded("\u201cBo\u201d\u2013LIND"), folded("\u0130pek"), folded("Bo\u5148\u751f")
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


def is_number(data_type: str) -> bool:
    """Return whether a column has a type of numbers."""
    return _NUMBERS.fullmatch(data_type) is not None


def is_text(data_type: str) -> bool:
    """Whether a column may hold any text; dates and the like are written with digits alone."""
    return not (is_number(data_type) or _NO_TEXT.fullmatch(data_type))


def whole(text: str) -> str | None:
    """Return the digits of a whole number without sign and leading zeros, None of any other.

    Examples
    --------
    >>> whole("-0120.00"), whole("1.23456e+16"), whole("1.5")
    ('120', '12345600000000000', None)
    """
    if match := _WHOLE.fullmatch(text):
        return match[1]
    if match := _SCIENTIFIC.fullmatch(text):
        fraction, exponent = match[2] or "", int(match[3])
        if len(fraction) <= exponent < MOST_DIGITS:
            return match[1] + fraction.ljust(exponent, "0")
    return None


def is_only_day(text: str) -> bool:
    """Tell whether a text is a date and nothing else, which many people and records share."""
    return _ONLY_DAY.fullmatch(text) is not None


def readings(cells: Sequence[str]) -> Sequence[str]:
    r"""Return texts, and what those say that are written with the escapes of JSON.

    Examples
    --------
    >>> readings([r"Jos\u0065", r"C:\new"])
    ['Jos\\u0065', 'C:\\new', 'Jose']
    """
    return [*cells, *(read for cell in cells if "\\" in cell if (read := unescaped(cell)) != cell)]


def unescaped(text: str) -> str:
    r"""Return a text without the escapes of JSON, also those of JSON in JSON.

    Examples
    --------
    >>> unescaped(r"Jos\u0065 \"A\/B\""), unescaped(r"\ud83d\ude00") == chr(0x1F600)
    ('Jose "A/B"', True)
    """
    for _ in range(_MOST_ESCAPED):
        read = _ESCAPE.sub(partial(_character, is_json='"' in text), text)
        # Two escapes may be the halves of one character.
        read = read.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if read == text:
            break
        text = read
    return text


def _character(match: re.Match[str], *, is_json: bool) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return match[2] or (" " if is_json else match[0])


def _escaped(text: str) -> Iterator[str]:
    """Give the ways in which JSON writes a text, where it writes it in another way."""
    if _PLAIN.fullmatch(text):
        return
    for letters in dict.fromkeys((text, text.lower(), text.upper(), text.title())):
        for only_ascii in (False, True):
            written = json.dumps(letters, ensure_ascii=only_ascii)[1:-1]
            for read in (written, written.replace("/", "\\/")):
                if read != letters:
                    yield read


def is_long(text: str) -> bool:
    """Tell whether a text is no part of others by chance; a Chinese character counts twice."""
    return len(text) >= LONG or len(text) + len(_IS_UNSPACED.findall(text)) >= LONG


def forms_in_cells(text: str) -> Iterator[tuple[str, bool]]:
    """Give the forms of a value in cells of text; a short one counts as a whole word only."""
    yield folded(text).strip(), not (is_long(text) or _has_no_words(text))
    if digits(text):
        yield digits(text), False


def _has_no_words(text: str) -> bool:
    """Tell whether no space is to be expected around a text; one character is in any word."""
    return len(text) > 1 and _IS_UNSPACED.search(text) is not None


def forms_as_cells(text: str) -> Iterator[tuple[str, bool]]:
    """Give the same forms where random text may contain them: as whole words only."""
    for form, _ in forms_in_cells(text):
        yield form, True


def forms_as_digits(text: str) -> Iterator[tuple[str, bool]]:
    """Give the digits of a value, to be all digits of a cell."""
    if digits(text):
        yield digits(text), True


def forms_as_number(text: str) -> Iterator[tuple[str, bool]]:
    """Give the digits of a value as a number has them, without leading zeros."""
    number = digits(text).lstrip("0")
    if len(number) >= SHORTEST_NUMBER:
        yield number, len(number) < LONG_NUMBER


def forms_as_whole_number(text: str) -> Iterator[tuple[str, bool]]:
    """Give the same of nine digits or more, to be the whole number: some contain anything."""
    for number, _ in forms_as_number(text):
        if len(number) >= LONG_NUMBER:
            yield number, True


def forms_in_bytes(text: str) -> Iterator[tuple[str, bool]]:
    """Give the forms of a long value in a file: ASCII letters are folded there, others are not."""
    if is_long(text) and text.isascii():
        yield text.lower(), False
    elif is_long(text):
        for letters in (text, text.lower(), text.upper(), text.title()):
            yield unicodedata.normalize("NFC", letters), False
            yield unicodedata.normalize("NFD", letters), False
    if is_long(text):
        for escaped in _escaped(text):
            yield escaped, False
    if digits(text):
        yield digits(text), False
