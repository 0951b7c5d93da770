"""`dbt-anonymize try`: three alternatives of a stranger's table, of which nothing is written."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbt_anonymize.extensions.drafting.commands.aim import Aim
from dbt_anonymize.extensions.search import clock
from dbt_anonymize.extensions.search.evidence import NothingLearnedError
from dbt_anonymize.extensions.trial.commands import try_
from dbt_anonymize.extensions.trial.commands.try_ import _next_steps
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.extensions.trial.shown import figures
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
    trained: list[object] = []
    search = try_._search_alternatives
    monkeypatch.setattr(
        try_, "_search_alternatives", lambda *given: trained.append(1) or search(*given)
    )
    shown = tried(consumer, *asked)
    assert files(consumer.folder) == before
    assert "Nothing was written." in shown
    assert not [word for word in ("@", "Lind") if word in shown]
    # Bounded by models and work, not by seconds, the same is found again on a slow machine.
    seconds = itertools.count(0, 1000)
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    sizes = figures(shown)
    assert sizes
    assert figures(tried(consumer, *asked)) == sizes
    assert len(trained) == 2
    taken = tried(consumer, *asked, "--name", "clients", "--take", "more-privacy", "--verbose")
    assert figures(taken) == sizes
    assert len(trained) == 2, "what was shown is taken"
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
    assert sizes == found
    # The class size of an effort is more than the spec guarantees; a recount knows of it.
    assert "k:" in text.partition("efforts:")[2].partition("guarantees:")[0]
    verified = " ".join(run("verify", "clients", "--project-dir", consumer.folder).output.split())
    assert re.search("recomputation [0-9]+ hold", verified), verified


def test_each_effort_of_a_draft_says_what_it_keeps_and_gives_up(consumer: Project) -> None:
    asked = ("--predict", "churned", "--evaluations", "200", "--name", "clients")
    taken = tried(consumer, *asked, "--take", "balanced")
    text = (consumer.folder / "anonymizations" / "clients.yml").read_text()
    spec = load_spec(consumer.folder / "anonymizations" / "clients.yml")
    efforts = text.partition("\nefforts:\n")[2].partition("\n\n")[0].splitlines()
    assert len(efforts) == len(spec.efforts) > 1
    for effort in efforts:
        assert re.search(r"}  # (more-use|balanced|more-privacy)[a-z, -]*: (keeps|leaves) ", effort)
    assert re.search("(adds|add) less than 0.002|would add [0-9.]+", text.partition("efforts:")[2])
    # What somebody needs afterwards, and no file by file.
    said = " ".join(taken.split())
    assert re.match(r"(more-use, )?balanced(, more-privacy)?: k = \d+, \d+ of 400 records", said)
    assert "Next: `dbt build`, then `dbt-anonymize results clients`." in said
    assert len(taken.splitlines()) <= 12


def test_what_is_shown_fits_a_screen(consumer: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 15 columns; records of the other alternatives are shown where they are asked for."""
    monkeypatch.setenv("COLUMNS", "80")
    model = consumer.folder / "models" / "wide.sql"
    more = ", ".join(
        f"(customer_id * {factor}) % {values} as {name}"
        for name, factor, values in (
            *(("age", 7, 60), ("rooms", 3, 9), ("children", 11, 4), ("floor", 13, 12)),
            *(("smoker", 17, 2), ("job", 19, 8), ("married", 23, 2), ("region", 29, 5)),
        )
    )
    model.write_text(f"select *, {more} from {{{{ ref('customers') }}}}")
    consumer.build("--select", "wide")
    asked = ("try", "wide", "--predict", "churned", "--evaluations", "60")
    done = run(*asked, "--project-dir", consumer.folder)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert len(lines) <= 45, done.stdout
    assert max(map(len, lines)) <= 80
    assert done.stdout.count("Five records as ") == 1
    long = run(*asked, "--verbose", "--project-dir", consumer.folder).stdout
    assert long.count("Five records as ") == len(figures(long)) > 1
    assert "; gives up " in " ".join(long.split())


