"""Random tables that pycanon is asked about, and how they are kept: four letters for a record."""

from __future__ import annotations

import random

TABLES = 500
# pycanon drops a record with NULL and misleads where a sensitive attribute has one value.
CITIES = ("Ulm", "Aalen", "Bonn")
AGES = ("30", "40", "5")
DISEASES = ("flu", "cold", "gout", "none")
# In another order as text, and with gaps: the ordered distance goes by rank.
VISITS = (0, 2, 7, 10)
DOMAINS = (CITIES, AGES, DISEASES, VISITS)
NAMES = ("city", "age", "disease", "visits")

Record = tuple[str, str, str, int]


def random_table(draw: random.Random) -> str:
    """Return a table of few combinations, of one class, or of many classes of one record."""
    cities, ages = draw.choice([(1, 1), (2, 1), (2, 2), (3, 3)])
    while True:
        letters = [
            f"{draw.randrange(cities)}{draw.randrange(ages)}{draw.choice('0011123')}"
            f"{draw.choice('0001223')}"
            for _ in range(draw.choice([2, 3, 5, 9, 14, 25]))
        ]
        if all(len({record[position] for record in letters}) > 1 for position in (2, 3)):
            return " ".join(letters)


def records(table: str) -> list[Record]:
    """Return the records of a table."""
    return [
        (CITIES[int(a)], AGES[int(b)], DISEASES[int(c)], VISITS[int(d)])
        for a, b, c, d in table.split()
    ]
