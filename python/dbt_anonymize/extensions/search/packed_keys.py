"""Codes of several columns, packed by the warehouse into few whole numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Ints

# A key is a bigint; one bit is left so that no sum of codes comes near its end.
LARGEST_KEY = 2**62


def packed_keys(parts: Iterator[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Distribute parts to keys that fit into a bigint, and give each part its stride."""
    keys: list[list[dict[str, Any]]] = []
    stride = LARGEST_KEY
    for part in parts:
        size = part["size"] + 1
        if stride * size > LARGEST_KEY:
            keys.append([])
            stride = 1
        keys[-1].append({**part, "stride": stride})
        stride *= size
    return keys


def unpack_keys(keys: Sequence[Ints], packed: list[list[dict[str, Any]]]) -> Iterator[Ints]:
    """Unpack keys into the codes of their parts."""
    for key, parts in zip(keys, packed, strict=True):
        yield from np.unravel_index(key, [part["size"] + 1 for part in parts], order="F")
