"""Largest quality against alpha, of all efforts, as the first TDA paper draws it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 40
# Doubled from row to row: k grows fast beside a measure between 0 and 1.
ALPHAS = tuple(0.001 * 2**step for step in range(11))


@dataclass(frozen=True)
class Effort:
    """An effort as the paper weighs it: QF, and QNF is k."""

    number: int
    k: int
    qf: float

    def quality(self, alpha: float) -> float:
        """Return ``QF + alpha * k``."""
        return self.qf + alpha * self.k


def best(efforts: Sequence[Effort], alpha: float) -> Effort:
    """Return the effort of the largest quality, the weakest of several.

    Examples
    --------
    >>> best([Effort(0, 1, 0.9), Effort(1, 5, 0.8)], 0.1).number
    1
    """
    return max(efforts, key=lambda effort: (effort.quality(alpha), -effort.number))


def stable_until(efforts: Sequence[Effort]) -> float:
    """Return the alpha from which the effort with the highest k has the largest quality.

    Examples
    --------
    >>> round(stable_until([Effort(0, 1, 0.9), Effort(1, 3, 0.8), Effort(2, 13, 0.3)]), 6)
    0.05
    """
    strongest = max(efforts, key=lambda effort: (effort.k, effort.qf))
    others = (effort for effort in efforts if effort.k < strongest.k)
    crossings = ((one.qf - strongest.qf) / (strongest.k - one.k) for one in others)
    return max([0.0, *crossings])


def plot(efforts: Sequence[Effort]) -> str:
    """Draw the largest quality for each alpha; ``stable`` marks those below `stable_until`."""
    largest = best(efforts, ALPHAS[-1]).quality(ALPHAS[-1])
    lines = [f"{'alpha':>6}{'effort':>8}{'k':>4}{'Q':>8}"]
    for alpha in ALPHAS:
        effort = best(efforts, alpha)
        quality = effort.quality(alpha)
        bar = "█" * max(1, round(quality / largest * WIDTH))
        mark = "  stable" if alpha < stable_until(efforts) else ""
        lines.append(f"{alpha:>6.3f}{effort.number:>8}{effort.k:>4}{quality:>8.3f}  {bar}{mark}")
    return "\n".join(lines) + "\n"
