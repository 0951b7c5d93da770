"""Code of the page about Python."""

from __future__ import annotations

import re

from tests.projects import REPOSITORY

PAGE = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")


def code_of_page(kind: str) -> str:
    """Return the code blocks of a kind."""
    return "\n".join(re.findall(rf"^```python{kind}(.*?)^```$", PAGE, re.M | re.S))
