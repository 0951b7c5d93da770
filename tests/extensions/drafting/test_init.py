"""`dbt-anonymize init` in a stranger's project: from a table to a draft that builds."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="installation")]


def people(project: Project) -> list[str]:
    """Return the values of the seed that only one record has."""
    text = (project.folder / "seeds" / "customers.csv").read_text()
    cells = [line.split(",") for line in text.splitlines()[1:]]
    columns = list(zip(*cells, strict=True))
    return [v for c in columns for v in c if c.count(v) == 1 and len(v) > 3]


@pytest.fixture
def in_doubt(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let one column be undecided, as one that may name people."""

    def doubtful(*arguments: Any, **options: Any) -> list[Proposal]:
        return [
            replace(one, role="identifier", is_decided=False) if one.name == "order" else one
            for one in propose(*arguments, **options)
        ]

    monkeypatch.setattr("dbt_anonymize.extensions.drafting.roles.propose", doubtful)
    return "order"


def test_a_draft_that_is_taken_builds_and_releases(consumer: Project) -> None:
    folder = consumer.folder
    asked = ("--ref", "customers", "--predict", "churned", "--yes", "--project-dir", folder)
    done = run("init", "clients", *asked)
    assert done.exit_code == 0, done.output
    assert "Predicts" not in done.stdout
    path = folder / "anonymizations" / "clients.yml"
    text = path.read_text()
    assert "TODO" not in re.sub("#.*", "", text)
    spec = load_spec(path)
    assert spec.record_key == "customer_id"
    roles = {name: column.role for name, column in spec.columns.items()}
    assert roles["full name"] == roles["e-mail"] == "identifier"
    assert roles["birth_date"] == roles["zip"] == roles["gender"] == "quasi_identifier"
    assert (spec.target, roles["churned"]) == ("churned", "sensitive")
    assert (spec.quality.repetitions, spec.guarantees.declared[0][0]) == (5, "k_anonymity")
    # Each reason stands above its column, each command above its hierarchy, and counts below.
    assert "# dbt-anonymize hierarchy dates --granularities" in text
    assert "values look like e-mail addresses" in text
    assert re.search(r"#\s+[\d,]+  birth_date, zip, gender", text)
    # Two spaces stand after a first word, where words are aligned, and nowhere else.
    comments = re.findall(r"^ *#(?: +[\w,]+ {2,})?(.*)$", text, re.M)
    assert [comment for comment in comments if "  " in comment.strip()] == []
    for value in people(consumer):
        assert value not in text
        assert value not in done.output
    for column in ("birth_date", "zip"):
        declared = spec.quasi_identifiers[column]
        built = read_hierarchy(folder / "seeds" / f"{declared.ref}.csv")
        assert built.levels == declared.levels

    commands = re.findall("# dbt-anonymize (hierarchy .*)", text)
    assert len(commands) == len(spec.quasi_identifiers)
    for command in commands:
        *words, place = shlex.split(command)
        rebuilt = folder / "rebuilt.csv"
        again = run(*words, rebuilt, "--force", "--project-dir", folder)
        assert again.exit_code == 0, again.output
        assert rebuilt.read_text() == (folder / place).read_text(), command

    assert run("generate", "clients", "-q", "--project-dir", folder).exit_code == 0
    consumer.build("--select", "+clients_anonymized", "clients_hierarchy_*")
    assert consumer.release("clients")


def test_without_an_answer_what_is_undecided_stays_open(consumer: Project, in_doubt: str) -> None:
    folder = consumer.folder
    done = run("init", "clients", "--ref", "customers", "--project-dir", folder)
    assert done.exit_code == 0
    assert "decide every TODO" in done.stdout
    text = (folder / "anonymizations" / "clients.yml").read_text()
    assert "{role: TODO}  # undecided; proposed: " in text
    with pytest.raises(SpecError) as error:
        load_spec(folder / "anonymizations" / "clients.yml")
    generated = run("generate", "clients", "--project-dir", folder)
    assert generated.exit_code == 2
    assert generated.stderr.strip() == str(error.value)
    undecided = {n for n, c in yaml.safe_load(text)["columns"].items() if c["role"] == "TODO"}
    assert undecided == {in_doubt}
    lines = generated.stderr.splitlines()
    assert len(lines) == len(undecided)
    for name in undecided:
        assert sum(f"columns.{name}.role: must be decided" in line for line in lines) == 1


