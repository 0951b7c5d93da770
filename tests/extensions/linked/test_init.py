"""`dbt-anonymize init --linked`: from tests and foreign keys to a spec that builds."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.extensions.linked import hospital
from tests.projects import Project, copy_consumer

linked_tables = pytest.importorskip("dbt_anonymize.extensions.drafting.linked_tables")
pytestmark = [pytest.mark.dbt, pytest.mark.needs("drafting")]
TABLES = ("clinic_patients", "clinic_stays", "clinic_results")
SHOP = """
create table raw.customers (customer_no varchar primary key, birth_date date, churned boolean);
create table raw.products (product integer primary key);
create table raw.orders (
    order_no varchar primary key, customer_no varchar references raw.customers (customer_no),
    ordered_at timestamp, total decimal(10, 2)
);
create table raw.order_items (
    item bigint primary key, order_no varchar references raw.orders (order_no),
    product integer references raw.products (product), quantity integer
);
create table raw.returns (
    return_no integer primary key, order_no varchar references raw.orders (order_no),
    customer_no varchar references raw.customers (customer_no), reason varchar
);
insert into raw.customers select 'C' || n, date '1950-01-01' + (97 * n % 15000)::integer, n % 3 = 0
from range(300) as t(n);
insert into raw.products select n from range(8) as t(n);
insert into raw.orders
select 'O' || n, 'C' || (7 * n % 300), timestamp '2024-01-01' + interval (37 * n) minute, n * 1.25
from range(900) as t(n);
insert into raw.order_items select n, 'O' || (n % 900), n % 8, n % 5 from range(1800) as t(n);
insert into raw.returns select n, 'O' || n, 'C' || (7 * n % 300), 'late' || n % 3
from range(90) as t(n);
"""


def linked_by(column: str, parent: str) -> dict[str, Any]:
    arguments = {"to": f"ref('{parent}')", "field": column}
    return {"name": column, "data_tests": [{"relationships": {"arguments": arguments}}]}


def leads_to_customers() -> dict[str, Any]:
    arguments = {"to": "source('raw', 'customers')", "field": "customer_no"}
    return {"relationships": {"arguments": arguments}}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = hospital.write(tmp_path_factory.mktemp("clinic") / "project")
    folder = project.folder
    for name in hospital.HIERARCHIES:
        (folder / "seeds" / f"{name}.csv").unlink()
    (folder / "anonymizations" / "hospital.yml").unlink()
    shutil.rmtree(folder / "models" / "customers")
    for path in (folder / "models").glob("*anonymization_results*"):
        path.unlink()
    columns = {
        "clinic_stays": [linked_by("patient_id", "clinic_patients")],
        "clinic_results": [linked_by("stay_id", "clinic_stays")],
    }
    path = folder / "seeds" / "hospital.yml"
    properties = yaml.safe_load(path.read_text())
    for seed in properties["seeds"]:
        seed["columns"] = columns.get(seed["name"], [])
    path.write_text(yaml.safe_dump(properties))
    assert project.dbt("seed", "-s", *TABLES).succeeded
    return project


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = copy_consumer(tmp_path_factory.mktemp("shop") / "project")
    tables = ["customers", "products", "orders", "order_items", "returns"]
    sources = [{"name": "raw", "tables": [{"name": name} for name in tables]}]
    text = yaml.safe_dump({"sources": sources})
    (project.folder / "models" / "raw.yml").write_text(text)
    project.execute(f"create schema raw; {SHOP}")
    return project


def draft(project: Project, name: str, *options: str, yes: bool = True) -> Any:
    words = ["--project-dir", project.folder, *(["--yes"] if yes else [])]
    return run("init", name, *words, *options)


def test_a_draft_from_tests_builds_and_releases_tables_that_join(clinic: Project) -> None:
    """Nothing is edited between the draft and the release."""
    done = draft(clinic, "hospital", "--ref", "clinic_patients", "--linked", "all")
    assert done.exit_code == 0, done.output
    spec = load_spec(clinic.folder / "anonymizations" / "hospital.yml")
    assert spec.linked is not None
    assert (spec.mapping, spec.linked.known_records) == ("token", linked_tables.KNOWN_RECORDS)
    assert spec.qnf == "1 - 1/least(k, 5)"
    stays, results = spec.linked_tables["stays"], spec.linked_tables["results"]
    assert (stays.key, stays.to_subject) == ("stay_id", "patient_id")
    assert (results.key, results.to_subject) == ("result_id", {"stays": "stay_id"})
    assert (stays.suppression_limit, [*stays.quasi_identifiers]) == (
        linked_tables.LINKED_LIMIT,
        ["ward", "month"],
    )
    assert stays.columns["cost"].role == results.columns["value"].role == "insensitive"
    assert results.columns["note"].role == "dropped"
    assert [*spec.linked_features] == [
        *("stays_count", "stays_mean_cost", "results_count", "results_mean_value")
    ]
    assert "search hospital` then finds the levels that lose the least." in " ".join(
        done.output.split()
    )
    assert "stays: 636 records, each of a person by patient_id; key stay_id" in done.output

    generate(clinic.folder, ["hospital"])
    clinic.build("-s", "+hospital_anonymized", "--exclude", "resource_type:test")
    lost = "select max(lost_share) from hospital_linked_losses where lost_share <= largest_share"
    assert clinic.query(lost)[0][0] is not None
    joined = """
        select count(*) from release_hospital.hospital_released_results
        join release_hospital.hospital_released_stays using (stays_key)
        join release_hospital.hospital_anonymized using (token)
    """
    assert clinic.query(joined)[0][0] > 0


def test_without_the_option_one_line_says_which_tables_lead_there(clinic: Project) -> None:
    done = draft(clinic, "plain", "--ref", "clinic_patients")
    assert "stays (patient_id), results (stay_id over stays) lead to these records" in done.output
    assert "add --linked stays,results." in done.output
    assert "linked:" not in (clinic.folder / "anonymizations" / "plain.yml").read_text()
    lonely = draft(clinic, "lonely", "--ref", "clinic_results", yes=False)
    assert "--linked" not in lonely.output


def test_an_undecided_draft_has_todos_and_efforts(clinic: Project, monkeypatch: Any) -> None:

    def doubtful(*arguments: Any) -> Any:
        return [
            linked_tables.replace(one, is_decided=one.name != "ward") for one in plain(*arguments)
        ]

    plain = linked_tables.propose_linked
    monkeypatch.setattr(linked_tables, "propose_linked", doubtful)
    done = draft(clinic, "open", "--ref", "clinic_patients", "--linked", "stays", yes=False)
    assert "stays.ward: quasi_identifier (undecided)" in done.output
    text = (clinic.folder / "anonymizations" / "open.yml").read_text()
    assert re.search(r"        ward: \{role: TODO\}  # undecided; proposed: quasi_identifier", text)
    assert "Remove the levels of columns of which you decide another role" in text
    assert all("ward" in one["linked"]["stays"] for one in yaml.safe_load(text)["efforts"])


def test_statistics_have_linked_tables_and_no_models(clinic: Project) -> None:
    options = ("--ref", "clinic_patients", "--purpose", "statistics", "--linked", "stays")
    assert draft(clinic, "counts", *options).exit_code == 0
    spec = load_spec(clinic.folder / "anonymizations" / "counts.yml")
    assert (spec.target, [*spec.linked_tables], spec.linked_features) == (None, ["stays"], {})
    generate(clinic.folder, ["counts"])
    clinic.build("-s", "+counts_anonymized", "--exclude", "resource_type:test")
    shown = " ".join(run("results", "counts", "--project-dir", clinic.folder).output.split())
    ((mean, qf),) = clinic.query(
        "select (own.loss + linked.loss) / 2, 1 - qf_mean "
        "from counts_information_loss as own join counts_linked_losses as linked using (effort) "
        "join counts_results using (effort) where is_chosen"
    )
    assert qf == pytest.approx(mean, abs=1e-9)
    assert "QF is 1 - loss, the mean over the people's own table and each linked one." in shown


def test_foreign_keys_lead_to_a_draft(shop: Project) -> None:
    """Tables that are looked up are not taken, and one with two paths only by its column."""
    options = ("--source", "raw.customers", "--predict", "churned")
    done = draft(shop, "crm", *options, "--linked", "all")
    assert done.exit_code == 0, done.output
    assert "returns leads to a person by more than one path, returns (customer_no)" in done.output
    spec = load_spec(shop.folder / "anonymizations" / "crm.yml")
    assert [*spec.linked_tables] == ["orders", "order_items"]
    orders = spec.linked_tables["orders"]
    assert orders.source.source == ("raw", "orders")
    assert orders.columns["ordered_at"].role == "quasi_identifier"
    assert orders.columns["total"].role == "insensitive"

    chosen = draft(shop, "sent_back", *options, "--linked", "all,returns:order_no")
    assert "more than one path" not in chosen.output
    spec = load_spec(shop.folder / "anonymizations" / "sent_back.yml")
    assert spec.linked_tables["returns"].to_subject == {"orders": "order_no"}
    assert spec.linked_tables["returns"].columns["customer_no"].role == "dropped"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--linked", "visits"), "or all; visits is none. Such tables are orders,"),
        (("--linked", "order_items"), "--linked must name orders too: order_items leads over it"),
        (("--linked", "orders,returns"), "Add the column to be followed, for example returns:"),
        (("--linked", "all", "--categories", "target"), "leave --linked or it out"),
    ],
)
def test_wrong_options_are_told(shop: Project, options: tuple[str, ...], message: str) -> None:
    done = draft(shop, "wrong", "--source", "raw.customers", "--predict", "churned", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (shop.folder / "anonymizations" / "wrong.yml").exists()


def test_a_table_of_counts_has_no_linked_tables(shop: Project) -> None:
    options = ("--dimensions", "birth_date", "--linked", "all")
    done = draft(shop, "wrong", "--source", "raw.customers", *options)
    assert "table of counts, for which --linked is of no use" in " ".join(done.output.split())


def test_without_the_extension_nothing_offers_the_option(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts = "dbt_anonymize.extensions.drafting.linked_efforts.draft_of"
    monkeypatch.setattr(efforts, lambda _: None)
    options = ("--source", "raw.customers", "--predict", "churned")
    assert "--linked" not in draft(shop, "alone", *options).output
    done = draft(shop, "missing", *options, "--linked", "all")
    assert "It belongs to the extension linked, which is not here." in done.output


def test_links_that_a_build_cannot_follow_are_told(shop: Project) -> None:
    shop.execute(
        "create table raw.visits as select n as visit, 'C' || n as customer_no, n % 3 as page"
        " from range(400) as t(n)"
    )
    declared = {
        "sources": [{"name": "web", "schema": "raw", "tables": [{"name": "visits", "columns": []}]}]
    }
    columns = [{"name": "customer_no", "data_tests": [leads_to_customers()]}]
    declared["sources"][0]["tables"][0]["columns"] = columns  # type: ignore[index]
    (shop.folder / "models" / "web.yml").write_text(yaml.safe_dump(declared))
    options = ("--source", "raw.customers", "--predict", "churned", "--linked", "visits")
    done = draft(shop, "web", *options)
    said = " ".join(done.output.split())
    assert "visits: not taken, since it has 100 records without customer_no, or with one" in said
    assert "--linked must name tables with something that others could know" in said


def test_numbers_that_say_when_are_known_of_a_record(shop: Project) -> None:
    """Days since admission find a person as dates do; what was measured on them does not."""
    shop.execute(
        "create table raw.readings as select n as reading_no, 'C' || n % 300 as customer_no, "
        "n % 3 as page, 13 * n % 701 as days_since, 17 * n % 601 as reading from range(1500) t(n)"
    )
    column = {"name": "customer_no", "data_tests": [leads_to_customers()]}
    source = {"name": "logs", "schema": "raw", "tables": [{"name": "readings"}]}
    source["tables"][0]["columns"] = [column]  # type: ignore[index]
    (shop.folder / "models" / "logs.yml").write_text(yaml.safe_dump({"sources": [source]}))

    options = ("--source", "raw.customers", "--predict", "churned", "--linked", "readings")
    done = draft(shop, "logged", *options)

    assert done.exit_code == 0, done.output
    spec = load_spec(shop.folder / "anonymizations" / "logged.yml")
    roles = {name: one.role for name, one in spec.linked_tables["readings"].columns.items()}
    known = dict.fromkeys(("page", "days_since"), "quasi_identifier")
    assert roles == {**known, "reading": "insensitive"}


def test_pay_of_a_linked_record_is_known_as_that_of_the_own_table(shop: Project) -> None:
    """An employer knows a wage of each year: it is generalized, and no feature is its mean."""
    shop.execute(
        "create table raw.jobs as select n as job_no, 'C' || n % 300 as customer_no, "
        "n % 3 as branch_size, 13 * n % 701 + 900.5 as lwage, 17 * n % 601 as reading, "
        "19 * n % 801 as account_balance from range(1500) t(n)"
    )
    column = {"name": "customer_no", "data_tests": [leads_to_customers()]}
    source = {"name": "pay", "schema": "raw", "tables": [{"name": "jobs"}]}
    source["tables"][0]["columns"] = [column]  # type: ignore[index]
    (shop.folder / "models" / "pay.yml").write_text(yaml.safe_dump({"sources": [source]}))

    options = ("--source", "raw.customers", "--predict", "churned", "--linked", "jobs")
    done = draft(shop, "paid", *options)

    assert done.exit_code == 0, done.output
    spec = load_spec(shop.folder / "anonymizations" / "paid.yml")
    columns = spec.linked_tables["jobs"].columns
    known = dict.fromkeys(("branch_size", "lwage", "account_balance"), "quasi_identifier")
    assert {name: one.role for name, one in columns.items()} == {**known, "reading": "insensitive"}
    assert columns["lwage"].hierarchy is not None
    assert [*spec.linked_features] == ["jobs_count", "jobs_mean_reading"]
    assert "an employer, bank or insurer knows it" in done.output
    assert "jobs.lwage: quasi_identifier" in done.output
    assert "mask" not in done.output.partition("jobs.lwage")[2].partition("jobs.reading")[0]


def test_features_that_tell_the_target_are_left_out(shop: Project) -> None:
    """Numbers of records and means are asked what columns of the own table are asked."""
    shop.execute(
        "create table raw.calls as select n as call_no, 'C' || n % 300 as customer_no, "
        "n % 4 as page, n % 700 + case when n % 3 = 0 then 5000 else 0 end as minutes_lost, "
        "17 * n % 601 as reading from range(1500) t(n);"
        "create table raw.replies as select n as reply_no, n % 600 as call_no, n % 4 as page, "
        "13 * n % 503 as reading from range(1800) t(n) where n % 600 % 3 = 0 or n < 900"
    )
    lead = {"relationships": {"arguments": {"to": "source('told', 'calls')", "field": "call_no"}}}
    calls = {"name": "calls", "columns": [{"name": "customer_no"}, {"name": "call_no"}]}
    calls["columns"][0]["data_tests"] = [leads_to_customers()]  # type: ignore[index]
    replies = {"name": "replies", "columns": [{"name": "call_no", "data_tests": [lead]}]}
    source = {"name": "told", "schema": "raw", "tables": [calls, replies]}
    (shop.folder / "models" / "told.yml").write_text(yaml.safe_dump({"sources": [source]}))

    options = ("--source", "raw.customers", "--predict", "churned", "--linked", "calls,replies")
    done = draft(shop, "told", *options)

    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    spec = load_spec(shop.folder / "anonymizations" / "told.yml")
    assert spec.linked_tables["calls"].columns["minutes_lost"].role == "insensitive"
    features = {*spec.linked_features}
    assert features == {"calls_count", "calls_mean_reading", "replies_mean_reading"}
    assert "calls: the mean of minutes_lost is no feature: models would learn little else" in said
    assert "replies: the number of records is no feature" in said
