"""The example of outer subjects in docs/evaluation.md, computed."""

from __future__ import annotations

import hashlib

from tests.docs.pages import DOCS, Page
from tests.oracle.outer import is_outer

PAGE = Page(DOCS / "evaluation.md")


def test_the_example_is_what_its_page_says() -> None:
    rows = PAGE.table("subject", "outer").records
    assert len(rows) == 10
    for row in rows:
        digest = hashlib.md5(row["MD5 of"].encode(), usedforsecurity=False).hexdigest()
        assert row["first digits"] == digest[:8]
        assert row["below"] == f"{int(0.2 * 2**32):08x}"
        assert (row["outer"] == "yes") == is_outer(row["subject"], 0.2, 1)
