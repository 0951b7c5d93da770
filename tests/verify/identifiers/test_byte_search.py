"""The multi-pattern search against one that nobody can get wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.verify.identifiers import byte_search
from dbt_anonymize.verify.identifiers.byte_search import BytePatterns

# Few letters, so that patterns overlap, repeat and nearly match.
LETTERS = st.sampled_from([b"a", b"B", b"1", b" ", b"\x00", b"\xc3", b"_"])
TEXTS = st.lists(LETTERS, max_size=200).map(b"".join)
PATTERNS = st.lists(
    st.lists(LETTERS, min_size=1, max_size=30).map(b"".join), min_size=1, max_size=30
)
WORD = rb"[A-Za-z0-9_\x80-\xff]"


def naive(pattern: bytes, data: bytes, *, whole_word: bool) -> bool:
    found = re.escape(pattern.lower())
    if whole_word:
        found = rb"(?<!%b)%b(?!%b)" % (WORD, found, WORD)
    return re.search(found, data.lower()) is not None


@settings(max_examples=100, deadline=None)
@given(patterns=PATTERNS, data=TEXTS, seed=st.integers(0, 2**30))
def test_the_search_finds_what_a_naive_search_finds(
    patterns: list[bytes], data: bytes, seed: int
) -> None:
    # Parts of the data, too: random patterns hardly ever occur.
    patterns = patterns + [data[at : at + 12] for at in range(0, len(data), 17)]
    words = [bool(seed >> (number % 30) & 1) for number in range(len(patterns))]
    found = BytePatterns(patterns, words).occur_in(data)
    expected = [naive(p, data, whole_word=w) for p, w in zip(patterns, words, strict=True)]
    assert found.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(patterns=PATTERNS, data=TEXTS, chunk=st.integers(1, 40))
def test_what_spans_two_pieces_is_found(
    tmp_path_factory: pytest.TempPathFactory, patterns: list[bytes], data: bytes, chunk: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces"
    path.write_bytes(data)
    patterns = patterns + [data[at : at + 20] for at in range(0, len(data), 11)]
    expected = [naive(pattern, data, whole_word=False) for pattern in patterns]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_search, "CHUNK", chunk)
        assert BytePatterns(patterns).occur_in_file(path).tolist() == expected
        words = BytePatterns(patterns, [True] * len(patterns))
        assert words.occur_in(data).tolist() == [
            naive(pattern, data, whole_word=True) for pattern in patterns
        ]


def test_patterns_that_share_their_beginning_or_end_are_told_apart() -> None:
    """Many patterns with the same eight bytes everywhere are compared in parts, all of them."""
    patterns = [b"00000000%04d00000000" % number for number in range(2000)]
    data = b"x".join(patterns[::2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(byte_search, "_PAIRS", 1000)
        found = BytePatterns(patterns).occur_in(data)
    assert found.tolist() == [True, False] * 1000


def test_a_file_without_bytes_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert BytePatterns([b"anybody"]).occur_in_file(tmp_path / "empty").tolist() == [False]
    assert BytePatterns([]).occur_in_file(tmp_path / "empty").tolist() == []
    assert BytePatterns([]).occur_in(b"anybody").tolist() == []


def test_a_pattern_without_bytes_and_a_word_in_a_file_are_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        BytePatterns([b"x", b""])
    with pytest.raises(ValueError, match="whole words"):
        BytePatterns([b"x"], [True]).occur_in_file(tmp_path)
