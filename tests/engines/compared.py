"""Relations of two engines, row by row: whole numbers and labels exact, floats to 1e-9."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Sequence
from typing import Any

TOLERANCE = 1e-9
# Every relation of the stranger's project but the history, which is of more runs.
RELATIONS = (
    *("microdata", "frequencies", "classes", "effort_0", "effort_1", "effort_2", "effort_3"),
    *("privacy", "information_loss", "risk_profile", "quasi_identifier_risk", "evaluation"),
    *("scores", "quality", "curves", "calibration", "confusion", "alpha_ranges"),
)
# Digits by which rows are brought into one order; those beyond may differ.
_DIGITS = 6


def assert_same(
    here: Sequence[Sequence[Any]],
    there: Sequence[Sequence[Any]],
    name: str,
    *,
    tolerance: float = TOLERANCE,
) -> None:
    """Compare rows whatever their order, of columns in the same order."""
    assert len(here) == len(there) > 0, f"{name}: {len(here)} and {len(there)} rows"
    ordered = (sorted(map(_without_decimals, rows), key=_key) for rows in (here, there))
    for ours, theirs in zip(*ordered, strict=True):
        assert len(ours) == len(theirs), name
        for one, other in zip(ours, theirs, strict=True):
            assert _is_same(one, other, tolerance), f"{name}: {ours} and {theirs}"


def plain(rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return rows with what drivers give as other objects in one form."""
    return [tuple(map(_in_one_form, row)) for row in rows]


def _in_one_form(value: Any) -> Any:
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime.datetime) and value.tzinfo:
        return value.astimezone(datetime.UTC)
    return value


def _without_decimals(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(float(v) if isinstance(v, decimal.Decimal) else v for v in row)


def _key(row: tuple[Any, ...]) -> str:
    return str([_shown(value) for value in row])


def _shown(value: Any) -> str:
    if isinstance(value, bool | str | datetime.date) or value is None:
        return str(value)
    return f"{value:+.{_DIGITS}e}"


def _is_same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        if one is None or other is None:
            return one is other
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return bool(one == other)
