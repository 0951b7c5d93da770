"""Code of pages about Python."""

from __future__ import annotations

import re
from pathlib import Path

from tests.projects import REPOSITORY

PAGE = REPOSITORY / "docs" / "python.md"


def code_of_page(kind: str, page: Path = PAGE) -> str:
    """Return the code blocks of a kind."""
    text = page.read_text(encoding="utf-8")
    return "\n".join(re.findall(rf"^```python{kind}(.*?)^```$", text, re.M | re.S))
