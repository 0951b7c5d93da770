"""A report in headless Chromium: `make chromium` installs it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from dbt_anonymize.extensions.report.rendering import as_html
from tests import chromium
from tests.extensions.report.findings import findings, wide

CHOICE = "document.getElementById('alpha-choice')"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """Give the report in a browser."""
    folder = tmp_path_factory.mktemp("chromium")
    file = folder / "report.html"
    file.write_text(as_html(findings()), encoding="utf-8")
    with chromium.shown(file, folder / "profile") as page:
        yield page


def _chosen(page: chromium.Page) -> tuple[str, str]:
    """Return the chosen effort as the page says it, and as the table marks it."""
    return page.evaluate(f"{CHOICE}.dataset.effort"), page.evaluate(
        "document.querySelector('#quality tr.now td').textContent"
    )


def test_the_slider_moves_by_keyboard_and_the_choice_follows(page: chromium.Page) -> None:
    page.evaluate("document.getElementById('alpha').focus()")
    assert "At alpha 0.1, effort 1 is chosen: Q = 0.93." in page.evaluate(f"{CHOICE}.textContent")
    assert "chosen in 75.0 %" in page.evaluate(f"{CHOICE}.textContent")
    drawn = page.evaluate("document.getElementById('chart-quality').innerHTML")
    page.press("End", 35)
    assert _chosen(page) == ("2", "2")
    assert "effort 2" in page.evaluate(
        "document.getElementById('alpha').getAttribute('aria-valuetext')"
    )
    assert page.evaluate("new Promise(done => setTimeout(() => done(true), 200))")
    assert page.evaluate("document.getElementById('chart-quality').innerHTML") != drawn
    assert page.evaluate("document.querySelectorAll('#ranges tr.now').length") == 1
    page.press("Home", 36)
    assert _chosen(page) == ("1", "1")
    assert "no effort is worth what it costs" in page.evaluate(f"{CHOICE}.textContent")
    for _ in range(20):
        page.press("ArrowRight", 39)
    assert float(page.evaluate("document.getElementById('alpha-value').textContent")) > 0
    page.evaluate("document.getElementById('alpha-reset').click()")
    assert page.evaluate("document.getElementById('alpha-value').textContent") == "0.1"


def test_the_slider_chooses_nothing_where_the_results_did_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    of = findings()
    none = [dict(row) | {"is_chosen": False} for row in of.results]
    relations = {**of.evidence.relations, "results": none}
    folder = tmp_path_factory.mktemp("chromium")
    file = folder / "report.html"
    page = as_html(replace(of, evidence=replace(of.evidence, relations=relations)))
    file.write_text(page, encoding="utf-8")
    with chromium.shown(file, folder / "profile") as shown:
        said = shown.evaluate(f"{CHOICE}.textContent")
        assert "the build chose none" in said
        assert "is chosen: Q" not in said
        assert shown.evaluate("document.querySelectorAll('#quality tr.now').length") == 0


def test_every_chart_is_drawn_nothing_is_asked_for_and_nothing_complains(
    page: chromium.Page,
) -> None:
    charts = page.evaluate("document.querySelectorAll('.chart').length")
    assert page.evaluate("document.querySelectorAll('.chart svg').length") == charts > 10
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert len(page.requests) == 1
    assert page.problems == []


def test_the_policy_refuses_what_is_not_of_the_report(page: chromium.Page) -> None:
    """A script that is put into the page does not run: break the policy, and this fails."""
    page.evaluate(
        "{const s = document.createElement('script'); s.textContent = 'window.broken = 1';"
        "document.body.append(s)}"
    )
    assert page.evaluate("window.broken === undefined")
    page.events.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: chromium.Page, scheme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.send("Emulation.setEmulatedMedia", media="screen", features=features)
    complaints = page.axe()
    page.send("Emulation.setEmulatedMedia", media="", features=[])
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_charts_fit_and_the_chosen_effort_is_seen(
    page: chromium.Page, scheme: str
) -> None:
    dark = [{"name": "prefers-color-scheme", "value": scheme}]
    page.send("Emulation.setEmulatedMedia", media="screen", features=dark)
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.send("Emulation.setDeviceMetricsOverride", **size)
    page.evaluate("new Promise(done => setTimeout(done, 1500))")
    widths = "[...document.querySelectorAll('.chart svg')].map(s => +s.getAttribute('width'))"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert max(page.evaluate(widths)) <= 390
    marked = "[...document.querySelectorAll('#chart-quality path[fill=\"#D55E00\"]')]"
    inside = f"{marked}.map(p => p.getBoundingClientRect()).every(r => r.left > 0 && r.right < 390)"
    assert page.evaluate(f"{marked}.length") == 3
    assert page.evaluate(inside)
    # The row of the chosen effort differs from the page, and its text from both.
    colors = page.evaluate(
        "(() => { const row = getComputedStyle(document.querySelector('#quality tr.now'));"
        "const body = getComputedStyle(document.body);"
        "return [row.backgroundColor, body.backgroundColor, row.color] })()"
    )
    assert len(set(colors)) == 3
    text = "getComputedStyle(document.querySelector('.chart text')).fill"
    assert page.evaluate(text) != colors[1]
    page.send("Emulation.setEmulatedMedia", media="", features=[])
    page.send("Emulation.clearDeviceMetricsOverride")


def test_a_link_unfolds_what_it_leads_to(page: chromium.Page) -> None:
    assert not page.evaluate("document.querySelector('#risks .part').open")
    page.evaluate("document.querySelector('nav a[href=\"#risks\"]').click()")
    assert page.evaluate("new Promise(done => setTimeout(() => done(true), 300))")
    assert page.evaluate("document.querySelector('#risks .part').open")


def test_a_wide_report_has_at_most_eight_printed_pages(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("wide")
    file = folder / "report.html"
    file.write_text(as_html(wide()), encoding="utf-8")
    with chromium.shown(file, folder / "profile") as shown:
        assert 2 <= shown.printed_pages() <= 8
        assert shown.problems == []
