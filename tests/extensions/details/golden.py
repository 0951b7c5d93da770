"""The SQL of a detail that no project of the golden files has, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.extensions.details.compiled import MODELS
from tests.properties.compilation import compile_models

REFS = ["mixed_classes", "mixed_hierarchy_0", "mixed_hierarchy_1"]


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        model = {"class_losses": MODELS["documented_class_losses"]}
        (sql,) = compile_models(Path(folder), model, REFS).values()
    return {"class_losses.sql": sql.strip() + "\n"}
