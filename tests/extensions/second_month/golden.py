"""The SQL of a frozen effort, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.properties.compilation import Ref, body, call, compile_models

_ROWS = Ref("frequencies")
_COLUMNS = ["age", 'it\'s "her"', "illness"]
_GUARANTEES = [
    {"model": "k_anonymity", "k": 3},
    {"model": "l_diversity", "attribute": "illness", "variant": "distinct", "l": 2},
]
_MODELS = {
    "frozen_results": body(
        "frozen_results",
        privacy=Ref("population"),
        classes=_ROWS,
        effort=2,
        quasi_identifiers=[{"name": "age", "kind": "interval", "hierarchy": Ref("hierarchy_age")}],
        levels={"age": 1},
        labels=Ref("hierarchy_city"),
        qnf={"sql": "1 - 1 / qnf_1", "columns": ["k"]},
        suppression_limit=0.1,
        anonymization="visits",
        fingerprint="0a1b2c3d",
    ),
    "released_classes": body(
        "released_classes",
        membership=Ref("population"),
        microdata=_ROWS,
        classes=_ROWS,
        effort=2,
        quasi_identifiers=["age"],
        columns=_COLUMNS,
        sensitive=["illness"],
        guarantees=_GUARANTEES,
    ),
    "membership": call(
        "_membership_rows",
        given={
            "number": 2,
            "effort": _ROWS,
            "microdata": _ROWS,
            "record_key": "visit",
            "columns": _COLUMNS,
            "guarantees": _GUARANTEES,
            "sensitive_hierarchies": {},
        },
        stored=Ref("population"),
        first=3,
    ),
}


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    seeds = ["frequencies", "population", "hierarchy_age", "hierarchy_city"]
    with tempfile.TemporaryDirectory() as folder:
        found = compile_models(Path(folder), _MODELS, seeds)
    return {f"{name}.sql": sql.strip() + "\n" for name, sql in found.items()}
