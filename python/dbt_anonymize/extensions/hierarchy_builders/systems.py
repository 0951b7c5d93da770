"""Systems of codes without prefixes of fixed length: countries, postcodes, calling codes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import cache
from importlib import resources

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.extensions.hierarchy_builders.others import count_rest, refuse_unusable
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

# Areas of postcodes of the United Kingdom.
_AREA_NAMES = """
    AB AL B BA BB BD BH BL BN BR BS BT CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E
    EC EH EN EX FK FY G GL GU GY HA HD HG HP HR HS HU HX IG IM IP IV JE KA KT KW KY L LA LD LE LL
    LN LS LU M ME MK ML N NE NG NN NP NR NW OL OX PA PE PH PL PO PR RG RH RM S SA SE SG SK SL SM
    SN SO SP SR SS ST SW SY TA TD TF TN TQ TR TS TW UB W WA WC WD WF WN WR WS WV YO ZE
"""
_AREAS = frozenset(_AREA_NAMES.split())
_POSTCODE = re.compile(r"(([A-Z]{1,2})\d[A-Z\d]?)(?: ?(\d)[A-Z]{2})?", re.ASCII)
# Calling codes of one and two digits; all others have three.
_SHORT_CODES = """
    1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64
    65 66 81 82 84 86 90 91 92 93 94 95 98
"""
_SHORT = frozenset(_SHORT_CODES.split())
_CALLING = re.compile(r"(?:\+|00)?([1-9][\d ()/-]{0,9})", re.ASCII)


def code_system(values: Sequence[str], system: str) -> CategoricalHierarchy:
    """Group distinct codes by the parts of a system; all else are other values.

    Levels that merge nothing are left out; where none is left it is a `HierarchyError`.

    Examples
    --------
    >>> code_system(["DE", "Spain", "PRT", "JP"], "countries").labels[0]
    ('Western Europe', 'Southern Europe', 'Southern Europe', 'Eastern Asia')
    >>> code_system(["SW1A 1AA", "SW1A 2AA", "M1 1AE"], "uk-postcodes").labels[0]
    ('SW1A *', 'SW1A *', 'M1 *')
    """
    refuse_unusable(dict.fromkeys(values, 1))
    parts_of = {value: SYSTEMS[system](value) for value in values}
    foreign = [value for value, parts in parts_of.items() if parts is None]
    depth = max((len(parts) for parts in parts_of.values() if parts), default=0)
    labels, size = [], len(values)
    for level in range(depth):
        label = tuple(
            parts[level] if parts else count_rest(foreign) for parts in map(parts_of.get, values)
        )
        if 1 < len({*label}) < size:
            labels.append(label)
            size = len({*label})
    if not labels:
        raise HierarchyError(
            f"codes must be of the system {system}, and of several of its parts; these are not. "
            "Name prefixes or groups instead."
        )
    return build_categories(values, labels, name="of codes")


def share_of_system(values: Collection[str], system: str) -> float:
    """Return the share of values that are codes of a system.

    Examples
    --------
    >>> share_of_system(["AB", "DE", "XQ", "FR"], "countries")
    0.5
    """
    return sum(SYSTEMS[system](value) is not None for value in values) / max(1, len(values))


def plain_name(value: str) -> str:
    """Return a name in lower case, without accents and marks.

    Examples
    --------
    >>> plain_name("The  Côte d'Ivoire"), plain_name("Korea, South"), plain_name("Türkiye")
    ('cote d ivoire', 'south korea', 'turkiye')
    """
    first, comma, last = value.partition(",")
    marked = unicodedata.normalize("NFKD", f"{last} {first}" if comma else value)
    letters = "".join(c for c in marked if not unicodedata.combining(c)).lower()
    words = re.findall(r"[^\W\d_]+", letters.replace("&", " and ").replace(".", ""))
    plain = ["saint" if word == "st" else word for word in words]
    return " ".join(plain[1:] if plain[:1] == ["the"] else plain)


@cache
def _countries() -> dict[str, tuple[str, str]]:
    """Return subregion and region of each code and each plain name."""
    text = resources.files(__package__).joinpath("countries.txt")
    places, place = {}, ("", "")
    for line in text.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            region, _, subregion = line.strip("[]").partition(" | ")
            place = (subregion, region)
        elif not line.startswith("#"):
            alpha2, alpha3, names = line.split(" ", 2)
            keys = [alpha2, alpha3, *map(plain_name, names.split(", "))]
            places.update(dict.fromkeys(keys, place))
    return places


def _country(value: str) -> tuple[str, ...] | None:
    """Codes are in capitals or small letters, but for names of two or three letters."""
    countries, plain = _countries(), value.strip()
    has_case = plain.isupper() or plain.islower()
    code = plain.upper() if len(plain) in {2, 3} and has_case else ""
    return countries.get(code) or countries.get(plain_name(plain))


def _uk_postcode(value: str) -> tuple[str, ...] | None:
    match = _POSTCODE.fullmatch(" ".join(value.upper().split()))
    if match is None or match[2] not in _AREAS:
        return None
    district, area, sector = match.groups()
    return f"{district} {sector or ''}*", f"{district} *", f"{area}*"


def _calling_code(value: str) -> tuple[str, ...] | None:
    match = _CALLING.fullmatch(value.strip().removesuffix(".0"))
    if match is None:
        return None
    digits = re.sub(r"\D", "", match[1])
    length = next((size for size in (1, 2) if digits[:size] in _SHORT), 3)
    return f"+{digits[:length]}*", f"+{digits[0]}*"


SYSTEMS: dict[str, Callable[[str], tuple[str, ...] | None]] = {
    "countries": _country,
    "uk-postcodes": _uk_postcode,
    "calling-codes": _calling_code,
}
