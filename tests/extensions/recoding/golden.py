"""The SQL of a frozen recoding and of losses of classes, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.extensions.recoding.compilation import CASES, frozen_parts
from tests.extensions.recoding.compilation import compiled as compiled_models
from tests.extensions.recoding.compiled import MODELS
from tests.properties.compilation import compile_models

REFS = ["mixed_classes", "mixed_hierarchy_0", "mixed_hierarchy_1"]


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    name = f"{CASES[0].name}_frozen_rows"
    sql = compiled_models({name: frozen_parts(CASES[0])[name]})[name]
    with tempfile.TemporaryDirectory() as folder:
        model = {"class_losses": MODELS["documented_class_losses"]}
        (losses,) = compile_models(Path(folder), model, REFS).values()
    return {"recoding.sql": sql.strip() + "\n", "class_losses.sql": losses.strip() + "\n"}