def test_on_a_terminal_each_undecided_column_is_asked(
    consumer: Project, monkeypatch: pytest.MonkeyPatch, in_doubt: str
) -> None:
    """A wrong answer is asked again; no answer takes what is proposed."""

    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    class System:
        stdin = Terminal

    monkeypatch.setattr("dbt_anonymize.extensions.drafting.commands.init.sys", System)
    words = ["init", "clients", "--ref", "customers", "--project-dir", str(consumer.folder)]
    done = CliRunner().invoke(app, words, input="all\nmodel\nnobody\nchurned\nnonsense\ndropped\n")
    assert done.exit_code == 0, done.output
    assert "there is no nobody" in done.output
    assert "role (identifier, quasi_identifier" in done.output
    spec = load_spec(consumer.folder / "anonymizations" / "clients.yml")
    assert spec.columns[in_doubt].role == "dropped"


def test_hierarchies_that_exist_are_kept(consumer: Project) -> None:
    seed = consumer.folder / "seeds" / "clients_hierarchy_zip.csv"
    seed.write_text("value,level_1\nmine,*\n")
    done = run("init", "clients", "--ref", "customers", "--yes", "--project-dir", consumer.folder)
    assert done.exit_code == 2
    assert "seeds/clients_hierarchy_zip.csv: must not exist yet" in done.stderr
    assert seed.read_text() == "value,level_1\nmine,*\n"
    assert not (consumer.folder / "anonymizations" / "clients.yml").exists()


def test_a_draft_is_written_anew_and_a_column_is_explained(consumer: Project) -> None:
    folder = consumer.folder
    asked = ("init", "clients", "--ref", "customers", "--yes", "--project-dir", folder)
    done = run(*asked)
    guess = "Predicts churned (guess: its name says so; --predict names another)."
    assert done.stdout.splitlines()[0] == guess
    path, zips = folder / "anonymizations/clients.yml", folder / "seeds/clients_hierarchy_zip.csv"
    assert "search: {measure: quality}" in path.read_text()
    properties = folder / "seeds/_clients_hierarchies.yml"
    properties.write_text(properties.read_text() + "  - name: clients_hierarchy_old\n")
    old = folder / "seeds/clients_hierarchy_old.csv"
    for file in (path, zips, old):
        file.write_text("mine")
    explained = run(*asked, "--explain", "zip")
    assert explained.exit_code == 0, explained.output
    assert explained.stdout.startswith("zip: quasi_identifier\n  reason: others could know it")
    assert re.search("singled out together with birth_date: [0-9,]+ record", explained.stdout)
    assert re.search("level 1: [0-9,]+ label", explained.stdout)
    assert not [value for value in people(consumer) if value in explained.stdout]
    assert path.read_text() == zips.read_text() == "mine"
    assert "there is no zap. Did you mean zip?" in run(*asked, "--explain", "zap").stderr

    other = path.with_name("other.yml")
    other.write_text("columns: {zip: {hierarchy: {ref: clients_hierarchy_zip}}}")
    done = run(*asked, "--replace")
    assert done.exit_code == 2
    assert "must not be replaced, since anonymizations/other.yml reads it too" in done.stderr
    assert path.read_text() == "mine"
    other.unlink()
    done = run(*asked, "--replace", "--purpose", "statistics")
    assert done.exit_code == 0, done.output
    assert "replaced anonymizations/clients.yml" in done.stdout
    assert "replaced seeds/clients_hierarchy_zip.csv" in done.stdout
    assert "removed seeds/clients_hierarchy_old.csv" in done.stdout
    assert not old.exists()
    spec = load_spec(path)
    assert spec.search.measure == "loss"
    assert getattr(spec, "fidelity", "") is not None  # where the extension is here
    # What somebody promises is not written over by what a draft does.
    path.write_text(path.read_text().replace("k_anonymity: {k: 5}", "k_anonymity: {k: 20}"))
    promised = path.read_text()
    refused = run(*asked, "--replace", "--purpose", "statistics")
    assert refused.exit_code == 2
    assert "it promises k_anonymity (k 20)" in " ".join(refused.stderr.split())
    assert path.read_text() == promised
    assert (spec.is_tested, spec.features, spec.alpha) == (False, (), None)


