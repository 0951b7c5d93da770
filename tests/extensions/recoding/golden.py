"""The SQL of frozen recodings, losses and aggregates of classes, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.extensions.recoding.compilation import CASES, frozen_parts
from tests.extensions.recoding.compilation import compiled as compiled_models
from tests.extensions.recoding.compiled import MODELS
from tests.properties.compilation import Ref, body, compile_models

REFS = ["mixed_classes", "mixed_hierarchy_0", "mixed_hierarchy_1", "people_microdata"]
AGGREGATES = body(
    "aggregates",
    anonymization="people",
    effort=1,
    microdata=Ref("people_microdata"),
    classes=Ref("mixed_classes"),
    record_key="person",
    quasi_identifiers=[
        {"name": "age", "kind": "interval", "hierarchy": Ref("mixed_hierarchy_0"), "level": 2},
        {"name": "job", "kind": "categorical", "hierarchy": Ref("mixed_hierarchy_1"), "level": 1},
    ],
    shown=[
        {"name": "age", "show": "mean", "p_percent": 10.0, "hierarchy": Ref("mixed_hierarchy_0")},
        {"name": "job", "show": "mode"},
    ],
    k=3,
)


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    name = f"{CASES[0].name}_frozen_rows"
    sql = compiled_models({name: frozen_parts(CASES[0])[name]})[name]
    with tempfile.TemporaryDirectory() as folder:
        models = {"class_losses": MODELS["documented_class_losses"], "aggregates": AGGREGATES}
        compiled = compile_models(Path(folder), models, REFS)
    parts = {f"{name}.sql": text.strip() + "\n" for name, text in compiled.items()}
    return {"recoding.sql": sql.strip() + "\n", **parts}