def test_it_is_said_that_k_counts_people_and_how_many(consumer: Project) -> None:
    model = consumer.folder / "models" / "visits.sql"
    columns = "customer_id as visit_id, customer_id % 150 as person_id, customer_id % 60 as age"
    model.write_text(f"select {columns} from {{{{ ref('customers') }}}}")
    consumer.build("--select", "visits")
    asked = ("--purpose", "statistics", "--project-dir", consumer.folder)
    done = run("try", "visits", *asked)
    assert done.exit_code == 0, done.output
    ((people,),) = consumer.query("select count(distinct person_id) from visits")
    assert f"k counts people by person_id ({people}), not rows" in done.stdout
    assert "warehouse file" not in done.stdout, "a view holds no rows"
    customers = run("try", "customers", *asked).stdout
    assert "k counts" not in customers
    said = " ".join(customers.split())
    assert "lies in the warehouse file, which analysts open, with full name, e-mail" in said
    consumer.edit(
        "dbt_project.yml",
        lambda text: f"{text}\nseeds: {{shop: {{customers: {{+database: vault}}}}}}\n",
    )
    consumer.build("--select", "path:seeds/customers.csv")
    assert "warehouse file" not in run("try", "customers", *asked).stdout


def test_a_source_by_the_name_of_its_table_alone_is_meant(consumer: Project) -> None:
    text = "sources: [{name: crm, tables: [{name: leads}]}]\n"
    (consumer.folder / "models" / "sources.yml").write_text(text, encoding="utf-8")
    refused = run("try", "leads", "--predict", "won", "--project-dir", consumer.folder)
    assert refused.exit_code == 2
    assert "Did you mean the source crm.leads?" in " ".join(refused.stderr.split())


def test_a_column_that_must_stay_is_readable_in_every_alternative(consumer: Project) -> None:
    asked = ("--predict", "churned", "--evaluations", "60", "--name", "kept", "--replace")
    tried(consumer, *asked, "--keep", "gender,zip", "--take", "balanced")
    path = consumer.folder / "anonymizations" / "kept.yml"
    spec = load_spec(path)
    highest = {name: spec.quasi_identifiers[name].levels - 1 for name in ("zip", "gender")}
    for effort in spec.efforts:
        assert all((effort.levels or {})[name] <= level for name, level in highest.items())
    # A later search keeps them, too.
    assert {name: one.highest for name, one in spec.search.levels.items()} == highest
    again = tried(consumer, *asked, "--keep", "gender", "--keep", "zip")
    asked_again = "--keep gender --keep zip --name kept --evaluations 60 --take balanced"
    assert asked_again in " ".join(again.split())


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ("nothing", "--keep must name a column that stays readable; there is no nothing."),
        ("customer_id", "customer_id is the record key"),
        ("e-mail", "e-mail is identifier: values look like"),
        (
            "birth_date, zip,gender,order,größe,spending",
            "order, größe, spending stay readable. Leave out --keep, or keep fewer columns.",
        ),
    ],
)
def test_what_cannot_stay_is_said_in_a_line(consumer: Project, kept: str, message: str) -> None:
    words = ("--predict", "churned", "--evaluations", "5", "--keep", kept)
    done = run("try", "customers", *words, "--project-dir", consumer.folder)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.strip().splitlines()) == 1


