"""The risk of every subset of the quasi-identifiers, of which large ones are estimated."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

NAMES = ("birth_date", "zip", "gender")
COUNTED_WHOLE = 60
# A model of the stranger's project, whose table of 400 customers is not large otherwise.
MODEL = f"""{{{{ dbt_anonymize._quasi_identifier_risk(
    ref('customers_frequencies'), {list(NAMES)}, {COUNTED_WHOLE}
) }}}}
"""
TUPLES = f"select {', '.join(NAMES)}, sum(records) from customers_frequencies group by all"
_FACTORS = (1540483477, 1103515245, 2135587861)


def expected_risk(tuples: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows of the model: classes that a hash of their codes draws stand for all."""
    values = [sorted({row[at] for row in tuples} - {None}) for at in range(len(NAMES))]
    codes = [{value: code for code, value in enumerate(v, 1)} | {None: 0} for v in values]
    records = sum(int(row[-1]) for row in tuples)
    found = []
    for size in range(1, len(NAMES) + 1):
        for subset in itertools.combinations(range(len(NAMES)), size):
            possible = math.prod(len(values[at]) + 1 for at in subset)
            one_in = 1 if possible <= COUNTED_WHOLE else -(-len(tuples) // COUNTED_WHOLE)
            classes: Counter[tuple[int, ...]] = Counter()
            for row in tuples:
                classes[tuple(codes[at][row[at]] for at in subset)] += int(row[-1])
            drawn = [n for key, n in classes.items() if _hash(key, subset) % one_in == 0]
            name = ", ".join(NAMES[at] for at in subset)
            pairs = sum(n * (n - 1) for n in drawn) * one_in
            distinction = len(drawn) * one_in / records
            uniqueness = drawn.count(1) * one_in / records
            separation = 1 - pairs / (records * (records - 1))
            found.append((name, size, distinction, separation, uniqueness, one_in))
    return found


def _hash(key: Sequence[int], subset: Sequence[int]) -> int:
    return sum(code * _FACTORS[at] for code, at in zip(key, subset, strict=True)) % 2147483647
