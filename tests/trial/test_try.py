"""`dbt-anonymize try`: three alternatives of a stranger's table, of which nothing is written."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_anonymize.search import clock
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="installation")]


def files(folder: Path) -> dict[str, int]:
    """Return what lies in a project, but for what dbt itself keeps of every command."""
    return {
        str(path.relative_to(folder)): path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not {"target", "logs"} & {*path.relative_to(folder).parts}
    }


def tried(project: Project, *words: str) -> str:
    done = run("try", "customers", *words, "--project-dir", project.folder)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_nothing_is_written_until_one_is_taken_and_the_build_keeps_what_was_shown(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("--predict", "churned", "--evaluations", "60")
    before = files(consumer.folder)
    shown = tried(consumer, *asked)
    assert files(consumer.folder) == before
    assert "Nothing was written." in shown
    assert not [word for word in ("@", "Lind") if word in shown]
    # Bounded by models and work, not by seconds, the same is found again on a slow machine.
    seconds = itertools.count(0, 1000)
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    table = re.search(r" alternative\s+(?s:.*?)\n\s*\n", shown)
    assert table
    again = tried(consumer, *asked, "--name", "clients", "--take", "more-privacy")
    assert table[0] in again
    spec = load_spec(consumer.folder / "anonymizations" / "clients.yml")
    assert spec.release.effort == len(spec.efforts)
    text = (consumer.folder / "anonymizations" / "clients.yml").read_text()
    assert "`dbt-anonymize try` found" in text
    assert "lose the least" not in text.partition("guarantees:")[0]
    consumer.build("--select", "+clients_results", "clients_*")
    assert consumer.release("clients")
    found = consumer.query(
        "select k, suppressed_records from clients_results where effort > 0 order by effort"
    )
    # Class sizes and records left out were counted on all records, so the build finds the same.
    rows = re.findall(r"^\s*(\d+)\s+([\d,]+)\s+[-\d.]+", table[0], flags=re.MULTILINE)
    assert [(int(k), int(left_out.replace(",", ""))) for k, left_out in rows] == found
    # The class size of an effort is more than the spec guarantees; a recount knows of it.
    assert "k:" in text.partition("efforts:")[2].partition("guarantees:")[0]
    verified = " ".join(run("verify", "clients", "--project-dir", consumer.folder).output.split())
    assert re.search("recomputation [0-9]+ hold", verified), verified


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--predict", "nothing"), "there is no nothing"),
        (("--predict", "churned", "--name", "9"), "must start with a-z"),
    ],
)
def test_what_cannot_be_tried_is_said_in_a_line(
    consumer: Project, words: tuple[str, ...], message: str
) -> None:
    done = run("try", "customers", *words, "--project-dir", consumer.folder)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_what_tells_the_target_is_said_and_left_out_of_a_draft_that_is_written_anew(
    consumer: Project,
) -> None:
    model = consumer.folder / "models" / "called.sql"
    model.write_text("select *, churned as reason from {{ ref('customers') }}")
    words = ("try", "called", "--evaluations", "20", "--take", "more-use")
    model.write_text(
        "select *, case when churned = 'yes' and customer_id % 10 > 0 then 1 else 0 end as reason "
        "from {{ ref('customers') }}"
    )
    consumer.build("--select", "called")
    asked = (*words, "--predict", "churned", "--project-dir", consumer.folder)
    first = run(*asked)
    assert first.exit_code == 0, first.output
    assert "leave it out: --drop reason" in " ".join(first.stdout.split())
    text = (consumer.folder / "anonymizations" / "called.yml").read_text()
    assert "of the target by itself: drop it if it is only known after" in text
    assert (consumer.folder / "seeds" / "called_hierarchy_reason.csv").exists()
    refused = run(*asked, "--drop", "reason")
    assert refused.exit_code == 2
    assert "write it anew with --replace" in " ".join(refused.stderr.split())
    again = run(*asked, "--drop", "reason", "--replace")
    assert again.exit_code == 0, again.output
    assert "By itself" not in again.stdout
    spec = load_spec(consumer.folder / "anonymizations" / "called.yml")
    assert spec.columns["reason"].role == "dropped"
    assert not (consumer.folder / "seeds" / "called_hierarchy_reason.csv").exists()
