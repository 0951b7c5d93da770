"""Execute the pages on hierarchies and their builders: all that they print is true."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.extensions.hierarchy_builders.commands.hierarchy import app
from tests.docs.pages import DOCS

pytestmark = pytest.mark.costly

PAGES = (DOCS / "hierarchies.md", DOCS / "extensions" / "hierarchy_builders.md")
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCK = re.compile(r"^```(console|csv)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PREFIX = "dbt-anonymize hierarchy "


def run_console(text):
    """Run the commands of a console block and compare what each prints."""
    for part in text.split("$ ")[1:]:
        command, _, expected = part.partition("\n")
        assert command.startswith(PREFIX)
        result = CliRunner().invoke(app, shlex.split(command.removeprefix(PREFIX)))
        assert result.output == expected, command


def test_every_command_and_every_file_of_the_page_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(TEXT)
    commands = {
        line.split()[3] for _, _, text in blocks for line in text.splitlines() if line[:2] == "$ "
    }
    named = {command.name or command.callback.__name__ for command in app.registered_commands}
    # It reads a relation.
    assert commands == named - {"by-target"}
    for language, name, text in blocks:
        file = tmp_path / name.strip()
        if language == "console":
            run_console(text)
        elif file.exists():
            assert file.read_text(encoding="utf-8") == text, name
        else:
            file.write_text(text, encoding="utf-8")


def test_cut_points_give_the_first_example_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = {name.strip(): text for _, name, text in BLOCK.findall(TEXT)}
    arguments = ["intervals", "--cuts", "0,18,40,65,120", "--merge", "2", "-o", "cuts.csv"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert Path("cuts.csv").read_text(encoding="utf-8") == blocks["example_age.csv"]
