"""The SQL of a frozen recoding, for `tests/golden`."""

from __future__ import annotations

from tests.extensions.recoding.compilation import CASES, frozen_parts
from tests.extensions.recoding.compilation import compiled as compiled_models


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    name = f"{CASES[0].name}_frozen_rows"
    sql = compiled_models({name: frozen_parts(CASES[0])[name]})[name]
    return {"recoding.sql": sql.strip() + "\n"}
