"""A column of people that is `*` in every effort is not released with their linked tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec import load_specs
from tests.cli.conftest import run
from tests.extensions.linked import hospital

pytestmark = pytest.mark.costly


def test_people_are_counted_and_attacked_without_it(tmp_path: Path) -> None:
    content = hospital.spec()
    tree = {"ref": "clinic_ages", "kind": "interval"}
    content["columns"]["birth"] = {"role": "quasi_identifier", "hierarchy": tree}
    for effort in content["efforts"]:
        effort["levels"]["birth"] = 3
    content["source"] = {"ref": "clinic_people"}
    project = hospital.write(tmp_path / "project", **content)
    model = "select *, age as birth from {{ ref('clinic_patients') }}"
    (project.folder / "models" / "clinic_people.sql").write_text(model, encoding="utf-8")
    generate(project.folder)
    project.build()
    with duckdb.connect(str(project.release_file("hospital")), read_only=True) as release:
        columns = [row[0] for row in release.execute("describe hospital_anonymized").fetchall()]
    assert columns == ["age", "age_lower", "age_upper", "sex", "returned", "token"]
    verified = run("verify", "hospital", "--project-dir", project.folder)
    assert verified.exit_code == 0, verified.output
    # An earlier release may show it: those who left are looked for by it, too.
    (spec,) = load_specs(project.folder)
    assert "birth_lower" in spec.composition_beside["declared"]["tables"][0]["columns"]
