"""Find equal rows by hashing, several times faster than by sorting.

Row positions are written into a hash table from the last to the first, so that each slot keeps the
smallest; rows whose key differs from that of their slot collided and go through another round.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Bools, Ints

Words = tuple[Ints, ...]
# Few rows get many slots, so that hardly any go through another round.
FEWEST_BITS = 11
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F)


def distinct(words: Words, slot: Ints | None = None) -> tuple[Ints, Ints]:
    """Find the distinct rows of columns; ``slot`` is that of each row in turn 0, if known.

    Return the smallest row of each group, ascending, and for each row the smallest row of its
    group.

    Examples
    --------
    >>> leaders, leader = distinct((np.array([7, 5, 7, 5]),))
    >>> leaders.tolist(), leader.tolist()
    ([0, 1], [0, 1, 0, 1])
    """
    leader = _slot_leaders(slots(words, 0)[0] if slot is None else slot)
    collided = np.flatnonzero(~_equal(words, leader))
    turn = 1
    while len(collided):
        keys = tuple(word[collided] for word in words)
        representative = _slot_leaders(slots(keys, turn)[0])
        leader[collided] = collided[representative]
        collided = collided[~_equal(keys, representative)]
        turn += 1
    return np.flatnonzero(leader == np.arange(len(leader))), leader


def slots(keys: Words, turn: int) -> tuple[Ints, int]:
    """Return the hash table slot of each row, and the bits of the number of slots."""
    bits = _bits(len(keys[0]))
    # An odd multiplier, different in each turn, spreads packed labels well over the upper bits.
    multiplier = MULTIPLIERS[turn % len(MULTIPLIERS)] + 2 * (turn // len(MULTIPLIERS))
    hashed = keys[0].view(np.uint64) * np.uint64(multiplier)
    for word in keys[1:]:
        hashed ^= hashed >> np.uint64(32)
        hashed += word.view(np.uint64)
        hashed *= np.uint64(multiplier)
    hashed >>= np.uint64(64 - bits)
    return hashed.view(np.int64), bits


def _bits(rows: int) -> int:
    return max(FEWEST_BITS, rows.bit_length())


def _slot_leaders(slot: Ints) -> Ints:
    """Return for each row the smallest row in its slot."""
    count = len(slot)
    first = np.empty(1 << _bits(count), dtype=np.int32)
    # From the last row to the first, so that the first one stays.
    first[np.ascontiguousarray(slot[::-1])] = np.arange(count - 1, -1, -1, dtype=np.int32)
    # Slots are in range: lookups without bounds checks take half the time.
    return first.take(slot, mode="wrap").astype(np.int64)


def _equal(keys: Words, representative: Ints) -> Bools:
    same: Bools = keys[0].take(representative, mode="wrap") == keys[0]
    for word in keys[1:]:
        same &= word.take(representative, mode="wrap") == word
    return same
