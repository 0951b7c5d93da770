"""Features of dbt work for generated models as for any other: in a stranger's project."""

from __future__ import annotations

import functools
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
from tests.docs.pages import DOCS
from tests.extensions import has
from tests.projects import Project

builds = pytest.mark.sampled_tests(group="builds")
UNREAD = "#999999"
RELEASE = ("customers_anonymized", "customers_identifiers")


@pytest.fixture(scope="module")
def manifest(built_consumer: Project) -> dict[str, Any]:
    text = (built_consumer.folder / "target" / "manifest.json").read_text(encoding="utf-8")
    read: dict[str, Any] = json.loads(text)
    return read


def of_type(manifest: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {n["name"]: n for n in manifest["nodes"].values() if n["resource_type"] == kind}


def selected(project: Project, selection: str, *more: str) -> set[str]:
    """Return the names of what dbt selects."""
    command = ("ls", "--resource-type", "model", "--output", "name", "--select", selection)
    outcome = project.dbt(*command, *more)
    assert outcome.succeeded, outcome.messages
    return {line for line in outcome.messages.split("\n") if re.fullmatch(r"\w+", line)}


def test_every_model_has_tags_a_group_and_an_owner(manifest: dict[str, Any]) -> None:
    groups = {group["name"]: group["owner"] for group in manifest["groups"].values()}
    owner = {"name": "Customer care", "email": "care@shop.example"}
    assert {n: {k: o[k] for k in owner} for n, o in groups.items()} == {
        "customers_anonymization": owner,
        "customers_custodians": owner,
    }
    for name, model in of_type(manifest, "model").items():
        of_all = name == "anonymization_results"
        assert model["tags"] == ["dbt_anonymize", *([] if of_all else ["customers"])], name
        in_vault = name == "customers_identifiers"
        expected = "customers_custodians" if in_vault else "customers_anonymization"
        assert model["group"] == (None if of_all else expected), name


def test_everything_is_described(manifest: dict[str, Any]) -> None:
    kinds = ("model", "seed", "test")
    nodes = [(n, node) for kind in kinds for n, node in of_type(manifest, kind).items()]
    nodes += [(n["name"], n) for n in manifest["exposures"].values()]
    nodes += [
        (name, macro)
        for name, macro in manifest["macros"].items()
        if name.startswith("macro.dbt_anonymize.test_")
    ]
    assert len(nodes) > 40
    assert [name for name, node in nodes if not node["description"]] == []


def test_the_release_has_an_exposure(manifest: dict[str, Any]) -> None:
    (exposure,) = manifest["exposures"].values()
    assert exposure["name"] == "customers_release"
    assert exposure["depends_on"]["nodes"] == ["model.shop.customers_anonymized"]


def test_what_nothing_reads_is_grey_in_the_graph_and_nothing_else(manifest: dict[str, Any]) -> None:
    children: dict[str, list[str]] = manifest["child_map"]
    unread = {
        node_id.split(".")[-1]
        for node_id, readers in children.items()
        if node_id.startswith("model.")
        # The release waits for whatever is measured, and reads little of it.
        and not any(r.startswith(("model.", "exp")) for r in readers if "_anonymized" not in r)
    }
    models = of_type(manifest, "model")
    grey = {n for n, node in models.items() if node["docs"]["node_color"] == UNREAD}
    assert grey == unread - {"anonymization_results", *RELEASE}
    assert len({models[name]["docs"]["node_color"] for name in RELEASE} | {UNREAD}) == 3


def test_dbt_selects_by_tag_group_release_and_exposure(built_consumer: Project) -> None:
    of_tag = selected(built_consumer, "tag:customers")
    assert of_tag == selected(built_consumer, "tag:dbt_anonymize") - {"anonymization_results"}
    needed = selected(built_consumer, "+customers_anonymized")
    assert {"customers_microdata", "customers_results", "customers_effort_3"} < needed < of_tag
    assert "customers_identifiers" not in needed
    of_exposure = "+exposure:customers_release"
    assert selected(built_consumer, of_exposure) == needed
    custodians = selected(built_consumer, "group:customers_custodians")
    assert custodians == {"customers_identifiers"}


@builds
def test_a_tag_or_the_release_with_its_parents_is_built(consumer: Project) -> None:
    consumer.release_file("customers").unlink()
    built = consumer.build("--select", "+customers_anonymized")
    assert built.status("customers_anonymized") == "success"
    before = consumer.release("customers")
    assert before
    built = consumer.build("--full-refresh", "--select", "tag:customers")
    assert built.status("customers_identifiers") == "success"
    assert consumer.release("customers") == before


def test_a_contract_is_enforced_before_a_release_is_published(consumer: Project) -> None:
    """And rows keep the order of their values, which alone does not say who they are of."""
    types = {"birth_date": "date", "order": "integer", "größe": "integer", "churned": "text"}

    def declare(spending: str) -> None:
        file = consumer.folder / "anonymizations" / "customers.yml"
        spec = yaml.safe_load(file.read_text(encoding="utf-8"))
        for name, data_type in {**types, "spending": spending}.items():
            spec["columns"][name]["data_type"] = data_type
        file.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True), encoding="utf-8")
        assert generate(consumer.folder)

    before = consumer.release("customers")
    declare("double")
    consumer.build("--select", "customers_anonymized")
    assert consumer.release("customers") == before
    file = consumer.release_file("customers").read_bytes()
    declare("integer")
    outcome = consumer.dbt("build", "--select", "customers_anonymized")
    assert not outcome.succeeded
    assert "enforced contract that failed" in outcome.messages
    assert "spending" in outcome.messages
    assert consumer.release_file("customers").read_bytes() == file


