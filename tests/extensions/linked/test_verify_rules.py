"""The check `linked` of releases under other rules: known numbers of records, all, raw values."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from tests.extensions.linked.hospital import spec, write
from tests.extensions.linked.test_verify import everywhere, failed, findings
from tests.projects import Project

PATIENTS = 150
# A ward that the hierarchy lacks, and results of nothing known.
STAYS = "9901,1,attic,3,700\n9902,2,attic,,800\n9903,3,skin,,900\n"
RESULTS = "s1,9901,,1.5,\ns2,9903,sodium,,\n"


def changes(rule: dict[str, Any], effort: dict[str, Any]) -> dict[str, Any]:
    """Return what differs from the spec of the hospital."""
    linked = copy.deepcopy(spec()["linked"]) | rule
    for table in linked["tables"].values():
        table["suppression_limit"] = 1.0
    linked["tables"]["stays"]["columns"]["ward"]["hierarchy"]["unknown"] = "*"
    return {"linked": linked, "efforts": [effort], "release": {"effort": 1}}


RAW = {"stays": {"ward": 0, "month": 0}, "results": {"test": 0}}
COARSE = {"stays": {"ward": 1, "month": 2}, "results": {"test": 1}}
CASES = {
    "raw values": ({"known_records": 1}, {"levels": {"age": 2}, "linked": RAW}),
    "numbers": ({"known_count": True}, {"levels": {"age": 3}, "linked": COARSE}),
    "all": ({"known_records": "all"}, {"levels": {"age": 3}, "linked": COARSE}),
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("case", CASES)
def test_a_build_holds(case: str, tmp_path: Path) -> None:
    project = write(tmp_path / "project", PATIENTS, **changes(*CASES[case]))
    for name, lines in (("stays", STAYS), ("results", RESULTS)):
        project.edit(f"seeds/clinic_{name}.csv", lambda text, more=lines: text + more)
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")

    found = findings(project)

    assert [one for one in found if one.holds is False or not one.was_run] == []
    assert any("combinations counted" in one.message for one in found)
    _hide_nothing(project)
    broken = failed(project)
    assert any("own values" in subject for subject in broken)


def _hide_nothing(project: Project) -> None:
    project.execute(
        "update hospital_linked_decisions_1 set status = 'released', "
        "released_key = coalesce(released_key, (hash(record) >> 1)::bigint)"
    )
    project.build("-s", "hospital_released_stays", "hospital_released_results")
    everywhere(project, "select 1")
