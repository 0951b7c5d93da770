"""Seeds and models that a spec names are missed before dbt stops, with the command for a seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.extensions.installation.missing_refs import missing_refs
from dbt_anonymize.spec import Spec
from tests.spec.declarations import SPEC

COMMAND = "dbt-anonymize hierarchy others --ref visits --column city -o seeds/cities.csv"


@pytest.mark.parametrize("comment", [f"  # {COMMAND}\n", ""])
def test_a_missing_seed_is_named_with_its_command(tmp_path: Path, comment: str) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: p\n", encoding="utf-8")
    for folder, file in (("seeds", "ages.csv"), ("models", f"{SPEC['source']['ref']}.sql")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).touch()
    (tmp_path / "anonymizations").mkdir()
    (tmp_path / "anonymizations" / "visits.yml").write_text(comment, encoding="utf-8")
    (line,) = missing_refs(tmp_path, [Spec.model_validate(SPEC)])
    assert line.startswith("visits reads cities, which must be a seed, model or snapshot; no file")
    assert (f"Write the seed: `{COMMAND}`." in line) == bool(comment)
