"""Plots of text, so that a page can be compared with a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 56


def interval_plot(results: Sequence[Mapping[str, Any]]) -> str:
    """Draw QF of each effort with its interval.

    Parameters
    ----------
    results : sequence of mappings
        Rows of ``<n>_results`` in the order of efforts.

    Returns
    -------
    str
        One line per effort below the ends of the scale.

    Examples
    --------
    >>> row = {"effort": 1, "k": 5, "qf_low": 0.5, "qf_mean": 0.75, "qf_high": 1, "is_chosen": True}
    >>> print(interval_plot([row]), end="")
     effort     k  0.500                                              1.000
          1     5  ├───────────────────────────●──────────────────────────┤  chosen
    """
    low = min(row["qf_low"] for row in results)
    high = max(row["qf_high"] for row in results)
    lines = [f"{'effort':>7}{'k':>6}  {low:<{WIDTH - 5}.3f}{high:.3f}"]
    for row in results:
        start, middle, end = (
            _position(row[c], low, high) for c in ("qf_low", "qf_mean", "qf_high")
        )
        cells = [" "] * WIDTH
        cells[start : end + 1] = "─" * (end + 1 - start)
        cells[start], cells[end] = "├", "┤"
        cells[middle] = "●"
        mark = "  chosen" if row["is_chosen"] else ""
        lines.append(f"{row['effort']:>7}{row['k']:>6}  {''.join(cells)}{mark}".rstrip())
    return "\n".join(lines) + "\n"


def _position(value: float, low: float, high: float) -> int:
    # Intervals of no width: all results are the same.
    return round((value - low) / ((high - low) or 1.0) * (WIDTH - 1))
