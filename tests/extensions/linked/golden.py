"""The SQL of linked tables, for `tests/golden`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dbt_anonymize.project.generate import generate
from tests.extensions.linked.hospital import write
from tests.properties.compiled_once import statements

_SHOWN = ("joined_risk_of_two_and_numbers", "joined_risk_of_all_with_diversity")
# Each relation, and the end of the name of a model: of an effort or a table one.
_OF_SPEC = {
    "linked_table": "_results",
    "linked_values": "_1",
    "linked_features": "_1",
    "linked_losses": "",
    "linked_information_loss": "",
    "linked_privacy": "",
    "linked_risk": "",
    "released": "_results",
}


def compiled() -> dict[str, str]:
    """Return compiled SQL by the name of its file."""
    return {f"{name}.sql": f"{statements()[name].strip()}\n" for name in _SHOWN} | _of_spec()


def _of_spec() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        project = write(Path(folder) / "project", patients=10)
        generate(project.folder, ["hospital"])
        outcome = project.dbt("compile", "--select", "path:models/hospital")
        assert outcome.succeeded, outcome.messages
        compiled_folder = project.folder / "target" / "compiled"
        paths = {
            name: next(compiled_folder.rglob(f"hospital_{name}{end}.sql"))
            for name, end in _OF_SPEC.items()
        }
        return {
            f"{name}.sql": path.read_text(encoding="utf-8").strip() + "\n"
            for name, path in paths.items()
        }
