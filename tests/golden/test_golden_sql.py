"""The SQL that the macros write, as files that a review shows.

After an intended change: ``UPDATE_GOLDEN=1 pytest tests/golden`` and read the difference.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlglot
import yaml

from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.templating import environment
from dbt_anonymize.spec.tested import KEYS
from tests.extensions import has, in_parts, of_extensions
from tests.projects import Project, copy_consumer
from tests.properties.compilation import Ref, body, call, compile_models
from tests.vault.projects import SPECS
from tests.worlds.hostile import Naming, write

GOLDEN = Path(__file__).parent / "sql"
VOLATILE = (
    (re.compile(r"'[0-9a-f]{8}-[0-9a-f-]{27}'"), "'<run_id>'"),
    (re.compile(r"' [0-9a-f]{32}'"), "' <definition>'"),
    (re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+'"), "'<run_at>'"),
)


# Of the anonymizations with other mappings, what differs by them.
OTHER_MAPPINGS = sorted(SPECS.glob("*.yml"))
OF_MAPPINGS = ("anonymized", "identifiers", "tokens")
# Of one with masks: what they do, and their keys.
OF_MASKS = ("guests_microdata", "guests_mask_keys")
MASKS = {
    "full name": {"role": "masked", "mask": {"phone": 2}},
    "e-mail": {"role": "masked", "mask": {"email": "domain"}},
    "größe": {"role": "insensitive", "mask": {"keyed_hash": True}},
    "spending": {"role": "insensitive", "mask": {"round": 0.5}},
    "order": {"role": "insensitive", "mask": {"round": 5, "top": 20}},
}
# Of one in partitions.
OF_PARTITIONS = tuple(
    f"monthly_{node}"
    for node in ("partitions", "microdata_parts", "microdata", "frequencies_parts", "frequencies")
)
# Of one without a target.
OF_STATISTICS = tuple(
    f"untested_{node}"
    for node in ("frequencies", "classes", "information_loss", "results", "microdata")
)
# Of one that is a sample.
OF_SAMPLES = tuple(
    f"surveyed_{node}" for node in ("sample", "microdata", "frequencies", "classes", "effort_1")
)
# Of one with a population, a subject and recodings, what differs by those.
OF_PEOPLE = (*("microdata", "frequencies", "population", "effort_3", "effort_4"),)
# What else a release costs.
OF_INSPECTIONS = ("quality_by_group", "importance", "decision_grid") if has("inspection") else ()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    people = write(tmp_path_factory.mktemp("golden") / "people", Naming())
    if OF_INSPECTIONS:
        _measure_costs(people)
    nodes = (*OF_PEOPLE, *OF_INSPECTIONS)
    outcome = people.dbt("compile", "--select", *(f"people_{node}" for node in nodes))
    assert outcome.succeeded, outcome.messages
    return (
        _of_consumer(tmp_path_factory.mktemp("golden") / "project")
        | {file: sql for file, sql in compiled_sql(people).items() if file.startswith("people_")}
        | _of_searches(tmp_path_factory.mktemp("golden"))
        | {file: sql for one in of_extensions("golden") for file, sql in one.compiled().items()}
    )


def _measure_costs(people: Project) -> None:
    """Declare what else a release costs, which only some specs do."""
    costs = {"groups": ["blood"], "importance": True, "decision_grid": ["age", "income"]}

    def declared(spec: dict[str, Any]) -> None:
        spec["quality"] |= costs

    _declare(people, "people", declared)
    generate(people.folder)


def _declare(project: Project, name: str, change: Callable[[dict[str, Any]], None]) -> None:
    def declared(text: str) -> str:
        spec = yaml.safe_load(text)
        change(spec)
        return yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)

    project.edit(f"anonymizations/{name}.yml", declared)


def _of_consumer(folder: Path) -> dict[str, str]:
    project = copy_consumer(folder)
    others = [Path(shutil.copy(spec, project.folder / "anonymizations")) for spec in OTHER_MAPPINGS]
    if has("fidelity"):
        _declare(project, "customers", lambda spec: spec.update(fidelity={"pairs": 4}))
    path = project.folder / "anonymizations" / "monthly.yml"
    shutil.copy(SPECS / "guests.yml", path)
    _declare(project, "monthly", lambda spec: spec.update(name="monthly", **in_parts("gender")))
    untested = project.folder / "anonymizations" / "untested.yml"
    shutil.copy(project.folder / "anonymizations" / "customers.yml", untested)
    _declare(project, "untested", _leave_out_the_target)
    _declare(project, "guests", lambda spec: spec["columns"].update(MASKS))
    generate(project.folder)
    wanted = ["customers_*", "anonymization_results", *OF_SAMPLES, *OF_MASKS, *OF_PARTITIONS]
    wanted += [f"{spec.stem}_{part}" for spec in others for part in OF_MAPPINGS]
    wanted += OF_STATISTICS
    others += [path, untested]
    # The history reads the results that a run computes.
    outcome = project.dbt("compile", "--select", *wanted, "*_results")
    assert outcome.succeeded, outcome.messages
    # dbt shortens the names of tests.
    names = re.compile("|".join(f"(^|_){spec.stem[:4]}" for spec in others))
    chosen = {f"{name}.sql" for name in wanted}
    return {
        file: sql
        for file, sql in compiled_sql(project).items()
        if file in chosen or not names.search(file)
    }


def _leave_out_the_target(spec: dict[str, Any]) -> None:
    spec["name"] = "untested"
    for key in KEYS:
        del spec[key]
    spec.pop("search", None)
    spec.pop("choose", None)


def _of_searches(folder: Path) -> dict[str, str]:
    """Return what a search asks the warehouse, with a population and without, and who is outer."""

    def attribute(name: str, kind: str) -> dict[str, object]:
        return {"name": name, "kind": kind, "hierarchy": Ref(f"hierarchy_{name}"), "levels": 2}

    age, city = attribute("age", "interval"), attribute("city", "categorical")
    as_key = {"role": "quasi_identifier", "size": 9, "stride": 1}
    illness = {"name": "illness", "role": "kept", "size": 3, "stride": 1}
    rows, population = Ref("frequencies"), Ref("population")
    queries = {
        "rows": call(
            "_search_rows",
            frequencies=rows,
            population=population,
            keys=[[{**age, **as_key, "by": "raw"}, {**city, **as_key, "by": "leaf"}], [illness]],
            has_subject=True,
        ),
        **{
            f"hierarchy_of_{a['name']}": call(
                "_search_hierarchy", hierarchy=a["hierarchy"], kind=a["kind"], levels=a["levels"]
            )
            for a in (age, city)
        },
        "bounds": call("_search_bounds", hierarchy=age["hierarchy"]),
        "values": call("_search_values", relations=[rows, population], quasi_identifier=age),
        "uncovered": call("_search_uncovered", relations=[rows, population], quasi_identifier=age),
        "kept_counts": call("_search_kept_counts", frequencies=rows, column="illness"),
        "kept_codes": call(
            "_search_kept_codes", frequencies=rows, column="illness", names=["flu", "none"]
        ),
        "kept_tree": call(
            "_search_kept_tree",
            frequencies=rows,
            column="illness",
            hierarchy=city["hierarchy"],
            levels=2,
        ),
    }
    queries = {f"search_{name}": text for name, text in queries.items() if has("search")}
    queries["outer_microdata"] = body(
        "microdata",
        anonymization="outer",
        source=rows,
        record_key="visit",
        identifiers=[],
        quasi_identifiers=[age],
        kept_columns=["illness"],
        target="illness",
        guarantees=[{"model": "k_anonymity", "k": 2}],
        subject='it\'s "her"',
        outer={"share": 0.2, "random_state": 7},
    )
    queries |= _of_commands()
    seeds = ["frequencies", "population", "hierarchy_age", "hierarchy_city"]
    compiled = compile_models(folder, queries, seeds)
    return {f"{name}.sql": sql.strip() + "\n" for name, sql in compiled.items()}


def _of_commands() -> dict[str, str]:
    """Return what stands for a Python model in a project without."""
    rows = Ref("frequencies")
    return {
        "fingerprint": body("fingerprint", spec="0a1b2c3d", relations=[rows, Ref("hierarchy_age")]),
        "rows_of_command": body(
            "rows_of_command",
            anonymization="visits",
            rows=rows,
            fingerprint=Ref("population"),
            columns={"effort": "whole", "name": "text", "value": "number", "is_new": "boolean"},
            key="effort",
            command="dbt-anonymize evaluate visits",
            after=[],
        ),
    }


def compiled_sql(project: Project) -> dict[str, str]:
    sql = {}
    for path in sorted((project.folder / "target" / "compiled").rglob("*.sql")):
        if "unit_tests" in str(path) or path.name.startswith(("not_null_", "unique_")):
            continue  # written by dbt, not by our macros
        text = path.read_text(encoding="utf-8").strip() + "\n"
        for pattern, replacement in VOLATILE:
            text = pattern.sub(replacement, text)
        sql[path.name] = text
    return sql


@pytest.mark.needs(
    "custody", "details", "fidelity", "partitions", "recoding", "search", "second_month"
)
def test_the_compiled_sql_is_the_golden_sql(compiled: dict[str, str]) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        for stale in GOLDEN.glob("*.sql"):
            stale.unlink()
        for name, text in compiled.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    golden = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.sql")}
    assert compiled.keys() == golden.keys()
    for name, text in compiled.items():
        assert text == golden[name], name


def test_the_sql_is_one_statement_that_another_parser_understands(compiled: dict[str, str]) -> None:
    for name, text in compiled.items():
        assert len(sqlglot.parse(text, dialect="duckdb")) == 1, name


def test_the_sql_uses_no_construct_that_other_engines_lack(compiled: dict[str, str]) -> None:
    forbidden = re.compile(
        r"\b(asof|qualify|columns\s*\(|exclude\s*\(|group\s+by\s+all|distinct\s+on)\b",
        re.IGNORECASE,
    )
    for name, text in compiled.items():
        assert not forbidden.search(re.sub(r"'[^']*'", "''", text)), name


def test_every_generated_relation_has_golden_sql() -> None:
    """A new template needs an example that the linter reads."""
    listed = environment().list_templates()
    kinds = {one.removesuffix(".sql.j2") for one in listed if re.match(r"[^_].*\.sql\.j2", one)}
    assert {"microdata", "mask_keys"} < kinds
    golden = [path.stem for path in GOLDEN.glob("*.sql")]
    # Not those of a search, which no template writes.
    relations = "customers|people|guests|members|monthly|surveyed|anonymization"
    missing = {
        kind
        for kind in kinds
        if not any(
            re.fullmatch(rf"({relations})_{kind}(_\d+)?", name) or name == kind for name in golden
        )
    }
    assert not missing
