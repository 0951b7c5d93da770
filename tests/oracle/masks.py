"""Masks once more, in plain Python: what the macros and ``verify`` are measured against."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any


def masked(value: Any, mask: Mapping[str, Any]) -> Any:
    """Return what is released instead of a value."""
    if "constant" in mask:
        return mask["constant"]
    if value is None:
        return None
    if "truncate" in mask:
        return _truncated(value, mask["truncate"])
    if "email" in mask:
        found = re.fullmatch(r"[^@]*@([a-zA-Z0-9.-]+)", value)
        return f"***@{found[1].lower()}" if found else "***"
    if "phone" in mask:
        digits = re.sub("[^0-9]", "", value)
        return "***" + (digits[-mask["phone"] :] if len(digits) >= mask["phone"] + 4 else "")
    return _number(value, mask)


def keyed_hash(key: str, text: str) -> str:
    """Return the HMAC of a text."""
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def shifted(value: date, key: str, person: str, days: int) -> date:
    """Return a date moved by the days of a person: 1 to ``days``, in either direction."""
    drawn = int(keyed_hash(key, person)[:13], 16) % (2 * days) - days
    return value + timedelta(days=drawn + (drawn >= 0))


def _number(value: Any, mask: Mapping[str, Any]) -> Any:
    is_whole = isinstance(value, int) and all(float(n).is_integer() for n in mask.values())
    if not is_whole and math.isnan(value):
        return math.nan
    number = Fraction(value) if is_whole or math.isfinite(value) else value
    if "top" in mask and number > Fraction(repr(mask["top"])):
        number = Fraction(repr(mask["top"]))
    if "bottom" in mask and number < Fraction(repr(mask["bottom"])):
        number = Fraction(repr(mask["bottom"]))
    if "round" in mask and isinstance(number, Fraction):
        width = Fraction(repr(mask["round"]))
        number = math.floor(number / width + Fraction(1, 2)) * width
    return int(number) if is_whole else float(number)


def _truncated(value: date, unit: str) -> date:
    kept = ["year", "month", "day", "hour"]
    if unit == "quarter":
        value, unit = value.replace(month=(value.month - 1) // 3 * 3 + 1), "month"
    if unit == "week":
        value, unit = date.fromordinal(value.toordinal() - value.weekday()), "day"
    parts = [getattr(value, part, 0) for part in kept[: kept.index(unit) + 1]]
    parts += [1] * (3 - len(parts))
    return datetime(*parts) if isinstance(value, datetime) else date(*parts[:3])
