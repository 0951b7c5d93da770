"""Lines of prose that can be copied: names and commands are never broken."""

from __future__ import annotations

import re

from rich.cells import cell_len

# Code between backticks, an option with its value, and any other word stay in one line.
_UNIT = re.compile(r"(\s*)((?:`[^`\n]*`|--[a-z][a-z-]* (?=[^\s`-])|[^\s`]|`)+)")


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a text; words longer than ``width`` and code are longer lines.

    Examples
    --------
    >>> wrapped("Run `dbt build --select births`, then see.", 20)
    ['Run', '`dbt build --select births`,', 'then see.']
    """
    lines = list[str]()
    for line in text.split("\n"):
        lines.append("")
        # Blanks at an end match nothing, and would be tried again and again.
        for space, unit in _UNIT.findall(line.rstrip()):
            is_full = lines[-1].strip() and cell_len(lines[-1] + space + unit) > width
            lines += [unit] * bool(is_full)
            lines[-1] += "" if is_full else space + unit
    return lines
