"""Kinds of tasks that models are trained for."""

from __future__ import annotations

# Their models predict no column, so that a spec has no target.
UNSUPERVISED: frozenset[str | None] = frozenset({"clustering", "anomaly"})