def test_what_another_anonymization_reads_is_refused_before_anything_is_searched(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hierarchy of a draft: without its column it would be removed, with it replaced."""
    asked = (
        "--predict",
        "churned",
        "--evaluations",
        "5",
        "--name",
        "clients",
        "--take",
        "balanced",
    )
    tried(consumer, *asked)
    monkeypatch.setattr(try_, "_search_alternatives", None)
    specs = consumer.folder / "anonymizations"
    (specs / "clients.yml").rename(specs / "other.yml")
    for words, message in (
        (("--drop", "zip", "--replace"), "anonymizations/other.yml reads it too"),
        ((), "must not exist yet. Add --replace to write an earlier draft anew"),
    ):
        done = run("try", "customers", *asked, *words, "--project-dir", consumer.folder)
        assert done.exit_code == 2, done.output
        assert message in " ".join(done.stderr.split())


def test_where_nothing_is_learned_it_says_from_what(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*_: object) -> None:
        raise NothingLearnedError("models must surely learn something.")

    monkeypatch.setattr(try_, "_search_alternatives", search)
    asked = ("--predict", "churned", "--drop", "zip")
    done = run("try", "customers", *asked, "--project-dir", consumer.folder)
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert "customers: models must surely learn something. The models learned from " in said
    learned, _, left_out = said.partition("The models learned from ")[2].partition(". Left out: ")
    assert "zip" not in learned.split(", ")
    assert left_out.startswith("zip; --keep takes some of them in.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--predict", "churned", "--drop", "customer_id,e-mail"), "is the record key, and no"),
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


def test_whose_target_is_known_to_who_finds_their_class_is_said(consumer: Project) -> None:
    """Men alone may have what is predicted, so that whole classes of women share its value."""
    model = consumer.folder / "models" / "regional.sql"
    model.write_text(
        'select customer_id, birth_date, gender, zip, "order" % 2 as floor, '
        "case when gender = 'male' then churned else 'no' end as disease "
        "from {{ ref('customers') }}"
    )
    consumer.build("--select", "regional")
    asked = ("try", "regional", "--predict", "disease", "--evaluations", "60")
    done = run(*asked, "--project-dir", consumer.folder)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    found = re.search(r"In classes of which all have the same disease: ([0-9, ]+) records", said)
    assert found, said
    taken = run(
        *asked, "--name", "regional", "--take", "more-use", "--project-dir", consumer.folder
    )
    assert taken.exit_code == 0, taken.output
    consumer.build("--select", "+regional_results")
    counted = consumer.query(
        "select sum(records) filter (where not is_suppressed and majority_records = records) "
        "from regional_classes where effort > 0 group by effort order by effort"
    )
    assert [int(one) for one in found[1].split(", ")] == [one or 0 for (one,) in counted]


def test_the_next_command_has_all_that_was_asked(tmp_path: Path) -> None:
    aim = Aim(predict="pay", drop=("a b",), keep=("zip",))
    tried = SimpleNamespace(
        name="work",
        aim=aim,
        spec=SimpleNamespace(is_tested=True, target="pay"),
        trial=SimpleNamespace(is_timed=False),
    )
    place = SimpleNamespace(project=SimpleNamespace(root=tmp_path))
    options = {"name": "work", "evaluations": None, "time-limit": 9.0}
    said = _next_steps(place, "crm.people", tried, options)  # type: ignore[arg-type]
    assert (
        "`dbt-anonymize try crm.people --predict pay --drop 'a b' --keep zip --name work "
        "--time-limit 9.0 --take balanced` writes it." in said
    )


def test_what_was_shown_of_other_values_is_not_taken(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models learn from a column that nobody generalizes, too."""
    trained: list[object] = []
    search = try_._search_alternatives
    monkeypatch.setattr(
        try_, "_search_alternatives", lambda *given: trained.append(1) or search(*given)
    )
    asked = ("--predict", "churned", "--evaluations", "20", "--drop", "spending")
    tried(consumer, *asked)
    consumer.execute('update customers set "order" = "order" || 1 where customer_id % 2 = 0')
    said = "customers has changed since it was shown: it is tried anew."
    take = ("--take", "balanced", "--name", "clients", "--replace")
    assert said in " ".join(tried(consumer, *asked, *take).split())
    assert len(trained) == 2
    assert "anew" not in tried(consumer, *asked, *take)
    assert len(trained) == 2
    assert "anew" not in tried(consumer, *asked[:-2], *take), "nothing was shown of these options"
    assert len(trained) == 3


def test_what_was_shown_of_a_guessed_target_is_taken_by_the_printed_command(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = " ".join(tried(consumer, "--evaluations", "20").split())
    command = re.search("`dbt-anonymize try customers (--predict [^`]*)`", shown)
    assert command
    monkeypatch.setattr(try_, "_search_alternatives", None)
    tried(consumer, *command[1].split(), "--name", "guessed")


def test_larger_classes_are_asked_for(consumer: Project) -> None:
    asked = ("try", "customers", "--predict", "churned", "--evaluations", "20", "--name", "large")
    words = (*asked, "--take", "balanced", "--project-dir", consumer.folder)
    assert run(*words, "--k", "20").exit_code == 0
    spec = load_spec(consumer.folder / "anonymizations" / "large.yml")
    assert spec.guarantees.k_anonymity.k == 20
    refused = run(*words, "--replace")
    assert "must promise no more than a draft does, k_anonymity (k 5)" in refused.stderr
    assert run(*words, "--replace", "--k", "20").exit_code == 0
    consumer.build("--select", "+large_results")
    ks = consumer.query("select min(k) from large_privacy where effort > 0")
    assert ks[0][0] >= 20