@builds
def test_a_failed_build_is_retried_where_it_failed(consumer: Project) -> None:
    before = consumer.release("customers")
    consumer.edit(
        "models/customers/customers_anonymized.sql",
        lambda text: text.replace("'suppression_limit': 0.1", "'suppression_limit': 0.0"),
    )
    outcome = consumer.dbt("build", "--select", "customers_results+")
    assert not outcome.succeeded
    assert outcome.status("customers_identifiers") == "skipped"
    assert consumer.release("customers") == before
    consumer.edit(
        "models/customers/customers_anonymized.sql",
        lambda text: text.replace("'suppression_limit': 0.0", "'suppression_limit': 0.1"),
    )
    outcome = consumer.dbt("retry")
    assert outcome.succeeded, outcome.messages
    assert outcome.status("customers_anonymized") == "success"
    assert outcome.status("customers_identifiers") == "success"
    assert not any(name.endswith(".customers_results") for name in outcome.statuses)


def with_ci(text: str) -> str:
    """Add a target to a profile, with a schema of its own in the same files."""
    profile = yaml.safe_load(text)
    outputs = profile["shop"]["outputs"]
    outputs["ci"] = {**outputs["dev"], "schema": "ci"}
    return yaml.safe_dump(profile)


PUBLISHED = "vars: {{dbt_anonymize_published_targets: [{}]}}"
CLONE = ("clone", "--target", "ci", "--state", "state")
# The project's own, which lies in the vault; a folder of models has its name.
SEED = "path:seeds/customers.csv"


def documented_clone() -> list[str]:
    """Return the command of the page, with what this project has instead."""
    page = (DOCS / "dbt.md").read_text("utf-8").replace("\\\n", " ")
    _, *words = shlex.split(re.findall(r"^dbt clone .*$", page, re.MULTILINE)[0])
    own = {"path/to/production": "state", "path:seeds/patients.csv": SEED}
    return [own.get(word, word) for word in words]


@builds
def test_a_clone_shows_neither_vault_nor_release(built_members: Project, tmp_path: Path) -> None:
    """Both targets have the same vault; a clone of tokens would be written through."""
    project = built_members.copy(tmp_path / "project")
    shutil.copytree(project.folder / "target", project.folder / "state")
    project.edit("profiles.yml", with_ci)
    names = ("members_tokens", "members_identifiers", "members_anonymized")
    for name, chosen in {**{name: name for name in names}, "customers": SEED}.items():
        outcome = project.dbt(*CLONE, "-s", chosen)
        assert not outcome.succeeded
        refused = f'{name}": relations of the vault and releases must be built by their own'
        assert refused in outcome.messages
        assert "Exclude it from the clone, as docs/dbt.md says" in outcome.messages
    cloned = "select table_name from information_schema.tables where table_schema like 'ci%'"
    assert not {*names, "customers"} & {name for (name,) in project.query(cloned)}
    before = project.query("select * from vault.main.members_tokens order by all")
    assert not selected(project, "state:modified", *CLONE[1:])
    outcome = project.dbt(*documented_clone())
    assert outcome.succeeded, outcome.messages
    project.release_file("members").unlink()
    rest = ("-s", "members_tokens", "members_identifiers+")
    project.build("--target", "ci", "--defer", "--state", "state", *rest)
    assert project.query("select count(*) from vault.ci.members_tokens") == [(400,)]
    assert (project.folder / "release" / "ci" / "members.duckdb").is_file()
    assert project.query("select * from vault.main.members_tokens order by all") == before


