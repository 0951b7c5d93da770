"""The SQL of the queries of linked tables, for `tests/golden`."""

from __future__ import annotations

from tests.properties.compiled_once import statements

_SHOWN = ("joined_risk_of_two_and_numbers", "joined_risk_of_all_with_diversity")


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    return {f"{name}.sql": f"{statements()[name].strip()}\n" for name in _SHOWN}
