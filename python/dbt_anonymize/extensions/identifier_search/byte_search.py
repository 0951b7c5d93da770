"""Search bytes for millions of texts at once: which of them occur, alone or inside a longer run.

At every offset eight bytes are read as one number and looked up in a table of what eight bytes of
the searched texts may be (a filter that is wrong rarely and misses never); what passes is looked up
exactly, and then the whole text is compared. All of it is array arithmetic, in pieces of a fixed
size: the memory depends on the texts that are searched for, not on the file.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Bytes of a file that are looked at together.
CHUNK = 1 << 22
_KEY = 8
# 2^64 divided by the golden ratio: a product with it spreads neighbouring numbers.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Table entries per pattern, so that less than a tenth of other bytes pass; at most 128 MB.
_SPARSE_BITS = 4
_MOST_BITS = 27
# Pairs of place and pattern that are compared together.
_PAIRS = 1 << 20
_FOLD = bytes(range(65)) + bytes(range(97, 123)) + bytes(range(91, 256))


class Run(IntEnum):
    """Characters of which a run must not continue a pattern on either side."""

    NONE = 0
    WORD = 1
    DIGITS = 2


class Occurs(IntEnum):
    """Kind of an occurrence of a pattern; the larger says more."""

    NOWHERE = 0
    INSIDE = 1
    ALONE = 2


_CONTINUES = np.array(
    [
        [False] * 256,
        [chr(byte).isalnum() or byte == ord("_") or byte >= 128 for byte in range(256)],
        [byte in b"0123456789" for byte in range(256)],
    ]
)


class BytePatterns:
    """Texts to search for, as bytes (at least one each); the case of ASCII letters is ignored.

    A pattern occurs alone where neither side continues a run of the characters in ``runs``; by
    default every occurrence is alone.

    Examples
    --------
    >>> patterns = BytePatterns([b"Moreau", b"Ada"], [Run.NONE, Run.WORD])
    >>> patterns.occur_in([b"adamant, MOREAUS"]).tolist()
    [2, 1]
    >>> patterns.occur_in([b"seen Ada"]).tolist()
    [0, 2]
    """

    def __init__(self, patterns: Sequence[bytes], runs: Sequence[int] | None = None) -> None:
        if not all(patterns):
            raise ValueError("a pattern must have at least one byte; got one without any")
        self._lengths = np.fromiter(map(len, patterns), dtype=np.int64, count=len(patterns))
        self._begins = np.cumsum(self._lengths) - self._lengths
        # Room for reading eight bytes from the last byte on.
        self._text = _folded(b"".join(patterns) + bytes(_KEY))
        self._runs = np.zeros(len(patterns), np.int8) if runs is None else np.array(runs, np.int8)
        widths = np.minimum(self._lengths, _KEY)
        self._groups = [
            _Group.of(self._text, self._begins, self._lengths, np.flatnonzero(widths == width))
            for width in np.unique(widths)
        ]
        # What shows whether a pattern is alone: its neighbours, and the byte behind them.
        self._overlap = 3 * int(self._lengths.max(initial=0)) + 2

    def __len__(self) -> int:
        return len(self._lengths)

    def occur_in(self, texts: Iterable[bytes]) -> Array:
        """Return how each pattern occurs in texts, an array of `Occurs`; none spans two of them."""
        occurrences = np.zeros(len(self), dtype=np.int8)
        for text in texts:
            self._read(io.BytesIO(text), occurrences)
        return occurrences

    def occur_in_file(self, path: Path) -> Array:
        """Return how each pattern occurs in the bytes of a file, of any size.

        A database stores the values of a column without separators, so here a pattern is also alone
        where other patterns continue the run. A file that cannot be read is an `OSError`.
        """
        occurrences = np.zeros(len(self), dtype=np.int8)
        with path.open("rb") as file:
            self._read(file, occurrences, is_packed=True)
        return occurrences

    def _read(self, file: BinaryIO, found: Array, *, is_packed: bool = False) -> None:
        """Search a file in pieces of which each begins with the last bytes of the one before."""
        tail, block, position = b"", file.read(CHUNK) if len(self) else b"", 0
        while block:
            following = file.read(CHUNK)
            piece, position = tail + block, position + len(block)
            ends = len(piece) == position, not following
            self._mark(piece, found, ends, is_packed=is_packed)
            tail, block = piece[-self._overlap :], following

    def _mark(
        self, piece: bytes, found: Array, ends: tuple[bool, bool], *, is_packed: bool
    ) -> None:
        """Mark the patterns that occur in a piece; ``ends``: which of its ends end a run."""
        size = len(piece)
        data = _folded(piece + bytes(2 * _KEY))
        hits = []
        for group in self._groups:
            for places, members in group.candidates(data):
                starts = places - group.shifts[members]
                which = group.patterns[members]
                # One that was found alone may still be the neighbour of another.
                is_open = (found[which] < Occurs.ALONE) | is_packed
                inside = (starts >= 0) & (starts + self._lengths[which] <= size) & is_open
                starts, which = self._equal(data, starts[inside], which[inside])
                if len(which):
                    hits.append((starts, which))
        if not hits:
            return
        starts, which = map(np.concatenate, zip(*hits, strict=True))
        stops, runs = starts + self._lengths[which], self._runs[which]
        before = ~_CONTINUES[runs, data[np.maximum(starts - 1, 0)]]
        before = np.where(starts == 0, ends[0], before)
        after = ~_CONTINUES[runs, data[np.minimum(stops, size - 1)]]
        after = np.where(stops == size, ends[1], after)
        if is_packed:
            before |= np.isin(starts, stops)
            after |= np.isin(stops, starts)
        is_alone = (before & after) | (runs == Run.NONE)
        found[which] = np.maximum(found[which], Occurs.INSIDE)
        found[which[is_alone]] = Occurs.ALONE

    def _equal(self, data: Array, starts: Array, which: Array) -> tuple[Array, Array]:
        """Keep the pairs of place and pattern that are equal in every byte."""
        offset = 0
        while len(which) and offset < self._lengths[which].max():
            # The last eight bytes of a pattern overlap with those before; a short one is padded.
            within = np.minimum(offset, np.maximum(self._lengths[which] - _KEY, 0))
            ours = _words_at(self._text, self._begins[which] + within)
            theirs = _words_at(data, starts + within)
            unused = np.maximum(_KEY - self._lengths[which], 0).astype(np.uint64)
            mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (unused * np.uint64(8))
            same = (ours ^ theirs) & mask == 0
            starts, which = starts[same], which[same]
            offset += _KEY
        return starts, which


class _Group:
    """Patterns of the same width: at least eight bytes, or exactly one to seven."""

    def __init__(self, width: int, patterns: Array, shifts: Array, keys: Array) -> None:
        order = np.argsort(keys, kind="stable")
        self.patterns, self.shifts = patterns[order], shifts[order]
        self._keys, self._firsts, self._counts = np.unique(
            keys[order], return_index=True, return_counts=True
        )
        self._mask = np.uint64(0xFFFFFFFFFFFFFFFF >> (8 * (_KEY - width)))
        bits = min(_MOST_BITS, max(8, len(self._keys).bit_length() + _SPARSE_BITS))
        self._drop = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, dtype=bool)
        self._table[(self._keys * _SPREAD) >> self._drop] = True

    @classmethod
    def of(cls, text: Array, begins: Array, lengths: Array, patterns: Array) -> _Group:
        """Choose for each pattern the eight of its bytes that the fewest other patterns share.

        The first, middle or last: telephone numbers begin alike, and mail addresses end alike.
        """
        width = int(min(lengths[patterns[0]], _KEY))
        spare = lengths[patterns] - width
        choices = np.stack([np.zeros_like(spare), spare // 2, spare])
        mask = np.uint64(0xFFFFFFFFFFFFFFFF >> (8 * (_KEY - width)))
        keys = _words_at(text, (begins[patterns] + choices).ravel()) & mask
        _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[group].reshape(choices.shape)
        best = shared.argmin(axis=0), np.arange(len(patterns))
        return cls(width, patterns, choices[best], keys.reshape(choices.shape)[best])

    def candidates(self, data: Array) -> Iterator[tuple[Array, Array]]:
        """Yield places whose bytes may belong to a pattern, and the number of the member."""
        for phase in range(_KEY):
            # Every eighth offset, without a copy.
            count = (len(data) - phase) // _KEY
            keys = np.frombuffer(data, dtype="<u8", offset=phase, count=count) & self._mask
            passed = np.flatnonzero(self._table[(keys * _SPREAD) >> self._drop])
            number = np.minimum(np.searchsorted(self._keys, keys[passed]), len(self._keys) - 1)
            exact = self._keys[number] == keys[passed]
            places, number = passed[exact] * _KEY + phase, number[exact]
            yield from self._expanded(places, number)

    def _expanded(self, places: Array, number: Array) -> Iterator[tuple[Array, Array]]:
        """Pair each place with every pattern that has its key."""
        ends = np.cumsum(self._counts[number])
        start = 0
        while start < len(places):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _PAIRS, side="right")))
            counts = self._counts[number[start:stop]]
            steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            members = np.repeat(self._firsts[number[start:stop]], counts) + steps
            yield np.repeat(places[start:stop], counts), members
            start = stop


def _folded(data: bytes) -> Array:
    """Return bytes as an array, ASCII letters in lower case."""
    return np.frombuffer(data.translate(_FOLD), dtype=np.uint8)


def _words_at(data: Array, places: Array) -> Array:
    """Read eight bytes at each place as one number; the array must go on that far."""
    read: Array = data[places[:, None] + np.arange(_KEY)]
    return np.ascontiguousarray(read).view("<u8")[:, 0]
