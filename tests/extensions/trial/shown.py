"""Parse the output of `dbt-anonymize try`."""

from __future__ import annotations

import re


def figures(shown: str, *names: str) -> list[tuple[float, ...]]:
    """Return class size and records left out, or figures of these ``names``, of each alternative.

    From weak to strong.
    """
    rows = [
        [float(number.replace(",", "")) for number in re.findall(r"(?<!\()\b[\d,.]+\b", found[1])]
        for name in names or ("k", "left out")
        for found in [re.search(rf"^ ?{name} +([\d,.()% ]+)$", shown, flags=re.MULTILINE)]
        if found
    ]
    return list(zip(*rows, strict=True))


def names_of(shown: str) -> list[str]:
    """Return the names of the alternatives, from weak to strong."""
    heading = shown.partition("───")[0].splitlines()[-4:]
    found = [re.finditer(r"(more-use|balanced|more-privacy)", line) for line in heading]
    places = [(one.start(), at, one[0]) for at, line in enumerate(found) for one in line]
    return [name for *_, name in sorted(places)]
