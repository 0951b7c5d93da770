"""Codes whose structure is known, by their name and their values: zip, ICD, NAICS and others."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.drafting.names import words
from dbt_anonymize.extensions.hierarchy_builders.codes import code_prefixes
from dbt_anonymize.extensions.hierarchy_builders.systems import code_system, share_of_system
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

# Least share of the values that must match a pattern; most values that are matched.
_LEAST_SHARE, _SAMPLE = 0.95, 2000
# Fewest codes to recognize a structure.
_FEW_CODES = 6
_MOST_LEVELS = 4
_POSTAL = {
    *("zip", "zipcode", "zipcodes", "postcode", "postal", "postalcode", "plz", "postleitzahl"),
    *("cp", "cep", "codigopostal"),
}
_INDUSTRY = {"naics", "nace", "isic", "noga", "industrycode", "industry"}
_COUNTY = {"fips", "county", "countyfips", "fipscode"}
_OCCUPATION = {"isco", "isco08", "occupationcode"}
_DIAGNOSIS = {
    *("icd", "icd9", "icd10", "dx", "diag", "diagnosis", "diagnoses", "diagnose"),
    "diagnosecode",
}
_COUNTRY = {
    *("country", "countries", "cntry", "nation", "nationality", "citizenship", "origin", "iso"),
    *("iso2", "iso3", "land", "pais", "pays", "paese", "staat", "geburtsland", "birthplace"),
}
_CALLING = {
    *("phoneprefix", "callingcode", "dialcode", "dialingcode", "diallingcode", "countryprefix"),
    *("landesvorwahl", "indicatif", "telprefix"),
}
_WITHOUT_ORDER = {"areacode", "vorwahl"}
# Least share of known countries, and fewest values, of a column with a name of countries.
_COUNTRIES, _FEW_COUNTRIES = 0.75, 3
_WITH_DECIMALS = (
    "codes stored as numbers with decimals: cast(cast(… as integer) as varchar) in a model makes "
    "codes of the raw values, too."
)
_ANY = set[str]()
# Pattern of codes, column names that are required (none: values suffice), and prefixes to keep.
_LOOKS = (
    (r"\d{5}(-?\d{4})?", _POSTAL, (5, 3, 1)),
    (r"[a-z]\d[a-z] ?\d[a-z]\d", _ANY, (3, 1)),
    (r"\d{4} ?[a-z]{2}", _POSTAL, (4, 2)),
    (r"\d\d(\.\d{1,2})?", _INDUSTRY, (4, 2)),
    (r"[a-z]\d[\da-z](\.?[\da-z]{1,4})?", _DIAGNOSIS, (3, 1)),
    (r"(\d{3}|v\d\d|e\d{3})(\.?\d{1,2})?", _DIAGNOSIS, (3, 2, 1)),
    (r"\d\d-\d{4}(\.\d\d)?", _ANY, (7, 6, 5, 2)),
    (r"[a-z]{2}-[a-z\d]{1,3}", _ANY, (2,)),
)
# Complete postcodes need no column name.
_UK = r"[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}"
# Codes of diagnoses with points need no column name.
_POINTED = r"[a-z]\d[\da-z](\.[\da-z]{1,4})?"


@dataclass(frozen=True)
class Structure:
    """Structure of codes: characters to keep at each level, and their full number of digits.

    ``system`` names a code system whose groups are no prefixes.
    """

    prefixes: tuple[int, ...] = ()
    zeros: int | None = None
    remark: str = ""
    system: str = ""

    @property
    def command(self) -> str:
        """Arguments of the command."""
        if self.system:
            return f"codes --system {self.system}"
        zeros = f" --zeros {self.zeros}" if self.zeros else ""
        return f"codes --prefixes {','.join(map(str, self.prefixes))}{zeros}"

    def build(self, values: Sequence[str]) -> CategoricalHierarchy:
        """Return the hierarchy of distinct codes."""
        if self.system:
            return code_system(values, self.system)
        return code_prefixes(values, self.prefixes, zeros=self.zeros)


def structure_of(name: str, values: Collection[str]) -> Structure | None:
    """Return the structure of recognized codes; None for others.

    Examples
    --------
    >>> structure_of("zip", [str(10 * number) for number in range(100, 9000)]).zeros
    5
    >>> structure_of("code", ["A01.1", "A01.2", "A02", "C50.9", "C50.1", "I10"]).prefixes
    (3, 1)
    >>> structure_of("naics", ["11", "541511", "541512", "5416", "52", "522"]).prefixes
    (4, 3, 2)
    >>> structure_of("nationality", ["DE", "FR", "ES", "JP"]).system
    'countries'
    """
    if system := _code_system_of(set(words(name)), values):
        return Structure(system=system)
    plain = [value.removesuffix(".0") for value in values]
    structure = _recognize(set(words(name)), plain[:: len(plain) // _SAMPLE + 1])
    if structure is None or len(plain) < _FEW_CODES:
        return None
    longest = max(map(len, plain))
    if plain != list(values) and structure.zeros is None:
        # A missing value turns codes into numbers with decimals.
        structure = replace(structure, zeros=1, remark=_WITH_DECIMALS)
    size, lengths = len(plain), []
    for length in structure.prefixes:
        groups = len({value.zfill(structure.zeros or 0)[:length] for value in plain})
        if length < max(longest, structure.zeros or 0) and 1 < groups < size:
            lengths.append(length)
            size = groups
    return replace(structure, prefixes=tuple(lengths)) if lengths else None


def has_no_order(name: str) -> bool:
    """Tell whether the numbers of a column are codes that neither order nor digits group.

    Examples
    --------
    >>> [has_no_order(name) for name in ("area_code", "AreaCode", "area")]
    [True, True, False]
    """
    return not _WITHOUT_ORDER.isdisjoint(words(name))


def prefixes_of(values: Collection[str]) -> tuple[int, ...]:
    """Return the characters to keep at each level, for codes of unknown structure.

    Each level has at most two thirds of the groups of the one below.

    Examples
    --------
    >>> prefixes_of([f"A{number:04d}" for number in range(1000)])
    (4, 3)
    """
    size, lengths = len(values), list[int]()
    for length in range(max(map(len, values)) - 1, 0, -1):
        groups = len({value[:length] for value in values})
        if groups < 2:
            break
        if 3 * groups <= 2 * size:
            lengths.append(length)
            size = groups
    return tuple(lengths[-_MOST_LEVELS:])


def _code_system_of(name: set[str], values: Collection[str]) -> str | None:
    """Return the system of codes; two letters are countries only with such a column name."""
    seen = list(values)[:: len(values) // _SAMPLE + 1]
    is_many = len(values) >= _FEW_CODES
    are_countries = is_many and min(map(len, seen)) > 2
    least = {
        "countries": _LEAST_SHARE if are_countries else 1.1,
        "uk-postcodes": _LEAST_SHARE
        if is_many and (name & _POSTAL or _mostly_match(_UK, seen))
        else 1.1,
        "calling-codes": _LEAST_SHARE if name & _CALLING else 1.1,
    }
    if name & _COUNTRY and len(values) >= _FEW_COUNTRIES:
        least["countries"] = _COUNTRIES
    for system, share in least.items():
        if share <= 1 and share_of_system(seen, system) >= share:
            with contextlib.suppress(HierarchyError):
                code_system(list(values), system)
                return system
    return None


def _recognize(name: set[str], values: Collection[str]) -> Structure | None:
    if _mostly_match(r"\d{4}-\d\d-\d\d", values):
        remark = "dates stored as text: cast to a date in a model, they also get quarters"
        return Structure((7, 4, 3), remark=remark)
    if _mostly_match(r"\d+", values):
        return _digits(name, {len(value) for value in values})
    if _mostly_match(_POINTED, values) and any("." in value for value in values):
        return Structure((3, 1))
    fitting = (
        prefixes
        for pattern, names, prefixes in _LOOKS
        if (not names or names & name) and _mostly_match(pattern, values)
    )
    structures = (Structure(prefixes) for prefixes in fitting)
    return next(structures, None)


def _digits(name: set[str], lengths: set[int]) -> Structure | None:
    longest = max(lengths)
    if name & _POSTAL and longest in {4, 5, 6}:
        # Codes of four digits alone are those of smaller countries.
        prefixes = (2, 1) if longest == 4 else (3, 1)
        return Structure(prefixes, *_zeros(lengths, 5, "postal codes"))
    if name & _COUNTY and longest == 5:
        return Structure((2,), *_zeros(lengths, 5, "county codes"))
    if "sic" in name and longest == 4:
        return Structure((3, 2, 1), *_zeros(lengths, 4, "industry codes"))
    if name & _INDUSTRY and 3 <= longest <= 6:
        return Structure((4, 3, 2))
    is_occupation = name & _OCCUPATION and longest <= 4
    return Structure((3, 2, 1)) if is_occupation else None


def _zeros(lengths: set[int], digits: int, what: str) -> tuple[int | None, str]:
    if max(lengths) != digits or len(lengths) == 1:
        return None, ""
    digits_text = " and ".join(map(str, sorted(lengths)))
    return digits, (
        f"{what} of {digits_text} digits: leading zeros were lost. The hierarchy has them again, "
        f"raw values do not: lpad(cast(… as varchar), {digits}, '0') in a model gives them back."
    )


def _mostly_match(pattern: str, values: Collection[str]) -> bool:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    matching = sum(compiled.fullmatch(value.strip()) is not None for value in values)
    return bool(values) and matching >= _LEAST_SHARE * len(values)
