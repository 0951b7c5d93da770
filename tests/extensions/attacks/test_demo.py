"""Attacks on the releases of the demonstration, as `verify` carries them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extensions.attacks.result import AttackResult, findings
from dbt_anonymize.extensions.attacks.running import run_attacks
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.writing import write_rows
from tests.projects import REPOSITORY, Project, warehouse_of

PAGE = REPOSITORY / "docs" / "extensions" / "attacks.md"
NAMES = ("fertility_clinic", "wdbc", "wdbc_nested")

TEXTS = ("attack", "measure", "against", "attribute", "explanation", "content", "spec")
OTHERS = {"guesses": "BIGINT", "subjects": "BIGINT", "holds": "BOOLEAN", "is_warning": "BOOLEAN"}
COLUMNS = {
    field.name: "VARCHAR" if field.name in TEXTS else OTHERS.get(field.name, "DOUBLE")
    for field in sorted(fields(AttackResult), key=lambda field: field.name == "explanation")
}

Key = tuple[str, str | None, str | None, str]


@pytest.fixture(scope="module")
def built(demo: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give a copy that gets further tables."""
    return demo.copy(tmp_path_factory.mktemp("attacked") / "project")


@pytest.fixture(scope="module")
def attacked(built: Project) -> Mapping[str, list[AttackResult]]:
    """Attack every release, and write the relations."""
    found = {}
    for spec in load_specs(built.folder, NAMES):
        before = built.release_file(spec.name).read_bytes()
        with warehouse_of(built) as warehouse:
            file = release_file(warehouse, spec.name)
            results = run_attacks(warehouse, find_project(built.folder), spec, release=file)
            written = write_rows(warehouse, spec, "attacks", AttackResult, results)
            assert written == f"{spec.name}_attacks"
            assert warehouse.rows("select * from duckdb_tables() where temporary") == []
            names = [
                name for (name,) in warehouse.rows("select database_name from duckdb_databases()")
            ]
            assert not any("attack" in name for name in names)
        assert built.release_file(spec.name).read_bytes() == before
        found[spec.name] = results
    return found


def by_key(results: list[AttackResult]) -> dict[Key, AttackResult]:
    return {(r.attack, r.against, r.attribute, r.measure): r for r in results}


@pytest.mark.parametrize("name", NAMES)
def test_the_demonstration_holds(attacked: Mapping[str, list[AttackResult]], name: str) -> None:
    results = attacked[name]
    broken = [r.subject for r in results if r.holds is False]
    assert broken == []
    assert {r.attack for r in results if r.holds} >= {"linkage", "mapping"}
    assert {r.attack for r in results} == {
        "linkage",
        "mapping",
        "singling_out",
        "linkability",
        "attribute_inference",
        "composition",
        "membership_inference",
    }
    assert len(by_key(results)) == len(results)


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_fit_each_other(attacked: Mapping[str, list[AttackResult]], name: str) -> None:
    found = {(r.attack, r.measure): r for r in attacked[name] if r.against is None}
    highest = found["linkage", "highest_success"].main
    # All levels are the same for all records and nothing is NULL: candidates are the own class.
    assert highest == found["mapping", "highest_success"].main
    average = found["linkage", "average_success"]
    assert average.main == pytest.approx(average.declared_limit)
    right = found["attribute_inference", "share_right"]
    assert right.main is not None
    assert right.naive is not None
    assert right.naive < right.main < 1
    assert right.control is not None
    assert right.main_lower is not None
    assert right.main_lower < right.main < right.main_upper


def test_what_is_written_is_what_was_found(
    built: Project, attacked: Mapping[str, list[AttackResult]]
) -> None:
    for name, results in attacked.items():
        rows = built.query(f"select * from {name}_attacks order by all")
        expected = [tuple(getattr(result, column) for column in COLUMNS) for result in results]
        assert sorted(rows, key=str) == sorted(expected, key=str)
    types = built.query("select column_name, column_type from (describe wdbc_attacks)")
    assert types == list(COLUMNS.items())


