"""Ranges of alpha against the definition: in each range the named effort has the largest Q."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import PROPERTY

RESULTS = {
    "effort": "int",
    "qf_mean": "double",
    "qnf": "double",
    "qualifies": "boolean",
    "beats_zero_rule": "boolean",
    "repetitions": "int",
}


@dataclass(frozen=True)
class Line:
    """Q of one effort as a function of alpha."""

    qf: float | None
    qnf: float | None
    qualifies: bool = True

    def q(self, alpha: Fraction) -> Fraction:
        """Return Q without rounding."""
        assert self.qf is not None
        assert self.qnf is not None
        return Fraction(self.qf) + alpha * Fraction(self.qnf)


def _lines(
    qf: st.SearchStrategy[float], qnf: st.SearchStrategy[float]
) -> st.SearchStrategy[list[Line]]:
    line = st.builds(
        Line, st.none() | qf, st.none() | qnf, st.sampled_from([True, True, True, False])
    )
    return st.lists(line, max_size=8)


# Sums and products of these are exact in binary, and many lines meet in one point.
EXACT_LINES = _lines(st.integers(0, 16).map(lambda n: n / 16), st.integers(1, 9).map(float))
# Accuracies and 1 - 1/k as they come out of a build.
REAL_LINES = _lines(
    st.integers(0, 100).map(lambda n: n / 100) | st.floats(0, 1, allow_subnormal=False),
    st.integers(1, 9).map(float) | st.integers(1, 9).map(lambda k: 1 - 1 / k),
)


def ranges(warehouse: Warehouse, lines: list[Line]) -> list[Row]:
    rows = [
        (n, line.qf, line.qnf, n > 0 and is_complete(line), is_complete(line) or None, 20)
        for n, line in enumerate(lines)
    ]
    warehouse.load("results", RESULTS, rows[::-1])
    return warehouse.rows("alpha_ranges")


def is_complete(line: Line) -> bool:
    return line.qualifies and line.qf is not None and line.qnf is not None


def usable(lines: list[Line]) -> dict[int, Line]:
    """Return the lines that take part, by effort: effort 0 too, though it never qualifies."""
    return {n: line for n, line in enumerate(lines) if is_complete(line)}


def best(lines: dict[int, Line], alpha: Fraction) -> int:
    """Return the effort with the largest Q; ties go to the larger qnf, then the smaller effort."""
    return max(lines, key=lambda n: (lines[n].q(alpha), Fraction(lines[n].qnf or 0), -n))


def envelope(lines: dict[int, Line]) -> list[tuple[Fraction, int]]:
    """Return where each best effort begins: the winner at 0 and at every crossing, in order."""
    crossings = {Fraction(0)}
    for one in lines.values():
        for other in lines.values():
            if one.qnf is not None and other.qnf is not None and one.qnf < other.qnf:
                rise = Fraction(other.qnf) - Fraction(one.qnf)
                crossings.add(
                    max(Fraction(0), (Fraction(one.qf or 0) - Fraction(other.qf or 0)) / rise)
                )
    begins: list[tuple[Fraction, int]] = []
    for crossing in sorted(crossings) if lines else []:
        winner = best(lines, crossing)
        if not begins or begins[-1][1] != winner:
            begins.append((crossing, winner))
    return begins


@PROPERTY
@given(lines=EXACT_LINES)
@example(lines=[Line(0.75, 1.0), Line(0.5, 4.0), Line(0.25, 7.0)])
@example(lines=[Line(0.5, 3.0), Line(0.5, 3.0)])
@example(lines=[Line(0.5, 3.0), Line(0.5, 4.0)])
def test_ranges_are_the_upper_envelope_with_exact_break_points(
    warehouse: Warehouse, lines: list[Line]
) -> None:
    found = ranges(warehouse, lines)
    expected = envelope(usable(lines))
    assert [(row["alpha_from"], row["effort"]) for row in found] == [
        (float(begin), effort) for begin, effort in expected
    ]
    assert [row["alpha_to"] for row in found] == [
        *(float(begin) for begin, _ in expected[1:]),
        *([None] if expected else []),
    ]


@PROPERTY
@given(lines=EXACT_LINES, alpha=st.fractions(0, 3, max_denominator=50) | st.integers(0, 1000))
def test_the_range_that_holds_alpha_names_the_effort_with_the_largest_q(
    warehouse: Warehouse, lines: list[Line], alpha: Fraction
) -> None:
    found = ranges(warehouse, lines)
    holding = [
        row["effort"]
        for row in found
        if row["alpha_from"] <= alpha and (row["alpha_to"] is None or alpha < row["alpha_to"])
    ]
    # A rounded break point may stand on the wrong side of an alpha that is not rounded.
    breaks = {begin for begin, _ in envelope(usable(lines))}
    if any(
        float(begin) == float(alpha) and begin.denominator & (begin.denominator - 1)
        for begin in breaks
    ):
        return
    assert holding == ([best(usable(lines), Fraction(alpha))] if usable(lines) else [])


@PROPERTY
@given(lines=REAL_LINES)
@example(lines=[Line(0.3, 1.0), Line(0.2, 2.0), Line(0.1, 3.0)])
def test_ranges_cover_every_alpha_exactly_once(warehouse: Warehouse, lines: list[Line]) -> None:
    found = ranges(warehouse, lines)
    if not usable(lines):
        assert found == []
        return
    assert found[0]["alpha_from"] == 0
    assert found[-1]["alpha_to"] is None
    assert [row["alpha_to"] for row in found[:-1]] == [row["alpha_from"] for row in found[1:]]
    assert all(row["alpha_from"] < row["alpha_to"] for row in found[:-1])


@PROPERTY
@given(lines=REAL_LINES, share=st.floats(0.01, 0.99))
def test_no_effort_is_better_inside_a_range(
    warehouse: Warehouse, lines: list[Line], share: float
) -> None:
    for row in ranges(warehouse, lines):
        until = row["alpha_from"] + 10 if row["alpha_to"] is None else row["alpha_to"]
        alpha = Fraction(row["alpha_from"] + share * (until - row["alpha_from"]))
        largest = max(line.q(alpha) for line in usable(lines).values())
        assert float(lines[row["effort"]].q(alpha)) == pytest.approx(float(largest), abs=1e-12)


@PROPERTY
@given(lines=EXACT_LINES)
def test_a_range_is_usable_unless_quality_alone_or_privacy_alone_decides(
    warehouse: Warehouse, lines: list[Line]
) -> None:
    found = ranges(warehouse, lines)
    assert [row["is_releasable"] for row in found] == [row["effort"] > 0 for row in found]
    expected = [
        row["effort"] > 0 and (0 < i < len(found) - 1 or len(found) == 1)
        for i, row in enumerate(found)
    ]
    assert [row["is_usable"] for row in found] == expected


@pytest.mark.parametrize(
    ("beats", "repetitions"), [(True, 20), (False, 20), (None, 20), (None, None)]
)
def test_the_ranges_tell_where_no_effort_is_worth_it(
    warehouse: Warehouse, beats: bool | None, repetitions: int | None
) -> None:
    """Also where effort 0 learns nothing or no model scores, but not where it lacks a score."""
    rows = [
        (0, 0.9, 1.0, False, beats, repetitions),
        (1, 0.8, 3.0, True, True, repetitions),
        (2, 0.1, 9.0, False, False, repetitions),
    ]
    warehouse.load("results", RESULTS, rows)
    found = warehouse.rows("alpha_ranges")
    if beats is None and repetitions is not None:
        assert [(row["effort"], row["alpha_from"]) for row in found] == [(1, 0.0)]
        return
    assert [(row["effort"], row["is_releasable"]) for row in found] == [(0, False), (1, True)]
    assert found[0]["alpha_to"] == found[1]["alpha_from"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    "lines",
    [
        [Line(0.3, 1.0), Line(0.2, 2.0), Line(0.1, 3.0)],
        [Line(0.95, 2.0), Line(0.94, 4.0), Line(0.93, 6.0), Line(0.92, 8.0)],
    ],
)
def test_lines_through_one_point_leave_no_range_between_the_first_and_the_last(
    warehouse: Warehouse, lines: list[Line]
) -> None:
    """In decimals they meet in one point; rounding must not make a usable range of width 1e-17."""
    found = ranges(warehouse, lines)
    assert [row["effort"] for row in found] == [0, len(lines) - 1]
    assert found[0]["alpha_to"] == found[1]["alpha_from"]
    assert not any(row["is_usable"] for row in found)
