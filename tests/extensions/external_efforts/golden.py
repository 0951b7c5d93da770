"""The SQL by which efforts are compared, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.properties.compilation import Ref, body, compile_models

REFS = ["privacy", "measured", "foreign"]


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    limits = {"closest_record": 0.1, "singling_out": 0.05}
    model = body(
        "compared_privacy",
        privacy=Ref("privacy"),
        measured=Ref("measured"),
        efforts={3: Ref("foreign")},
        limits=limits,
    )
    with tempfile.TemporaryDirectory() as folder:
        (sql,) = compile_models(Path(folder), {"compared_privacy": model}, REFS).values()
    return {"compared_privacy.sql": sql.strip() + "\n"}