def test_both_anonymizations_of_one_source_break_k(
    attacked: Mapping[str, list[AttackResult]],
) -> None:
    """Others know, by wdbc_nested, values that wdbc releases as they are; each of them says so."""
    nested = by_key(attacked["wdbc_nested"])
    result = nested["composition", "release wdbc", None, "joint_classes_below_k"]
    assert result.main == 531
    assert result.naive == 0
    assert result.is_warning
    turned = by_key(attacked["wdbc"])[
        "composition",
        "release wdbc_nested, by its quasi-identifiers",
        None,
        "joint_classes_below_k",
    ]
    assert turned.main == 531
    assert "wdbc_nested promises" in turned.explanation
    subjects = {f.subject for f in findings(attacked["wdbc"])}
    assert turned.subject in subjects


def test_every_other_effort_that_qualifies_is_composed(
    attacked: Mapping[str, list[AttackResult]],
) -> None:
    against = {r.against for r in attacked["wdbc_nested"] if r.attack == "composition"}
    assert {a for a in against if a and a.startswith("effort")} == {
        "effort 1",
        "effort 2",
        "effort 3",
        "effort 5",
        "effort 6",
    }
    found = by_key(attacked["wdbc_nested"])
    # Effort 1 suppresses tumours that this release shows: whoever has both tells them apart.
    below = found["composition", "effort 1", None, "joint_classes_below_k"].main
    assert below is not None
    assert below > 0
    # Nobody has it, so nobody is warned.
    assert not found["composition", "effort 1", None, "joint_classes_below_k"].is_warning
    # Wider intervals of the same hierarchy tell nothing new.
    assert found["composition", "effort 5", None, "joint_classes_below_k"].main == 0
    assert found["composition", "effort 5", None, "joint_classes"].main == 8


def earlier_release(built: Project, folder: Path, effort: int) -> Path:
    """Write what would have been released if another effort had been chosen."""
    file = folder / f"effort_{effort}.duckdb"
    bounds = ", ".join(
        f"{name}, {name}_lower, {name}_upper" for name in ("mean_radius", "mean_symmetry")
    )
    with built.connection() as connection:
        connection.execute(f"attach '{file}' as before")
        connection.execute(
            f"create table before.wdbc_nested_anonymized as select {bounds}, diagnosis, "
            f"equivalence_class as cqi from wdbc_nested_effort_{effort} where not is_suppressed"
        )
        connection.execute("detach before")
    return file


def odd_release(folder: Path, name: str, statement: str) -> Path:
    """Write a file that is no release."""
    file = folder / f"{name}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(statement)
    return file


def test_earlier_releases(
    built: Project, attacked: Mapping[str, list[AttackResult]], tmp_path: Path
) -> None:
    """Nothing but its labels is known of one, and that is enough; else nothing is proved."""
    earlier = [earlier_release(built, tmp_path, effort) for effort in (1, 3, 4)]
    text = tmp_path / "text.duckdb"
    text.write_text("age,zip\n1,Moreau\n")
    other = odd_release(tmp_path, "other", "create table t as select 'x' as other")
    label = odd_release(tmp_path, "label", "create table t as select '17 or so' as mean_radius")
    two = "create table t as select 1 as a; create table u as select 1 as a"
    unreadable = {
        tmp_path / "missing.duckdb": "there is none",
        text: "could not be read",
        other: "must show a quasi-identifier",
        label: "1 labels are none of these",
        odd_release(tmp_path, "two", two): "or one table only",
    }
    (spec,) = load_specs(built.folder, ["wdbc_nested"])
    project = find_project(built.folder)
    with warehouse_of(built) as warehouse:
        release = release_file(warehouse, spec.name)
        again = [*earlier, built.folder / release]  # the release itself is one of them
        results = run_attacks(
            warehouse, project, spec, release=release, earlier=again, repetitions=0
        )
        for path, message in unreadable.items():
            with pytest.raises(VerificationError, match=message) as error:
                run_attacks(warehouse, project, spec, release=release, earlier=[path])
            assert "Moreau" not in str(error.value)
        databases = warehouse.rows("select database_name from duckdb_databases()")
        assert not any("attack" in name for (name,) in databases)
    found, alone = by_key(results), by_key(attacked["wdbc_nested"])
    for measure in ("joint_classes", "joint_classes_below_k", "smallest_joint_class"):
        for effort in (1, 3):
            before = found["composition", f"earlier release effort_{effort}.duckdb", None, measure]
            assert before.main == alone["composition", f"effort {effort}", None, measure].main
        for file in ("effort_4.duckdb", "wdbc_nested.duckdb"):
            itself = found["composition", f"earlier release {file}", None, measure]
            assert itself.main == itself.naive
    assert not any(result.attack == "membership_inference" for result in results)