def test_tables_with_little_in_them_are_drafted(consumer: Project) -> None:
    """No record, one record, NULLs, numbers that are all the same, types of their own."""
    models: dict[str, str] = {
        "nobody": "select 1 as id, 'x' as name, cast('2024-01-01' as date) as born where false",
        "somebody": "select 1 as id, 'x' as name, cast(null as integer) as age, [1] as list",
        "alike": "select i as id, 30 as age, cast(null as date) as born from range(9) as t(i)",
        "typed": (
            "select i as id, uuid() as code, cast('a' as enum('a', 'b')) as kind, "
            "time '10:00' as t, interval 3 days as iv, {'a': i} as st, 'x'::blob as bl, "
            "1.5::decimal(38, 5) as dec, now() as tz from range(9) as t(i)"
        ),
        "stays": (
            "select i as id, 700 + i // 10 as patient_no, 30 + i // 10 % 9 as age, "
            "if(i // 10 % 2 = 0, 'Ann Lind', 'Bo') as carer, "
            "if(i // 10 % 5 = 0, 'yes', 'no') as insurance, "
            "cast(if(i % 2 = 0, 'Ann Lind', 'Bo') as enum('Ann Lind', 'Bo')) as nurse "
            "from range(600) as t(i)"
        ),
        "infinite": "select i as id, cast('nan' as double) + i % 2 as height from range(9) as t(i)",
    }
    for name, sql in models.items():
        (consumer.folder / "models" / f"{name}.sql").write_text(sql)
    consumer.build("--select", *models)
    refused = {
        "nobody": "nobody: must hold records; it has none. Load it first.",
        "somebody": "somebody: must have a column that is unique and never NULL",
        "alike": "alike: must have a column that models predict",
        "typed": "typed: must have a column that models predict",
        "infinite": "infinite: must have a column that models predict",
    }
    for name in models:
        asked = ("init", f"of_{name}", "--ref", name, "--project-dir", consumer.folder)
        done = run(*asked, "--yes")
        assert done.exit_code == (2 if name in refused else 0), (name, done.output)
        if name in refused:
            assert refused[name] in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert not (consumer.folder / "anonymizations" / f"of_{name}.yml").exists()
            if name == "nobody":
                continue
            assert run(*asked).exit_code == 0
        drafted: Path = consumer.folder / "anonymizations" / f"of_{name}.yml"
        text = drafted.read_text()
        assert yaml.safe_load(text)["name"] == f"of_{name}"
        # Parameters of a type are values of people.
        assert "Ann" not in text + done.output
    spec = load_spec(consumer.folder / "anonymizations" / "of_stays.yml")
    assert (spec.subject, spec.columns["patient_no"].role) == ("patient_no", "identifier")
    assert (spec.target, spec.columns["carer"].role) == ("insurance", "identifier")
    # Efforts keep k people, not records.
    assert spec.efforts
    assert all((effort.levels or {})["age"] > 0 for effort in spec.efforts)


def test_an_empty_text_is_generalized_like_null(consumer: Project) -> None:
    """A seed cannot hold it, so the draft declares what the core has for it."""
    folder = consumer.folder
    (folder / "models" / "births.sql").write_text(
        "select 'B' || i as birth_no, if(i % 7 = 0, '', (i * i % 5)::varchar) as cigs, "
        "case i % 33 when 0 then '' when 11 then ' ' when 22 then 'Null' "
        "else (10001 + i % 40)::varchar end as zip, 18 + i * i % 31 as age "
        "from range(600) as t(i)"
    )
    consumer.build("--select", "births")
    place = ("--project-dir", folder)
    explained = run("init", "births", "--ref", "births", "--explain", "zip", *place)
    assert "empty texts: 55 records" in explained.stdout
    assert 'unknown: "*" in the spec' in explained.stdout
    done = run("init", "births", "--ref", "births", "--purpose", "statistics", "--yes", *place)
    assert done.exit_code == 0, done.output
    spec = load_spec(folder / "anonymizations" / "births.yml")
    unknown = {name: tree.unknown for name, tree in spec.quasi_identifiers.items()}
    assert unknown == {"cigs": "*", "zip": "*", "age": None}
    assert run("generate", "births", *place).exit_code == 0
    consumer.build("--select", "births_hierarchy_*", "path:models/births")
    checked = run("verify", "births", *place)
    assert checked.exit_code == 0, checked.output


def test_a_table_without_a_key_is_numbered_as_its_message_says(consumer: Project) -> None:
    model = consumer.folder / "models" / "visits.sql"
    model.write_text("select 30 + i % 9 as age, i % 2 = 0 as ill from range(90) as t(i)")
    consumer.build("--select", "visits")
    asked = ("--predict", "ill", "--yes", "--project-dir", consumer.folder)
    refused = run("init", "visits", "--ref", "visits", *asked)
    assert refused.exit_code == 2
    file, sql = re.search(r"write (models/\S+\.sql), `(.+?)`", refused.stderr).groups()
    (consumer.folder / file).write_text(sql)
    consumer.build("--select", "visits_numbered")
    drafted = run("init", "visits", "--ref", "visits_numbered", *asked)
    assert drafted.exit_code == 0, drafted.output
    assert "record_key: record_no" in (consumer.folder / "anonymizations/visits.yml").read_text()
