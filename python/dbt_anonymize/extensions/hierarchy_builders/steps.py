"""Round numbers: steps of 1, 2 and 5 times a power of ten, and ranges of whole steps."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

# Factors from a step of 1, 2 or 5 times a power of ten to the next, which it divides.
_NEXT = {1: (5, 2), 2: (5,), 5: (2,)}
_MOST_WIDTHS = 4
# Largest ratio of a range of whole steps to that of the values.
_OVERHANG = Decimal("1.5")


def nice_step(size: Decimal) -> Decimal:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below a size > 0.

    Examples
    --------
    >>> [str(nice_step(Decimal(size))) for size in ("0.03", "3", "70", "100")]
    ['0.05', '5', '100', '100']
    """
    power = Decimal(1).scaleb(size.adjusted())
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size)
    return Decimal(format(step.normalize(), "f"))


def widened(lower: Decimal, upper: Decimal, step: Decimal) -> tuple[Decimal, Decimal]:
    """Return multiples of a step strictly around a range.

    Bounds are published, and the smallest and the largest value belong to somebody.

    Examples
    --------
    >>> [str(end) for end in widened(Decimal("18"), Decimal("90"), Decimal(10))]
    ['10', '100']
    >>> [str(end) for end in widened(Decimal("0"), Decimal("99.9"), Decimal(50))]
    ['0', '100']
    """
    start = (lower / step).to_integral_value("ROUND_FLOOR") * step
    end = ((upper / step).to_integral_value("ROUND_FLOOR") + 1) * step
    # Zero may stay as the lower bound: it discloses nobody's value.
    if start == lower and lower != 0:
        start -= step
    return start, end


def nice_widths(
    lower: Decimal, upper: Decimal, *, leaves: int, whole: bool, grid: int = 1
) -> list[Decimal]:
    """Return round widths for a range, each of which divides the next.

    The first gives about ``leaves`` intervals, the last at least two; of ``whole`` numbers none is
    below 1, nor below a round step of the ``grid`` on which all of them lie.

    Examples
    --------
    >>> widths = nice_widths(Decimal(0), Decimal(300), leaves=32, whole=True)
    >>> [str(width) for width in widths]
    ['10', '50', '100', '200']
    """
    if lower == upper:
        return [Decimal(1) if whole else nice_step(abs(upper) / 10 or Decimal(1))]
    first = nice_step((upper - lower) / leaves)
    if whole:
        rounds = (Decimal(part).scaleb(power) for power in range(9) for part in (1, 2, 5))
        first = max(first, *(step for step in rounds if grid % step == 0))
    widths = max(_chains(lower, upper, [first]), key=lambda chain: (len(chain), chain[-1]))
    return [Decimal(format(width.normalize(), "f")) for width in widths]


def _chains(lower: Decimal, upper: Decimal, chain: list[Decimal]) -> Iterator[list[Decimal]]:
    yield chain
    if len(chain) == _MOST_WIDTHS:
        return
    for factor in _NEXT[chain[-1].normalize().as_tuple().digits[0]]:
        width = chain[-1] * factor
        # Whether the range starts one step before a value on a bound is no matter of the width.
        start, end = (
            (lower / width).to_integral_value("ROUND_FLOOR") * width,
            widened(lower, upper, width)[1],
        )
        reach = max(widened(lower, upper, chain[0])[1] - lower, upper - lower) * _OVERHANG
        if end - start >= 2 * width and end - start <= reach:
            yield from _chains(lower, upper, [*chain, width])
