"""Rows of an evaluation."""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """One row; NULL in columns that do not apply."""

    effort: int
    kind: str
    name: str
    value: float | None = None
    other: str | None = None
    bin: int | None = None
    target: str | None = None
    model: str | None = None
    fit: str | None = None
    test_on: str | None = None
    repetition: int | None = None
    fold: int | None = None


class Detail(NamedTuple):
    """A row about one model of one split; NaN for undefined."""

    test_on: str
    kind: str
    name: str
    other: str | None
    bin: int | None
    value: float
