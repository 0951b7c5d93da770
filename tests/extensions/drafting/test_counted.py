"""`dbt-anonymize init --dimensions`: from a table to a spec that releases counts."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.counted import with_kept_dimensions
from dbt_anonymize.extensions.drafting.counted_columns import FEW, check_shown, propose_counted
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.plans import number_plan
from dbt_anonymize.extensions.drafting.table import Draft
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_spec
from dbt_anonymize.verify.run import verify
from tests.cli.conftest import run
from tests.docs.pages import DOCS
from tests.extensions.drafting.test_init import people
from tests.projects import Project

pytestmark = pytest.mark.needs("tables")
NAME = "counts"
SEED = "seeds/customers.csv"
# Whole numbers in such a range are leaves of their own.
ONE_BY_ONE = 13


def fact(name: str, kind: Any = "text", distinct: int = 4, **more: Any) -> ColumnFacts:
    return ColumnFacts(
        name, {"number": "integer"}.get(kind, kind), kind, 900, 900, distinct, **more
    )


FACTS = [
    fact("visit_id", "number", 900),
    fact("patient_name", distinct=700),
    fact("age", "number", 60),
    fact("treatment"),
    fact("diagnosis", distinct=40),
    fact("doctor", distinct=30, longest=20),
    fact("station", distinct=5, follows=("ward",)),
    fact("ward", distinct=8),
    fact("notes", distinct=300, phrases=290),
    fact("codes", "other", 0),
    fact("cost", "number", 500),
    fact("admitted", "timestamp", 400),
    fact("discharged", "timestamp", 4, singled=0),
]


def roles(*dimensions: str, sums: tuple[str, ...] = ()) -> dict[str, str]:
    proposals, *_ = propose_counted(FACTS, dimensions, sums)
    return {one.name: one.role for one in proposals}


def test_what_the_table_does_not_show_is_dropped_but_for_identifiers() -> None:
    found = roles("age", "treatment")
    assert {name for name, role in found.items() if role != "dropped"} == {
        *("visit_id", "patient_name", "age", "treatment")
    }
    assert (found["visit_id"], found["patient_name"]) == ("record_key", "identifier")
    assert (found["age"], found["treatment"]) == ("quasi_identifier", "sensitive")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("diagnosis", "quasi_identifier"),  # sensitive, with more labels than a table has room for
        ("doctor", "quasi_identifier"),  # undecided
        ("station", "quasi_identifier"),  # dropped beside the column from which it follows
        ("admitted", "quasi_identifier"),  # under a mask elsewhere
        ("discharged", "insensitive"),  # of few values
    ],
)
def test_a_dimension_is_shown_as_it_is_or_by_a_hierarchy(name: str, role: str) -> None:
    proposals, *_ = propose_counted(FACTS, ["age", "ward", name], [])
    (found,) = (one for one in proposals if one.name == name)
    assert (found.role, found.mask) == (role, None)


def test_few_whole_numbers_are_shown_one_by_one_or_coarser() -> None:
    """A hierarchy lets an effort make them coarser; its finest level is what they are."""
    years = fact("year", "number", 5)
    proposals, *_ = propose_counted([FACTS[0], years], ["year"], [])
    assert [one.role for one in proposals] == ["record_key", "quasi_identifier"]
    for first in (0, 1984):
        records = {Decimal(first + place): 9 for place in range(ONE_BY_ONE)}
        built, _ = number_plan("year", records)
        assert [*map(int, built.labels[0])] == [*records]


def test_the_page_says_which_dimensions_are_shown_as_they_are() -> None:
    said = " ".join((DOCS / "extensions" / "tables.md").read_text(encoding="utf-8").split())
    assert FEW == 10
    assert "have a hierarchy, also with few values, so that efforts can be coarser" in said
    assert f"whole numbers within a range of {ONE_BY_ONE} one by one" in said
    assert "Others are shown as they are with up to ten values, else by a hierarchy" in said


def test_one_dimension_has_a_hierarchy_if_none_needs_it() -> None:
    facts = [FACTS[0], fact("treatment"), fact("disease", distinct=7)]
    proposals, *_ = propose_counted(facts, ["treatment", "disease"], [])
    assert [one.role for one in proposals] == ["record_key", "sensitive", "quasi_identifier"]


def test_sums_are_kept_columns_whatever_they_are_elsewhere() -> None:
    assert roles("age", sums=("cost",))["cost"] == "insensitive"


REFUSED = {
    "visit_id": "visit_id is the record key: every record has another value. Make groups",
    "patient_name": "patient_name is an identifier, which is never released: its name says so.",
    "notes": "notes is free text, which may name anybody. Make groups of it in a model before",
    "codes": "codes is of the type other. Cast it in a model before.",
    "aeg": "there is no aeg. Did you mean age?",
    "age,treatment,age": "must name each column once; age is there twice.",
}


@pytest.mark.parametrize(("names", "message"), REFUSED.items(), ids=[*REFUSED])
def test_what_cannot_be_shown_is_refused_with_a_remedy(names: str, message: str) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        propose_counted(FACTS, [names], [])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("treatment", "treatment is of the type text."),
        ("visit_id", "visit_id is the record key."),
        ("age", "must name each column once; age is there twice."),
    ],
)
def test_what_cannot_be_added_up_is_refused(name: str, message: str) -> None:
    with pytest.raises(SpecError, match=re.escape(message)):
        propose_counted(FACTS, ["age"], [name])


def test_a_person_may_not_leave_out_what_is_shown() -> None:
    proposals, *_ = propose_counted(FACTS, ["age", "ward"], [])
    check_shown(proposals, ["age", "ward"])
    with pytest.raises(SpecError, match="columns that are shown; treatment is dropped"):
        check_shown(proposals, ["age", "treatment"])


def test_a_dimension_that_no_hierarchy_fits_is_shown_if_it_has_few_values() -> None:
    proposals, *_ = propose_counted(FACTS, ["ward", "station"], [])
    plan: Any = object()
    drafted = Draft(proposals, {"ward": plan}, {"station": "station: must be else."}, [], [])
    found = {one.name: one.role for one in with_kept_dimensions(drafted).proposals}
    assert (found["ward"], found["station"]) == ("quasi_identifier", "insensitive")
    for failed in (
        replace(drafted, plans={}),
        replace(drafted, failed={"age": "age: must be otherwise."}),
    ):
        with pytest.raises(SpecError, match=r"columns that a table can show\. (station|age): must"):
            with_kept_dimensions(failed)


def init(project: Project, *options: str) -> Any:
    asked = ("--ref", "customers", *options, "--project-dir", project.folder)
    return run("init", NAME, *asked)


def spec_file(project: Project) -> Path:
    return project.folder / "anonymizations" / f"{NAME}.yml"


def _verified(project: Project) -> set[str]:
    """Return the checks that hold; one warns of the records that the project releases, too."""
    *found, beside = verify(find_project(project.folder), load_spec(spec_file(project)))
    assert beside.status == "warning"
    assert [one.message for one in found if one.holds is False] == []
    return {one.check for one in found if one.holds}


@pytest.mark.dbt
@pytest.mark.sampled_tests(group="builds")
def test_a_drafted_table_is_built_released_and_verified(consumer: Project) -> None:
    done = init(consumer, "--dimensions", "birth_date,zip,churned", "--yes")
    assert done.exit_code == 0, done.output
    path = spec_file(consumer)
    text = path.read_text()
    assert "TODO" not in re.sub("#.*", "", text)
    assert "4 other columns dropped" in done.output
    for value in people(consumer):
        assert value not in text + done.output
    raw = yaml.safe_load(text)
    assert not {*raw} & {"efforts", "guarantees", "quality", "target", "features", "search"}
    assert [one["method"] for one in raw["table"]["efforts"]][-2:] == ["noise", "round"]
    generate(consumer.folder, [NAME])
    consumer.build("--select", f"+path:models/{NAME}")
    chosen = consumer.query(f"select reason from {NAME}_table_results where is_chosen")
    assert chosen == [("chosen: the best Q of those that protect enough",)]
    shown = run("results", NAME, "--project-dir", consumer.folder)
    assert shown.exit_code == 0, shown.output
    assert "recomputation" in _verified(consumer)
    again = init(consumer, "--dimensions", "zip,gender", "--replace", "--yes")
    assert "removed seeds/counts_hierarchy_birth_date.csv" in again.output


@pytest.mark.dbt
@pytest.mark.sampled_tests(group="builds")
def test_sums_of_many_digits_add_up_for_verify_too(consumer: Project) -> None:
    """Each sum is rounded by itself."""
    consumer.edit(
        SEED, lambda text: re.sub(r"(\.\d\d),(yes|no)$", r"\g<1>123457,\2", text, flags=re.M)
    )
    consumer.dbt("seed", "--select", "customers")
    done = init(consumer, "--dimensions", "zip,churned", "--sums", "spending", "--yes")
    assert done.exit_code == 0, done.output
    generate(consumer.folder, [NAME])
    consumer.build("--select", f"+path:models/{NAME}")
    assert {"recomputation", "guarantees"} <= _verified(consumer)


@pytest.mark.dbt
def test_sums_names_and_subjects_of_a_strangers_table(consumer: Project) -> None:
    done = init(consumer, "--dimensions", "größe,Order", "--sums", "spending", "--yes")
    assert done.exit_code == 0, done.output
    table: Any = load_spec(spec_file(consumer)).model_dump()["table"]
    assert (table["dimensions"], table["sums"]) == (("größe", "order"), ("spending",))
    assert {one["method"] for one in table["efforts"]} == {"hide"}

    consumer.edit(SEED, _with_second_records)
    consumer.dbt("seed", "--select", "customers")
    done = init(consumer, "--dimensions", "zip,churned", "--yes", "--replace")
    assert done.exit_code == 0, done.output
    said = "subject: e-mail, since 600 records are of 400, who decide which cells are small."
    assert said in done.output
    spec: Any = load_spec(spec_file(consumer))
    assert spec.subject == "e-mail"
    assert {one.method for one in spec.table.efforts} == {"noise", "round"}

    sums = init(consumer, "--dimensions", "zip,churned", "--sums", "spending", "--yes", "--replace")
    assert sums.exit_code == 0, sums.output
    spec = load_spec(spec_file(consumer))
    assert spec.table.counts == "records"
    assert {one.method for one in spec.table.efforts} == {"hide"}


def _with_second_records(text: str) -> str:
    """Give every second customer another record."""
    heading, *rows = csv.reader(io.StringIO(text))
    more = [[f"{500_000 + place}", *row[1:]] for place, row in enumerate(rows) if place % 2]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([heading, *rows, *more])
    return out.getvalue()


@pytest.mark.dbt
def test_what_is_undecided_is_left_to_a_person(consumer: Project) -> None:
    consumer.execute("alter table customers rename column zip to manager")
    done = init(consumer, "--dimensions", "manager,churned")
    assert done.exit_code == 0, done.output
    assert "decide every TODO" in done.output
    assert "{role: TODO}  # undecided; proposed: insensitive" in spec_file(consumer).read_text()


@pytest.mark.dbt
def test_nothing_is_written_where_a_table_cannot_be_drafted(
    consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {*consumer.folder.rglob("*.yml"), *consumer.folder.rglob("*.csv")}
    refused = [
        (["--sums", "spending"], "--sums are sums of a table, which needs --dimensions"),
        (["--dimensions", "zip", "--predict", "churned"], "--predict is of no use"),
        (["--dimensions", "zip", "--explain", "zip"], "--explain is of no use"),
        (["--dimensions", "zip", "--purpose", "statistics"], "--purpose is of no use"),
        (["--dimensions", "e-mail"], "is an identifier, which is never released"),
    ]
    for options, message in refused:
        done = init(consumer, *options, "--yes")
        assert done.exit_code == 2, done.output
        assert message in " ".join(done.output.split())
    consumer.execute("alter table customers rename column gender to people")
    consumer.execute("update customers set spending = -1 where customer_id % 2 = 0")
    for options, message in (
        (["zip,people"], "must leave to the table the names of its own columns"),
        (["zip", "--sums", "spending"], "must name columns of amounts of at least 0"),
    ):
        done = init(consumer, "--dimensions", *options, "--yes")
        assert done.exit_code == 2, done.output
        assert message in " ".join(done.output.split())
    monkeypatch.setattr("dbt_anonymize.extensions.drafting.counted.draft_of", lambda _: None)
    done = init(consumer, "--dimensions", "zip")
    assert done.exit_code == 2
    assert "It belongs to the extension tables, which is not here" in " ".join(done.output.split())
    assert before == {*consumer.folder.rglob("*.yml"), *consumer.folder.rglob("*.csv")}
