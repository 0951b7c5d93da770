"""A build under a spec that changed and was not generated stops; see also `dbt-anonymize build`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_anonymize.errors import SpecError
from dbt_anonymize.project.spec_changes import require_generated
from dbt_anonymize.spec import load_spec
from tests.projects import Project
from tests.spec.declarations import spec, write_project

SPEC = "anonymizations/customers.yml"


@pytest.mark.parametrize(
    ("changed", "is_seen"),
    [
        ({"alpha": 0.3}, True),
        ({"mapping": "none"}, True),
        ({"release": {"composition": "strict"}}, True),
        ({"description": "Visits of a year."}, False),
        ({"owner": {"name": "Care"}}, False),
        # What is as by default is not a change.
        ({"mapping": "class", "fidelity": None}, False),
    ],
)
def test_what_changes_the_models_changes_the_digest(
    tmp_path: Path, changed: dict[str, object], is_seen: bool
) -> None:
    project = write_project(tmp_path, spec())
    path = project / "anonymizations" / "visits.yml"
    digests = {"visits": load_spec(path).digest}
    path.write_text(f"# a word\n\n{path.read_text('utf-8')}", encoding="utf-8")
    require_generated(None, project=str(project), digests=digests)
    write_project(tmp_path, spec(**changed))
    assert (load_spec(path).digest != digests["visits"]) is is_seen
    if is_seen:
        says = r"has other levels\. Nothing was built\. Run `dbt-anon"
        with pytest.raises(SpecError, match=says):
            require_generated(None, project=str(project), digests=digests)
    else:
        require_generated(None, project=str(project), digests=digests)


def test_a_spec_that_is_wrong_or_gone_says_so(tmp_path: Path) -> None:
    project = write_project(tmp_path, spec(alpha=-1))
    for name, says in {"visits": "visits.yml: alpha: must be", "others": "must exist"}.items():
        with pytest.raises(SpecError, match=says):
            require_generated(None, project=str(project), digests={name: "of before"})


@pytest.mark.dbt
@pytest.mark.sampled_tests(group="builds")
def test_dbt_builds_nothing_of_a_spec_that_was_not_generated(consumer: Project) -> None:
    before = consumer.release_file("customers").read_bytes()
    consumer.edit(SPEC, lambda text: text.replace("{k: 4}", "{k: 40}"))
    for selected in (("build",), ("run", "-s", "customers_anonymized")):
        outcome = consumer.dbt(*selected)
        assert not outcome.succeeded
        said = " ".join(outcome.messages.split())
        assert f"{SPEC}: must be what its models were generated from; it changed since" in said
        assert "Run `dbt-anonymize generate customers`." in said
        assert "customers_microdata" not in " ".join(outcome.statuses)
    assert consumer.release_file("customers").read_bytes() == before
    # Whatever is of no spec is built as ever.
    assert consumer.dbt("seed", "-s", "customers_hierarchy_gender").succeeded
