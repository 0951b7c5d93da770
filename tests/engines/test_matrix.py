"""The pages say of engines what the tests ran, and nothing more."""

from __future__ import annotations

import pytest

from tests.engines.matrix import IS_WRITING, PAGES, TABLE, table
from tests.projects import REPOSITORY


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_the_table_of_what_ran(page: str) -> None:
    path = REPOSITORY / page
    text = path.read_text(encoding="utf-8")
    if IS_WRITING:
        text = TABLE.sub(lambda _: table(), text)
        path.write_text(text, encoding="utf-8")
    assert TABLE.findall(text) == [table()]
