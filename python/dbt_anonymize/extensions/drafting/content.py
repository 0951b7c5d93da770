"""Recognize values: e-mail addresses, phone numbers, accounts, national numbers.

Numbers with a check digit count only where it is right: other numbers look like them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources

# Least share of the read values that must match.
_SHARE = 0.8
# Least share of values with a frequent given name in a column of names.
_NAMED_SHARE = 0.5
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


def recognize_content(values: Sequence[str]) -> str | None:
    """Return the kind of content of most values, or None.

    Examples
    --------
    >>> recognize_content(["a@example.org", "b@example.org"])
    'e-mail addresses'
    >>> recognize_content(["DE89370400440532013000"])
    'bank accounts (IBAN)'
    >>> recognize_content(["12345", "67890"]) is None
    True
    """
    if not values:
        return None
    for name, matches in _RECOGNIZERS.items():
        if sum(map(matches, values)) >= _SHARE * len(values):
            return name
    person_names = sum(map(_is_name_of_person, values))
    return NAMES_OF_PEOPLE if person_names >= _NAMED_SHARE * len(values) else None


@cache
def _given_names() -> frozenset[str]:
    text = resources.files("dbt_anonymize.extensions.drafting").joinpath("given_names.txt")
    lines = text.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _is_name_of_person(value: str) -> bool:
    """Tell whether a value has a frequent given name, alone or with others, in either order.

    Examples
    --------
    >>> [_is_name_of_person(value) for value in ("Ann Lind", "LIND, Ann", "Dr. Eva Marie Bo")]
    [True, True, True]
    >>> [_is_name_of_person(value) for value in ("never married", "San Jose", "male")]
    [False, False, False]
    """
    last, _, first = value.lower().rpartition(",")
    name_parts = re.findall(r"[^\W\d_]+", first or last)
    is_name = 1 <= len(name_parts) <= 4 and re.fullmatch(r"[^\d_@/<>=+]+", value) is not None
    if name_parts and name_parts[0] in {"dr", "mr", "mrs", "ms", "prof", "herr", "frau"}:
        name_parts = name_parts[1:]
    return is_name and bool(name_parts) and name_parts[0] in _given_names()


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
    return lambda value: compiled.fullmatch(value.strip()) is not None


def _digits(value: str) -> list[int]:
    return [int(character) for character in value if character in "0123456789"]


def _is_iban(value: str) -> bool:
    plain = value.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain, re.ASCII):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_card(value: str) -> bool:
    """Tell whether a value is a card number, by its Luhn check digit."""
    digits = _digits(value)
    if not 13 <= len(digits) <= 19 or not re.fullmatch(r"[\d -]+", value.strip(), re.ASCII):
        return False
    doubled = [d * 2 - 9 * (d > 4) if place % 2 else d for place, d in enumerate(digits[::-1])]
    return sum(doubled) % 10 == 0


def _is_phone(value: str) -> bool:
    """Tell whether a value is a phone number: digits with a prefix or separators."""
    if not re.fullmatch(r"(\+|00)?[\d ()./-]{7,20}", value.strip(), re.ASCII):
        return False
    is_marked = value.strip().startswith(("+", "00")) or re.search(r"[ ()./-]", value.strip())
    return bool(is_marked) and 7 <= len(_digits(value)) <= 15 and not is_date(value)


is_date = _matches(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_is_dni_form = _matches(r"[XYZ]?\d{7,8}-?[A-Z]")


def _is_dni(value: str) -> bool:
    if not _is_dni_form(value):
        return False
    plain = value.strip().upper().replace("-", "")
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(number) % 23] == plain[-1]


def _is_nir(value: str) -> bool:
    """Tell whether a value is a French national number: thirteen digits and a key."""
    plain = value.replace(" ", "")
    if not re.fullmatch(r"[12]\d{14}", plain, re.ASCII):
        return False
    return 97 - int(plain[:13]) % 97 == int(plain[13:])


_RECOGNIZERS: dict[str, Callable[[str], bool]] = {
    "e-mail addresses": _matches(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
    "bank accounts (IBAN)": _is_iban,
    "payment cards": _is_card,
    "national numbers (Spain)": _is_dni,
    "national numbers (France)": _is_nir,
    "national numbers (Italy)": _matches(r"[a-z]{6}\d{2}[a-ehlmprst]\d{2}[a-z]\d{3}[a-z]"),
    "national numbers (United States)": _matches(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"),
    "national numbers (United Kingdom)": _matches(r"[a-ceghj-prtwxyz]{2} ?(\d{2} ?){3}[a-d]"),
    "national numbers (Nordic)": _matches(r"(19|20)?\d{6}[-+a]\d{3,4}[0-9a-z]?"),
    "addresses of machines (IP)": _matches(
        r"(\d{1,3}\.){3}\d{1,3}|([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"
    ),
    "random identifiers (UUID)": _matches(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"),
    # Also if many rows have the same hash: it stands for the person or thing that was hashed.
    "hashes": _matches(
        r"(0x|\\x)?([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}"
        r"|(?=.*[a-f])(?=.*\d)[0-9a-f]{16})|[a-z0-9+/_-]{22}==|[a-z0-9+/_-]{27}=|[a-z0-9+/_-]{43}="
        r"|[a-z0-9+/_-]{86}=="
        r"|(?-i:(?=.*[a-z])(?=.*[A-Z])(?=.*\d)([\w-]{22}|[\w-]{27}|[\w-]{43}))"
    ),
    "phone numbers": _is_phone,
}
NAMES_OF_PEOPLE = "names of people"
