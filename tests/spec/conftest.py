"""A project to write spec files into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

# Key path, wrong value (REMOVED: without the key), where the message points, what it must contain.


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a spec, as data or as text, and returns its path."""

    def write_spec(spec: dict[str, Any] | str, name: str = "visits") -> Path:
        path = tmp_path / "anonymizations" / f"{name}.yml"
        path.parent.mkdir(exist_ok=True)
        text = spec if isinstance(spec, str) else yaml.safe_dump(spec, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return path

    return write_spec
