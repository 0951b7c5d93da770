"""The rules of a well-formed hierarchy. The dbt tests check the same rules in the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.bounds import Bound, parse_bound
from dbt_anonymize.hierarchies.model import ROOT, Hierarchy
from dbt_anonymize.hierarchies.table import SeedTable

LINES_SHOWN = 8

AnyHierarchy = TypeVar("AnyHierarchy", bound=Hierarchy)


@dataclass(frozen=True)
class Violation:
    """A broken rule, as a sentence that should hold.

    ``level`` is None for the leaves; ``lines`` are those of the file, whose header is line 1.
    """

    rule: str
    level: int | None
    lines: tuple[int, ...]

    def __str__(self) -> str:
        where = f"level {self.level}: " if self.level is not None else ""
        if not self.lines:
            return f"{where}{self.rule}"
        shown = ", ".join(map(str, self.lines[:LINES_SHOWN]))
        more = ", …" if len(self.lines) > LINES_SHOWN else ""
        rows = "1 row, line" if len(self.lines) == 1 else f"{len(self.lines)} rows, lines"
        return f"{where}{self.rule} ({rows} {shown}{more})"


def violations(hierarchy: Hierarchy | SeedTable, *, nested: bool = True) -> tuple[Violation, ...]:
    """Return every rule that a hierarchy, or the rows of a file, breaks.

    ``nested``: a label must have one parent, as every search over levels needs. Rows with a wrong
    number of cells, or no rows at all, are reported alone.

    Examples
    --------
    >>> from dbt_anonymize.hierarchies.model import CategoricalHierarchy
    >>> wrong = CategoricalHierarchy(("a", "a"), (("*", "all"),))
    >>> for violation in violations(wrong):
    ...     print(violation)
    values are unique (1 row, line 3)
    level 1: the top level is the root * (1 row, line 3)
    """
    table = hierarchy if isinstance(hierarchy, SeedTable) else hierarchy.table()
    if not table.rows:
        leaf = "interval" if table.kind == "interval" else "value"
        return (Violation(f"it has at least one {leaf}", None, ()),)
    ragged = tuple(row.line for row in table.rows if len(row.cells) != len(table.columns))
    if ragged:
        return (Violation("every row has as many cells as the header", None, ragged),)
    leaf_rules = _interval_rules if table.kind == "interval" else _value_rules
    broken = (*leaf_rules(table), *_level_rules(table), *(_nesting_rules(table) if nested else ()))
    return tuple(Violation(rule, level, lines) for rule, level, lines in broken if lines)


def check(hierarchy: AnyHierarchy, *, name: str, nested: bool = True) -> AnyHierarchy:
    """Return a hierarchy unchanged; if it breaks rules, a `HierarchyError` lists them."""
    raise_violations(violations(hierarchy, nested=nested), name=name)
    return hierarchy


def raise_violations(broken: Iterable[Violation], *, name: str) -> None:
    """Raise one `HierarchyError` that lists violations, if there are any."""
    lines = [f"\n  - {violation}" for violation in broken]
    if lines:
        raise HierarchyError(
            f"hierarchy {name} must keep these rules, and does not:{''.join(lines)}\n"
            "Correct those lines."
        )


def is_nested(hierarchy: Hierarchy) -> bool:
    """Return whether every label has one parent; else the spec must declare ``nested: false``."""
    return not any(lines for _, _, lines in _nesting_rules(hierarchy.table()))


# A rule, its level, and the lines that break it.
_Rule = tuple[str, int | None, tuple[int, ...]]


def _value_rules(table: SeedTable) -> Iterator[_Rule]:
    values = [(row.line, row.cells[0]) for row in table.rows]
    yield "values are not NULL (NULL generalizes to * by itself)", None, _lines_equal_to(values, "")
    yield "values are unique", None, _repeated_lines(values)
    yield "the root label * is not a value", None, _lines_equal_to(values, ROOT)
    for level in range(1, table.levels):
        lines = _lines_equal_to(table.level(level), ROOT)
        is_whole = len(lines) == len(table.rows)
        yield "only the top level is wholly * (leave the other out)", level, lines * is_whole


def _interval_rules(table: SeedTable) -> Iterator[_Rule]:
    yield "labels of level 1 are unique", 1, _repeated_lines(table.level(1))
    for level in range(1, table.levels):
        lines = _lines_equal_to(table.level(level), ROOT)
        yield "the root label * stands at the top level only", level, lines
    leaves = [
        (parse_bound(row.cells[0]), parse_bound(row.cells[1]), row.line) for row in table.rows
    ]
    mixed = _mixed_types(leaves)
    yield "bounds are all numbers or all dates", None, mixed
    if mixed:
        return
    wrong = tuple(line for lower, upper, line in leaves if not _ascends(lower, upper))
    yield "bounds are finite and lower_bound < upper_bound", None, wrong
    if not wrong:
        yield from _tiling_rules(table, leaves)


def _ascends(lower: Bound | None, upper: Bound | None) -> bool:
    return lower is not None and upper is not None and lower < upper  # type: ignore[operator]


def _mixed_types(leaves: list[tuple[Bound | None, Bound | None, int]]) -> tuple[int, ...]:
    types = [({type(b) for b in (lower, upper) if b is not None}, n) for lower, upper, n in leaves]
    first = next((row_types for row_types, _ in types if row_types), set())
    return tuple(
        line
        for row_types, line in types
        if (row_types and row_types != first) or len(row_types) > 1
    )


def _tiling_rules(
    table: SeedTable, leaves: list[tuple[Bound | None, Bound | None, int]]
) -> Iterator[_Rule]:
    """Check the rules that need the order of the leaves; rows may be in any order."""
    order = sorted(range(len(leaves)), key=lambda row: leaves[row][:2])
    gaps, overlaps = [], []
    reached = leaves[order[0]][1]
    for row in order[1:]:
        lower, upper, line = leaves[row]
        if lower > reached:  # type: ignore[operator]
            gaps.append(line)
        elif lower < reached:  # type: ignore[operator]
            overlaps.append(line)
        reached = max(reached, upper)  # type: ignore[type-var]
    yield "intervals have no gap between them", None, tuple(gaps)
    yield "intervals do not overlap", None, tuple(overlaps)
    for level in range(1, table.levels):
        labels = table.level(level)
        lines = _scattered_lines([labels[row] for row in order])
        yield "labels cover neighbouring intervals", level, lines


def _level_rules(table: SeedTable) -> Iterator[_Rule]:
    for level in range(1, table.levels + 1):
        yield "labels are not empty", level, _lines_equal_to(table.level(level), "")
    top = table.level(table.levels)
    yield "the top level is the root *", table.levels, tuple(n for n, label in top if label != ROOT)


def _nesting_rules(table: SeedTable) -> Iterator[_Rule]:
    for level in range(1, table.levels):
        parents: dict[str, str] = {}
        pairs = list(zip(table.level(level), table.level(level + 1), strict=True))
        several = tuple(
            line
            for (line, label), (_, parent) in pairs
            if parents.setdefault(label, parent) != parent
        )
        yield "a label has one parent (declare nested: false to relax it)", level, several
        # NULL is * at every level: labels that join it must stay with it.
        leaving = tuple(n for (n, label), (_, parent) in pairs if label == ROOT != parent)
        yield "the label * stays * at every higher level", level, leaving


def _lines_equal_to(cells: Iterable[tuple[int, str]], text: str) -> tuple[int, ...]:
    return tuple(line for line, cell in cells if cell == text)


def _repeated_lines(cells: Iterable[tuple[int, str]]) -> tuple[int, ...]:
    """Return the lines of cells that repeat an earlier one; empty cells do not count."""
    seen: set[str] = set()
    lines = []
    for line, cell in cells:
        if cell and cell in seen:
            lines.append(line)
        seen.add(cell)
    return tuple(lines)


def _scattered_lines(labels: list[tuple[int, str]]) -> tuple[int, ...]:
    """Return the lines at which a label resumes after another one."""
    seen: set[str] = set()
    previous: str | None = None
    lines = []
    for line, label in labels:
        if label != previous and label in seen:
            lines.append(line)
        seen.add(label)
        previous = label
    return tuple(lines)
