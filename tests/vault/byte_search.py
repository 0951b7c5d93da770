"""Search the bytes of a file for texts, also in pages that its database has given up."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

SHORTEST = 6


def found(file: Path, texts: Collection[str]) -> set[str]:
    """Return the texts of at least six bytes that a file holds as they are."""
    wanted: dict[int, list[bytes]] = {}
    for encoded in {text.encode() for text in texts}:
        if len(encoded) >= SHORTEST:
            wanted.setdefault(int.from_bytes(encoded[:SHORTEST], "little"), []).append(encoded)
    content = file.read_bytes()
    single = np.frombuffer(content, dtype=np.uint8).astype(np.uint64)
    windows = np.zeros(max(len(single) - SHORTEST + 1, 0), dtype=np.uint64)
    for place in range(SHORTEST):
        windows |= single[place : place + len(windows)] << np.uint64(8 * place)
    # Two bytes alone leave few places, of which the rest is looked up.
    sought = np.array(list(wanted), dtype=np.uint64)
    begins = np.zeros(1 << 16, dtype=np.bool_)
    begins[sought & np.uint64(0xFFFF)] = True
    places = np.flatnonzero(begins[windows & np.uint64(0xFFFF)])
    hits = places[np.isin(windows[places], sought)]
    return {
        text.decode()
        for start in hits.tolist()
        for text in wanted[int(windows[start])]
        if content.startswith(text, start)
    }
