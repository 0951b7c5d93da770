"""Hierarchies of classifications, such as ICD-10: each code has a parent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.extensions.hierarchy_builders.rules import LINES_SHOWN
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_rows


@dataclass(frozen=True)
class Node:
    """A code of a classification: its parent, its label, and its level if the file says it."""

    parent: str | None
    label: str
    level: int | None = None


def read_classification(path: Path) -> dict[str, Node]:
    """Read a CSV file with the columns ``code``, ``parent`` and maybe ``level`` and ``label``.

    A code of the top has no parent; levels are whole numbers that rise towards the top; a label
    stands for its code. Others are left out. A file that is not so is a `HierarchyError`.
    """
    header, *rows = [row.cells for row in read_rows(path)] or [()]
    if missing := [name for name in ("code", "parent") if name not in header]:
        raise HierarchyError(
            f"{path} must have the columns code and parent; missing: {', '.join(missing)}. Add "
            "them, the parent empty at the top."
        )
    _refuse(path, "have as many cells as the header", [len(row) == len(header) for row in rows])
    cells = [dict(zip(header, row, strict=True)) for row in rows]
    _refuse(path, "have a code other than *", [row["code"] not in {"", ROOT} for row in cells])
    codes = Counter(row["code"] for row in cells)
    _refuse(
        path, "have a code of their own, with one parent", [codes[r["code"]] == 1 for r in cells]
    )
    _refuse(path, "have a parent that is a code", [r["parent"] in {"", *codes} for r in cells])
    if "level" in header:
        _refuse(path, "have a whole number as level", [row["level"].isdecimal() for row in cells])
    labels = Counter(row.get("label") or row["code"] for row in cells)
    own = [labels[row.get("label") or row["code"]] == 1 for row in cells]
    _refuse(path, "have a label of their own", own)
    return {
        row["code"]: Node(
            row["parent"] or None,
            row.get("label") or row["code"],
            int(row["level"]) if "level" in row else None,
        )
        for row in cells
    }


def _refuse(path: Path, rule: str, kept: Sequence[bool]) -> None:
    lines = [line for line, is_kept in enumerate(kept, start=2) if not is_kept]
    if lines:
        shown = ", ".join(map(str, lines[:LINES_SHOWN])) + (", …" if lines[LINES_SHOWN:] else "")
        raise HierarchyError(
            f"all rows of {path} must {rule}; {len(lines)} have not, rows {shown}. Correct them."
        )


def classify(
    nodes: Mapping[str, Node], values: Sequence[str] | None = None
) -> CategoricalHierarchy:
    """Return the hierarchy of a classification: each level has the codes above.

    Leaves are the codes that have no child or, if they are given, distinct ``values``, each of
    which is a code or begins with one, of several the longest. Without levels all codes without a
    child are equally deep. What is not so is a `HierarchyError`.

    Examples
    --------
    >>> nodes = {"A": Node(None, "A"), "A01": Node("A", "A01"), "B": Node(None, "B")}
    >>> nodes["B20"] = Node("B", "B20")
    >>> classify(nodes).labels
    (('A', 'B'), ('*', '*'))
    >>> classify(nodes, ["A01.1", "A01.2", "B20"]).labels
    (('A01', 'A01', 'B20'), ('A', 'A', 'B'), ('*', '*', '*'))
    """
    chains = {code: list(_chain(nodes, code)) for code in nodes}
    levels = _levels(nodes, chains)
    parents = {node.parent for node in nodes.values()}
    leaves = list(values) if values is not None else [code for code in nodes if code not in parents]
    own = {leaf: leaf if leaf in nodes else _beginning(nodes, leaf) for leaf in leaves}
    if lost := sum(code is None for code in own.values()):
        raise HierarchyError(
            f"every value must be a code of the classification, or begin with one; {lost} of "
            f"{len(own)} do not. Add their codes, or clean them in a model before."
        )
    # Without a level that repeats the one below, or the values.
    labels = [tuple(nodes[leaf].label if leaf in nodes else leaf for leaf in leaves)]
    for level in range(max(levels.values(), default=0) + 1):
        at_level = tuple(
            nodes[_at(chains[code], levels, level)].label for code in own.values() if code
        )
        if at_level != labels[-1]:
            labels.append(at_level)
    return build_categories(leaves, labels[1:], name="of the classification")


def _chain(nodes: Mapping[str, Node], code: str) -> Iterator[str]:
    """Yield a code and all above it."""
    seen: set[str] = set()
    above: str | None = code
    while above is not None:
        if above in seen:
            raise HierarchyError(
                "no code may be above itself; the parents of a classification go round in a circle "
                f"at {len(seen)} codes. Correct one of their parents."
            )
        seen.add(above)
        yield above
        above = nodes[above].parent


def _levels(nodes: Mapping[str, Node], chains: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the level of each code: as declared, or by its depth, 0 of the deepest."""
    levels = {code: node.level for code, node in nodes.items()}
    known = {code: level for code, level in levels.items() if level is not None}
    if known:
        wrong = sum(
            known[code] >= known[node.parent] for code, node in nodes.items() if node.parent
        )
        if wrong:
            raise HierarchyError(
                f"the level of a code must be below that of its parent; {wrong} are not. Levels "
                "rise towards the top."
            )
        return known
    parents = {node.parent for node in nodes.values()}
    depths = {len(chain) for code, chain in chains.items() if code not in parents}
    if len(depths) > 1:
        raise HierarchyError(
            f"codes without a child must be equally deep; they are {min(depths)} to {max(depths)} "
            "levels deep. Add a column level, which rises towards the top."
        )
    return {code: max(depths) - len(chain) for code, chain in chains.items()}


def _at(chain: Sequence[str], levels: Mapping[str, int], level: int) -> str:
    """Return the code of a chain at a level: the last one up to it, or else the first."""
    return [code for code in chain if levels[code] <= level or code == chain[0]][-1]


def _beginning(nodes: Mapping[str, Node], value: str) -> str | None:
    """Return the longest code that a value begins with."""
    return next((value[:end] for end in range(len(value), 0, -1) if value[:end] in nodes), None)