def test_a_release_that_was_changed_does_not_hold(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    with duckdb.connect(str(project.release_file("wdbc"))) as connection:
        connection.execute(
            "delete from wdbc_anonymized where mean_radius_lower = 5 and rowid not in "
            "(select min(rowid) from wdbc_anonymized where mean_radius_lower = 5)"
        )
    (spec,) = load_specs(project.folder, ["wdbc"])
    with warehouse_of(project) as warehouse:
        file = release_file(warehouse, "wdbc")
        found = run_attacks(
            warehouse, find_project(project.folder), spec, release=file, repetitions=0
        )
    broken = {f.subject for f in findings(found) if f.holds is False}
    assert {"linkage, highest_success", "linkage, unexplained_rows"} <= broken


def test_a_class_that_is_gone_from_the_file_is_missed(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "project")
    with duckdb.connect(str(project.release_file("wdbc"))) as connection:
        ((gone,),) = connection.execute(
            "delete from wdbc_anonymized where cqi = (select min(cqi) from wdbc_anonymized)"
        ).fetchall()
    (spec,) = load_specs(project.folder, ["wdbc"])
    with warehouse_of(project) as warehouse:
        file = release_file(warehouse, "wdbc")
        found = by_key(
            run_attacks(warehouse, find_project(project.folder), spec, release=file, repetitions=0)
        )
    missed = found["linkage", None, None, "unexplained_rows"]
    assert (missed.main, missed.holds) == (gone, False)


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_in_one_style(attacked: Mapping[str, list[AttackResult]], name: str) -> None:
    for result in attacked[name]:
        assert result.explanation.endswith("."), result
        assert not result.explanation[0].isupper(), result


def test_messages_hold_no_value_of_a_person(
    built: Project, attacked: Mapping[str, list[AttackResult]]
) -> None:
    rows = built.query(
        "select surname, phone, email, address, patient_number "
        "from vault.main.fertility_clinic_patients"
    )
    planted = {str(value) for row in rows for value in row}
    said = " ".join(r.explanation for r in attacked["fertility_clinic"])
    assert not [value for value in planted if value in said]
    assert not [v for v in ("pregnancy_lost", "not_pregnant", "ICSI") if v in said]


def test_the_page_shows_what_is_found(attacked: Mapping[str, list[AttackResult]]) -> None:
    """The table of wdbc_nested on the page, to the digits that it shows."""
    results = by_key(attacked["wdbc_nested"])
    shown = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if len(cells) != 8 or cells[0] in {"attack", "---"}:
            continue
        attack, against, attribute, measure = cells[:4]
        result = results[attack, against or None, attribute or None, measure]
        shown_numbers = (result.main, result.control, result.naive, result.declared_limit)
        assert tuple(cells[4:]) == tuple(map(_written, shown_numbers)), line
        shown += 1
    assert shown > 10


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"
