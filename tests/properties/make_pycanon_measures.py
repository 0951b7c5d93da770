"""Ask pycanon for every measure that it gets right and keep its answers beside this file.

pycanon pins old versions of numpy and pandas, so it cannot live in the environment of the project.
Run this by hand, from the root of the repository, in an environment of its own::

    python -m venv <a new folder>
    <a new folder>/bin/pip install pycanon==1.3.6
    <a new folder>/bin/python -m tests.properties.make_pycanon_measures

Left out is what pycanon computes otherwise than the definitions say: entropy l (truncated),
recursive (c, l) (sorted the wrong way) and enhanced beta. Its delta takes the natural logarithm and
skips values that are absent from a class, where the definition is infinite.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.properties.pycanon_tables import NAMES, TABLES, random_table, records

MEASURES = Path(__file__).with_name("pycanon_measures.json")


def answers(table: str) -> dict[str, float]:
    """Return pycanon's measures of a table, each the worst of its classes."""
    import pandas as pd
    from pycanon import anonymity

    frame: Any = pd.DataFrame(records(table), columns=list(NAMES))
    of: list[str] = ["city", "age"]
    found: dict[str, float] = {"k": int(anonymity.k_anonymity(frame, of))}
    for attribute in ("disease", "visits"):
        alpha, _ = anonymity.alpha_k_anonymity(frame, of, [attribute])
        found |= {
            f"{attribute}_alpha": float(alpha),
            f"{attribute}_l": int(anonymity.l_diversity(frame, of, [attribute])),
            f"{attribute}_beta": float(anonymity.basic_beta_likeness(frame, of, [attribute])),
            f"{attribute}_t": float(anonymity.t_closeness(frame, of, [attribute])),
            f"{attribute}_delta": float(anonymity.delta_disclosure(frame, of, [attribute])),
        }
    return found


def main() -> None:
    """Write the answers."""
    draw = random.Random(20260103)
    tables = [random_table(draw) for _ in range(TABLES)]
    asked = [{"records": table, **answers(table)} for table in tables]
    # The names first, then a row for each table.
    rows = [list(asked[0]), *(list(one.values()) for one in asked)]
    text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    MEASURES.write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