@builds
@pytest.mark.parametrize("more", [(), ("--favor-state",)], ids=["absent", "favored"])
def test_ci_defers_to_production_and_publishes_for_itself(
    consumer: Project, more: tuple[str, ...]
) -> None:
    """Only the release is built, in a schema of its own; what it reads is that of production."""
    production = consumer.release_file("customers")
    before = production.read_bytes()
    registered = consumer.query("select count(*) from customers_register")
    shutil.copytree(consumer.folder / "target", consumer.folder / "state")

    consumer.edit("profiles.yml", with_ci)
    if more:  # a draft is in no register
        consumer.edit("dbt_project.yml", lambda text: f"{text}{PUBLISHED.format('dev')}\n")
    consumer.build(
        *("--target", "ci", "--defer", "--state", "state", "--select", "customers_anonymized"),
        *more,
    )
    assert production.read_bytes() == before
    published = consumer.folder / "release" / "ci" / "customers.duckdb"
    assert published.is_file()
    production.unlink()
    assert len(consumer.release("customers")) > 0
    schemas = consumer.query(
        "select distinct table_schema from information_schema.tables where table_catalog = 'shop'"
        " and table_name like 'customers_%' and table_schema like 'ci%' order by all"
    )
    assert schemas == ([] if more else [("ci",)]) + [("ci_release",)]
    if not more:
        assert consumer.query("select release from ci.customers_register") == [(1,)]
    assert consumer.query("select count(*) from main.customers_register") == registered


@builds
def test_names_of_project_and_schemas_may_be_others(consumer: Project) -> None:
    """The macro by which a project names its schemas decides, and commands follow dbt."""
    macro = """
    {% macro generate_schema_name(custom_schema_name, node) -%}
        {{ "prod_" ~ (custom_schema_name or node.fqn[1]) | trim }}
    {%- endmacro %}
    """
    macro += """
    {% macro generate_alias_name(custom_alias_name=none, node=none) -%}
        {{ "t_" ~ (custom_alias_name or node.name) | trim }}
    {%- endmacro %}
    """
    (consumer.folder / "macros").mkdir()
    (consumer.folder / "macros" / "generate_names.sql").write_text(macro, encoding="utf-8")
    consumer.edit(
        "dbt_project.yml",
        lambda text: (
            text.replace("name: shop", "name: data_platform")
            + "models: {data_platform: {customers: {+tags: nightly}}}\n"
            + "seeds: {data_platform: {customers: {+database: vault}}}\n"
        ),
    )
    (consumer.folder / consumer.warehouse).unlink()
    consumer.build("--select", "tag:nightly", "+tag:nightly")
    schemas = dict(
        consumer.query(
            "select table_name, table_schema from information_schema.tables where table_name in"
            " ('t_customers_anonymized', 't_customers_identifiers', 't_customers_results')"
            " and table_catalog in ('shop', 'vault')"
        )
    )
    assert schemas == {
        "t_customers_anonymized": "prod_release",
        "t_customers_identifiers": "prod_customers",
        "t_customers_results": "prod_customers",
    }
    run = functools.partial(CliRunner().invoke, app, env={"DBT_PROFILES_DIR": str(consumer.folder)})
    place = ["customers", "--project-dir", str(consumer.folder)]
    shown = run(["results", *place, "--format", "json"])
    assert shown.exit_code == 0, shown.output
    assert "is_chosen" in shown.stdout
    verified = run(["verify", *place])
    assert verified.exit_code == 0, verified.output
    if has("custody"):
        check_custody(consumer, run, place)


def check_custody(consumer: Project, run: Callable[..., Result], place: list[str]) -> None:
    """Find what the vault has of a person by its model; another name is dbt's to give."""
    keys = "select min(customer_id) from vault.prod_customers.t_customers_identifiers"
    ((key,),) = consumer.query(keys)
    refused = run(["erase", *place, "--subject", str(key), "--yes"])
    assert "the source must have forgotten" in refused.output, refused.output
    refused = run(["rename", *place[:1], "clients", *place[1:], "--yes"])
    assert refused.exit_code == 2
    assert "rename needs relations that are called as their models" in refused.output


@builds
def test_a_hierarchy_may_be_any_relation(consumer: Project) -> None:
    """A seed of 100,000 codes loads slowly; a model over a table that is there does not load."""
    before = consumer.release("customers")
    seeds = consumer.folder / "seeds"
    (seeds / "customers_hierarchy_zip.csv").rename(seeds / "zip_codes.csv")
    rename = lambda text: text.replace("customers_hierarchy_zip", "zip_codes")  # noqa: E731
    consumer.edit("seeds/_seeds.yml", rename)
    model = consumer.folder / "models" / "customers_hierarchy_zip.sql"
    model.write_text("select * from {{ ref('zip_codes') }}", encoding="utf-8")
    consumer.build()
    assert consumer.release("customers") == before
    command = ["verify", "customers", "--project-dir", str(consumer.folder)]
    proven = CliRunner().invoke(app, command, env={"DBT_PROFILES_DIR": str(consumer.folder)})
    assert re.search(r"recomputation +\d+ hold\n", proven.output), proven.output
