"""Search bytes for millions of texts at once: those that occur, alone or inside a longer run.

At every offset eight bytes are read as one number. A filter without false negatives drops most of
them, an exact lookup the others, and then the whole text is compared. All of it is array arithmetic
on pieces of a fixed size: the memory depends on the searched texts, not on the file.
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

# Bytes of a file per piece.
CHUNK = 1 << 22
_KEY = 8
# 2^64 divided by the golden ratio: a product with it spreads neighbouring numbers.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Table entries per pattern, so that less than a tenth of other bytes pass; at most 128 MB.
_SPARSE_BITS = 4
_MOST_BITS = 27
# Pairs of place and pattern per comparison.
_PAIRS = 1 << 20
_FOLD = bytes(range(65)) + bytes(range(97, 123)) + bytes(range(91, 256))


class Run(IntEnum):
    """Kind of characters that must not continue a pattern on either side."""

    NONE = 0
    WORD = 1
    DIGITS = 2


class Occurs(IntEnum):
    """Kind of an occurrence of a pattern, from weak to strong."""

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
        self._text = _lower(b"".join(patterns) + bytes(_KEY))
        self._runs = np.zeros(len(patterns), np.int8) if runs is None else np.array(runs, np.int8)
        widths = np.minimum(self._lengths, _KEY)
        self._groups = [
            _Group.of(self._text, self._begins, self._lengths, np.flatnonzero(widths == width))
            for width in np.unique(widths)
        ]
        # Context that decides if a pattern is alone: its neighbours, and the byte behind them.
        self._overlap = 3 * int(self._lengths.max(initial=0)) + 2

    def __len__(self) -> int:
        return len(self._lengths)

    def occur_in(self, texts: Iterable[bytes]) -> Array:
        """Return the `Occurs` of each pattern in texts; no occurrence spans two of them."""
        occurrences = np.zeros(len(self), dtype=np.int8)
        for text in texts:
            self._read(io.BytesIO(text), occurrences)
        return occurrences

    def occur_in_file(self, path: Path) -> Array:
        """Return the `Occurs` of each pattern in the bytes of a file, of any size.

        A database stores the values of a column without separators, so here a pattern is also alone
        where other patterns continue the run. A file that cannot be read is an `OSError`.
        """
        occurrences = np.zeros(len(self), dtype=np.int8)
        with path.open("rb") as file:
            self._read(file, occurrences, is_packed=True)
        return occurrences

    def _read(self, file: BinaryIO, occurrences: Array, *, is_packed: bool = False) -> None:
        """Search a file in overlapping pieces."""
        tail, block, position = b"", file.read(CHUNK) if len(self) else b"", 0
        while block:
            following = file.read(CHUNK)
            piece, position = tail + block, position + len(block)
            ends = len(piece) == position, not following
            self._mark(piece, occurrences, ends, is_packed=is_packed)
            tail, block = piece[-self._overlap :], following

    def _mark(
        self, piece: bytes, occurrences: Array, ends: tuple[bool, bool], *, is_packed: bool
    ) -> None:
        """Mark the patterns that occur in a piece; ``ends``: which of its ends end a run."""
        size = len(piece)
        data = _lower(piece + bytes(2 * _KEY))
        hits = []
        for group in self._groups:
            for places, members in group.candidates(data):
                starts = places - group.shifts[members]
                indices = group.patterns[members]
                # A pattern already known to be alone can still be the neighbour of another.
                is_open = (occurrences[indices] < Occurs.ALONE) | is_packed
                inside = (starts >= 0) & (starts + self._lengths[indices] <= size) & is_open
                starts, indices = self._equal(data, starts[inside], indices[inside])
                if len(indices):
                    hits.append((starts, indices))
        if not hits:
            return
        starts, indices = map(np.concatenate, zip(*hits, strict=True))
        stops, runs = starts + self._lengths[indices], self._runs[indices]
        before = ~_CONTINUES[runs, data[np.maximum(starts - 1, 0)]]
        before = np.where(starts == 0, ends[0], before)
        after = ~_CONTINUES[runs, data[np.minimum(stops, size - 1)]]
        after = np.where(stops == size, ends[1], after)
        if is_packed:
            before |= np.isin(starts, stops)
            after |= np.isin(stops, starts)
        is_alone = (before & after) | (runs == Run.NONE)
        occurrences[indices] = np.maximum(occurrences[indices], Occurs.INSIDE)
        occurrences[indices[is_alone]] = Occurs.ALONE

    def _equal(self, data: Array, starts: Array, indices: Array) -> tuple[Array, Array]:
        """Keep the pairs of place and pattern that are equal in every byte."""
        offset = 0
        while len(indices) and offset < self._lengths[indices].max():
            # The last eight bytes of a pattern overlap with those before; a short one is padded.
            within = np.minimum(offset, np.maximum(self._lengths[indices] - _KEY, 0))
            ours = _words_at(self._text, self._begins[indices] + within)
            theirs = _words_at(data, starts + within)
            unused = np.maximum(_KEY - self._lengths[indices], 0).astype(np.uint64)
            mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (unused * np.uint64(8))
            same = (ours ^ theirs) & mask == 0
            starts, indices = starts[same], indices[same]
            offset += _KEY
        return starts, indices


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
        """Choose for each pattern the first, middle or last eight bytes, whichever are rarest.

        Telephone numbers begin alike, and mail addresses end alike.
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
            yield from self._expand(places, number)

    def _expand(self, places: Array, number: Array) -> Iterator[tuple[Array, Array]]:
        """Pair each place with every pattern that has its key."""
        ends = np.cumsum(self._counts[number])
        start = 0
        while start < len(places):
            pairs_before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, pairs_before + _PAIRS, side="right")))
            counts = self._counts[number[start:stop]]
            steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            members = np.repeat(self._firsts[number[start:stop]], counts) + steps
            yield np.repeat(places[start:stop], counts), members
            start = stop


def _lower(data: bytes) -> Array:
    """Return bytes as an array, ASCII letters in lower case."""
    return np.frombuffer(data.translate(_FOLD), dtype=np.uint8)


def _words_at(data: Array, places: Array) -> Array:
    """Read eight bytes at each place as one number; the array must reach that far."""
    words: Array = data[places[:, None] + np.arange(_KEY)]
    return np.ascontiguousarray(words).view("<u8")[:, 0]
