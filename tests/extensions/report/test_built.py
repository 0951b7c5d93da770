"""The report of a demonstration, by its command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from tests import chromium
from tests.projects import Project

# The demonstration of which another alpha chooses another effort.
NAME = "wdbc_nested"


@pytest.mark.needs("details")
def test_a_report_is_small_and_holds_nobody(demo: Project, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    command = ["report", "fertility_clinic", "--project-dir", str(demo.folder)]
    environment = {"DBT_PROFILES_DIR": str(demo.folder)}
    made = CliRunner().invoke(app, [*command, "--output", str(file)], env=environment)
    assert made.exit_code == 0, made.output
    assert file.stat().st_size < 3_000_000
    page = file.read_text(encoding="utf-8")
    assert "<h1>fertility_clinic</h1>" in page
    (chosen,) = demo.query("select effort from main.fertility_clinic_results where is_chosen")[0]
    assert f"generalized (effort {chosen})" in page
    people = demo.query(
        "select patient_number, email, phone, address from vault.fertility_clinic_identifiers"
    )
    assert people
    # Digits within a longer number are no patient number.
    held = set(re.split(r"[^\w.@+-]", page))
    assert not [value for person in people for value in person if str(value) in held]
    assert not [text for person in people for text in person[2:] if text in page]
    charts = json.loads(page.split('id="charts">')[1].split("</script>")[0])
    drawn = {"quality", "plane", "class_sizes", "risks", "columns", "labels_0", "labels_1"}
    assert {*drawn, "losses", "roc", "precision_recall", "calibration"} <= set(charts)


@pytest.fixture(scope="module")
def page(demo: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Page]:
    """Give the report of the demonstration in a browser."""
    folder = tmp_path_factory.mktemp("chromium")
    file = folder / "report.html"
    command = ["report", NAME, "--project-dir", str(demo.folder), "--output", str(file)]
    made = CliRunner().invoke(app, command, env={"DBT_PROFILES_DIR": str(demo.folder)})
    assert made.exit_code == 0, made.output
    with chromium.shown(file, folder / "profile") as page:
        yield page


def _best(demo: Project, alpha: float) -> int:
    """Return the effort that the results give for an alpha."""
    ((effort,),) = demo.query(
        f"select effort from main.{NAME}_results where qualifies"
        f" order by round(qf_mean + {alpha!r} * qnf, 12) desc, k desc, effort limit 1"
    )
    return int(effort)


def test_the_slider_chooses_what_the_results_say(demo: Project, page: chromium.Page) -> None:
    choice = "JSON.parse(document.getElementById('choice').textContent)"
    shown = "document.getElementById('alpha-choice').dataset.effort"
    declared = page.evaluate(f"{choice}.alpha")
    ((released,),) = demo.query(f"select effort from main.{NAME}_results where is_chosen")
    assert int(page.evaluate(shown)) == released == _best(demo, declared)
    page.evaluate("document.getElementById('alpha').focus()")
    chosen = set()
    for key, code in [("Home", 36), *[("ArrowRight", 39)] * 3, *[("PageUp", 33)] * 8, ("End", 35)]:
        page.press(key, code)
        alpha = page.evaluate(f"Number(document.getElementById('alpha').value) * {choice}.step")
        chosen.add(int(page.evaluate(shown)))
        assert int(page.evaluate(shown)) == _best(demo, alpha), alpha
        marked = page.evaluate("document.querySelector('#quality tr.now td').textContent")
        assert marked == page.evaluate(shown)
    assert len(chosen) > 1
    page.evaluate("document.getElementById('alpha-reset').click()")
    assert int(page.evaluate(shown)) == released


def test_nothing_is_asked_for_nothing_complains_and_nothing_is_wider_than_a_phone(
    page: chromium.Page,
) -> None:
    assert [url for url in page.requests if not url.startswith("data:")] == page.requests[:1]
    assert page.problems == []
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=400,
        height=800,
        deviceScaleFactor=1,
        mobile=False,
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.send("Emulation.clearDeviceMetricsOverride")


def test_the_first_page_shows_five_rows_of_the_release(demo: Project, page: chromium.Page) -> None:
    """Each of them is one of the release, in every column that is shown."""
    table = page.evaluate(
        "[...document.querySelectorAll('#rows tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    names = [line[0] for line in table]
    rows = list(zip(*(line[1:] for line in table), strict=True))
    assert len(rows) == 5
    assert names[0] in {"mean_radius", "mean_symmetry"}
    assert set(names) == {"mean_radius", "mean_symmetry", "diagnosis"}
    released = demo.query(f"select {', '.join(names)} from release_{NAME}.{NAME}_anonymized")
    assert set(rows) <= {tuple(map(str, row)) for row in released}
    assert len(set(rows)) > 1
    above = "document.getElementById('rows').getBoundingClientRect().bottom + window.scrollY"
    assert page.evaluate(above) < 900


def test_a_printed_report_has_at_most_eight_pages(page: chromium.Page) -> None:
    assert 2 <= page.printed_pages() <= 8


@pytest.mark.parametrize("media", ["screen", "print"])
def test_axe_finds_nothing(page: chromium.Page, media: str) -> None:
    page.send("Emulation.setEmulatedMedia", media=media)
    assert page.axe() == []


def test_charts_that_are_not_installed_are_said_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "dbt_anonymize.extensions.report.commands.report.find_spec", lambda _name: None
    )
    made = CliRunner().invoke(app, ["report", "people"])
    assert made.exit_code == 2
    assert "pip install 'dbt-anonymize[report]'" in made.output
