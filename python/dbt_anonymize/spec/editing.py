"""Replace the text of a spec."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.literals import plain_yaml_text
from dbt_anonymize.spec.loading import load_spec


def replace_text(path: Path, text: str, edited: str, *, mode_of: Path | None = None) -> bool:
    """Replace the text of a spec atomically if it is sound; return whether anything changed."""
    if edited == text:
        return False
    target = path.resolve()
    with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as folder:
        # Under its own name, because a spec is called like its file.
        stage = Path(folder) / target.parent.name / path.name
        stage.parent.mkdir()
        stage.write_bytes(edited.encode("utf-8"))
        shutil.copymode(mode_of or target, stage)
        load_spec(stage)
        stage.replace(target)
    return True


def flow_text(content: Any) -> str:
    """Return a part of a spec in flow style."""
    if isinstance(content, Mapping):
        entries = (f"{plain_yaml_text(str(key))}: {flow_text(v)}" for key, v in content.items())
        return f"{{{', '.join(entries)}}}"
    if isinstance(content, (list, tuple)):
        return f"[{', '.join(map(flow_text, content))}]"
    if isinstance(content, bool):
        return "true" if content else "false"
    return plain_yaml_text(content) if isinstance(content, str) else str(content)
