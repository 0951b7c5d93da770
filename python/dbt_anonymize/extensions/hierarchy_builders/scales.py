"""Orders of words that people know: low, medium, high; primary, high school, bachelor; months."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

# Education has too many wordings for a list: the first matching pattern gives the place.
_EDUCATION = tuple(
    (place, re.compile(pattern))
    for place, pattern in (
        (8, r"doctora|\bphd\b|\bdr\b|promotion|\bdoctor\b"),
        (
            3,
            r"(less than|lt|below|no|some|incomplete|<) ?(a )?(high|secondary|hs\b|12)"
            r"|lower secondary|middle|junior high|hauptschule|dropout|\beso\b",
        ),
        (
            0,
            r"^(none|never attended|no (formal )?(education|school|schooling|degree)|uneducated"
            r"|illiterate|ohne( abschluss)?|kein(e|en)?( abschluss| schulabschluss)?|ningun[oa]"
            r"|sin estudios|analfabet[oa])$",
        ),
        (1, r"pre ?school|kindergarten|nursery|infantil"),
        (2, r"primary|elementary|grundschule|volksschule|primaria|básica"),
        (
            5,
            r"some (college|university|undergrad)|associate|\bassoc\b|vocation|\bvoc\b|trade"
            r"|technical|(junior|community) college|post ?secondary|berufsausbildung|\blehre\b"
            r"|formación profesional|\bfp\b",
        ),
        (
            4,
            r"high ?school|\bhs\b|secondary|\bged\b|abitur|matura|realschule|mittlere reife"
            r"|secundaria|bachillerato|a levels?|gymnasium|(below|no) college",
        ),
        (5, r"diploma"),
        (
            7,
            r"master|\bmba\b|\bma\b|\bmsc\b|post ?grad|advanced|professional|prof school|maestría"
            r"|máster|posgrado|\bgraduate (degree|school|studies)|^grad(uate)?$",
        ),
        (
            6,
            r"bachelor|college|university|undergrad|\bba\b|\bbsc?\b|\bdegree|licenciatura"
            r"|universi|hochschul|tertiary|graduate|\bdiplom\b|^grado$",
        ),
    )
)
# A school year, by its number.
_GRADE = re.compile(r"\b(1[0-2]|[1-9])(st|nd|rd|th)\b")
_FIRST_OF_MIDDLE = 7
_FEWEST = 3
# Number or share of values that may have no place, beside words for unknown.
_FEW_STRANGE, _SHARE_STRANGE = 1, 0.2


def order_of_words(values: Sequence[str]) -> Mapping[str, float] | None:
    """Return the place of each word; None if they have no known order.

    Words without a place are left out.

    Examples
    --------
    >>> sorted(order_of_words(["2. High School", "1. None", "3. Bachelor", "unknown"]).values())
    [0, 4, 6]
    >>> order_of_words(["red", "green", "blue"]) is None
    True
    """
    plain = {value: plain_words(value) for value in values}
    candidates = [
        {v: scale[word] for v, word in plain.items() if word in scale} for scale in _scales()[1:]
    ]
    schools = {value: _education(word) for value, word in plain.items()}
    candidates.append({value: place for value, place in schools.items() if place is not None})
    places = max(candidates, key=len)
    return places if has_order(values, places) else None


def has_order(values: Sequence[str], places: Mapping[str, object]) -> bool:
    """Tell whether enough values have a place in an order, and few of them the same."""
    placeless = [value for value in values if value not in places]
    words = [plain_words(value) for value in placeless]
    strange = [word for word in words if word and word not in _unknown()]
    return (
        len(set(places.values())) >= _FEWEST
        and len(strange) <= max(_FEW_STRANGE, _SHARE_STRANGE * len(places))
        and 2 * len(placeless) <= max(2 * _FEWEST, len(places))
        and len(placeless) < len(places)
    )


def plain_words(value: str) -> str:
    """Normalize a text as scales write it: without case, punctuation and a leading number.

    Examples
    --------
    >>> plain_words("2. High-School"), plain_words("<HS")
    ('high school', '<hs')
    """
    text = re.sub(r"^\s*\(?\d{1,2}\s*[.):-]\s*(?=[^\d\s])", "", value.casefold())
    words = " ".join(re.sub(r"[^\w<]+", " ", text.replace("_", " ")).split())
    return re.sub(
        r"^(stage|grade|class|level|phase|stadium|grad|stufe|nivel) (?=[ivx]+$)", "", words
    )


def _education(text: str) -> float | None:
    grade = _GRADE.search(text)
    if grade:
        number = int(grade[1])
        # Less than a year comes before it.
        is_less = re.search(r"\b(less|lt|below|under)\b|<", text) is not None
        return (3 if number >= _FIRST_OF_MIDDLE else 2) + (number - is_less / 2) / 100
    return next((place for place, pattern in _EDUCATION if pattern.search(text)), None)


@cache
def _scales() -> tuple[dict[str, float], ...]:
    """Return the place of each word in each scale; the first block has words for unknown."""
    text = resources.files(__package__).joinpath("scales.txt")
    blocks = text.read_text(encoding="utf-8").casefold().split("\n\n")
    return tuple(
        {
            plain_words(word): place
            for place, line in enumerate(block.strip().splitlines())
            for word in line.split("/")
        }
        for block in blocks[1:]
    )


def _unknown() -> dict[str, float]:
    return _scales()[0]
