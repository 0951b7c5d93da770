"""The page of the synthesizer shows what a build gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.external_efforts.study import NAME, NEEDED, build, is_installed, page


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason=NEEDED)
def test_the_page_shows_what_the_build_gives(tmp_path: Path) -> None:
    from tests.case_studies.pages import CasePage

    built = build(tmp_path)
    assert CasePage(NAME).text == page(built)
