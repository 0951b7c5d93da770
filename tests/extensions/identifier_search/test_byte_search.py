"""The multi-pattern search against one that nobody can get wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.extensions.identifier_search import byte_search
from dbt_anonymize.extensions.identifier_search.byte_search import BytePatterns, Occurs, Run

# Few letters, so that patterns overlap, repeat and nearly match.
LETTERS = st.sampled_from([b"a", b"B", b"1", b" ", b"\x00", b"\xc3", b"_"])
TEXTS = st.lists(LETTERS, max_size=200).map(b"".join)
PATTERNS = st.lists(
    st.lists(LETTERS, min_size=1, max_size=30).map(b"".join), min_size=1, max_size=30
)
RUN = {Run.NONE: rb"[^\x00-\xff]", Run.WORD: rb"[A-Za-z0-9_\x80-\xff]", Run.DIGITS: rb"[0-9]"}


def naive(patterns: list[bytes], runs: list[Run], data: bytes, *, is_packed: bool) -> list[int]:
    """Say how each occurs, from all places where any of them begins and ends."""
    data = data.lower()
    places = [
        [match.start() for match in re.finditer(rb"(?=%b)" % re.escape(pattern.lower()), data)]
        for pattern in patterns
    ]
    starts = {start for found in places for start in found}
    stops = {p + len(x) for x, found in zip(patterns, places, strict=True) for p in found}

    def is_alone(start: int, stop: int, run: Run) -> bool:
        before = not re.match(RUN[run], data[max(start - 1, 0) : start])
        after = not re.match(RUN[run], data[stop : stop + 1])
        return (before or (is_packed and start in stops)) and (
            after or (is_packed and stop in starts)
        )

    return [
        max((1 + is_alone(p, p + len(x), run) for p in found), default=0)
        for x, run, found in zip(patterns, runs, places, strict=True)
    ]


@settings(max_examples=100, deadline=None)
@given(patterns=PATTERNS, data=TEXTS, seed=st.integers(0, 2**30), chunk=st.integers(1, 40))
def test_the_search_finds_what_a_naive_search_finds(
    tmp_path_factory: pytest.TempPathFactory,
    patterns: list[bytes],
    data: bytes,
    seed: int,
    chunk: int,
) -> None:
    """Also what spans two of the pieces in which a file is read."""
    path = tmp_path_factory.getbasetemp() / "pieces"
    path.write_bytes(data)
    # Parts of the data, too: random patterns hardly ever occur.
    patterns = patterns + [data[at : at + 12] for at in range(0, len(data), 17)]
    runs = [Run((seed >> (number % 30)) % 3) for number in range(len(patterns))]
    search = BytePatterns(patterns, runs)
    expected = naive(patterns, runs, data, is_packed=False)
    packed = naive(patterns, runs, data, is_packed=True)
    with pytest.MonkeyPatch.context() as patch:
        assert search.occur_in([data]).tolist() == expected
        assert search.occur_in_file(path).tolist() == packed
        patch.setattr(byte_search, "CHUNK", chunk)
        assert search.occur_in([data]).tolist() == expected
        assert search.occur_in_file(path).tolist() == packed


def test_patterns_that_share_their_beginning_or_end_are_told_apart() -> None:
    """Many patterns with the same eight bytes everywhere are compared in parts, all of them."""
    patterns = [b"00000000%04d00000000" % number for number in range(2000)]
    data = b"x".join(patterns[::2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_search, "_PAIRS", 1000)
        found = BytePatterns(patterns).occur_in([data])
    assert found.tolist() == [Occurs.ALONE, Occurs.NOWHERE] * 1000


def test_a_file_without_bytes_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert BytePatterns([b"anybody"]).occur_in_file(tmp_path / "empty").tolist() == [0]
    assert BytePatterns([]).occur_in_file(tmp_path / "empty").tolist() == []
    assert BytePatterns([]).occur_in([b"anybody"]).tolist() == []


def test_a_pattern_without_bytes_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        BytePatterns([b"x", b""])
