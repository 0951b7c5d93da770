"""`dbt-anonymize search` from the frequencies to efforts that dbt builds as it promised."""

from __future__ import annotations

import difflib
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.cli import app
from dbt_anonymize.evaluation import limits
from dbt_anonymize.extensions.search.efforts import find_efforts
from dbt_anonymize.extensions.search.report import lattice_rows
from dbt_anonymize.spec import load_specs
from tests.extensions.search.reports import efforts_of
from tests.extensions.search.running import SPEC, load, run, text_of, with_spec
from tests.oracle.records import classes_of
from tests.oracle.search import Factors, Released
from tests.oracle.search import precision as precision_of
from tests.oracle.warehouse import Recount
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(4)


def changes(before: str, after: str) -> list[str]:
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def lattice(project: Project) -> list[dict[str, Any]]:
    with project.connection() as connection:
        found = connection.execute("select * from customers_lattice order by node")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def test_only_the_efforts_change_in_the_spec(searched: Project) -> None:
    before = (searched.folder / "before.yml").read_text(encoding="utf-8")
    after = (searched.folder / SPEC).read_text(encoding="utf-8")
    assert changes(before, after) == [
        "-  - {birth_date: 2, zip: 2, gender: 1}",
        "-  - {birth_date: 3, zip: 2, gender: 1}",
        "+  - {levels: {birth_date: 4, zip: 1, gender: 0}, k: 28}",
        "+  - {levels: {birth_date: 4, zip: 3, gender: 0}, k: 184}",
    ]


def test_what_is_printed_names_the_next_steps(searched: Project) -> None:
    printed = " ".join((searched.folder / "printed.txt").read_text(encoding="utf-8").split())
    assert "customers: birth_date 2, zip 1, gender 0 loses the least (loss 0.19081)" in printed
    assert re.search(
        r"Searched 40 nodes in \d+\.\d s with loading: \d+ checked, \d+ ruled out\. ", printed
    )
    assert "customers_lattice: 40 nodes." in printed
    assert (
        "anonymizations/customers.yml: 3 efforts. Review the change, then run "
        "`dbt-anonymize generate customers` and `dbt build`." in printed
    )
    assert "not proven" not in printed


def test_each_effort_is_printed_with_the_k_it_was_searched_for(searched: Project) -> None:
    printed = (searched.folder / "printed.txt").read_text(encoding="utf-8")
    _, _, chain = printed.partition("Efforts from weak to strong: the least loss")
    chain, _, front = chain.partition("Pareto front")
    headings = re.split(r"\s{2,}", chain.splitlines()[2].strip())
    assert headings == ["effort", "required k", "reached k", "suppressed", "loss", "levels"]
    reached = {row["effort"]: row["k"] for row in lattice(searched) if row["effort"]}
    shown = re.findall(r"^ +(\d+) +(\d+) +(\d+) +\d+ +[\d.]+ +birth_date", chain, re.M)
    efforts = efforts_of(searched)
    assert [(int(effort), int(k)) for effort, k, _ in shown] == [
        (number, effort.k or 4) for number, effort in enumerate(efforts, start=1)
    ]
    assert all(int(k) >= int(required) for _, required, k in shown)
    assert int(shown[0][2]) == reached[1]
    assert "required" not in front


def test_numbers_of_the_lattice_are_those_of_the_records(searched: Project) -> None:
    (spec,) = load_specs(searched.folder, ["customers"])
    with searched.connection() as connection:
        plain = Recount(connection, spec)
    rows = lattice(searched)
    assert [row["node"] for row in rows] == list(range(1, 41))
    for row in rows:
        node = [row[f"{name}_level"] for name in spec.quasi_identifiers]
        k, suppressed = plain.released(node, 4)
        if row["status"] == "checked" and row["is_feasible"]:
            assert (row["k"], row["suppressed_records"]) == (k, suppressed)
        elif row["is_feasible"] is False:
            assert suppressed > 40
            assert (row["k"], row["loss"]) == (None, None)
        else:
            assert (row["status"], row["is_feasible"], row["loss"]) == ("pruned", None, None)
    (best,) = [row for row in rows if row["is_optimal"]]
    assert best["loss"] == min(row["loss"] for row in rows if row["loss"] is not None)
    assert best["effort"] == 1
    assert best["is_on_pareto_front"]
    assert sorted(row["effort"] for row in rows if row["effort"]) == [1, 2, 3]


def test_the_same_search_changes_nothing(searched: Project, tmp_path: Path) -> None:
    project = searched.copy(tmp_path / "project")
    before, rows = (project.folder / SPEC).read_bytes(), lattice(project)
    result = run(project, "--efforts", "3")
    assert "anonymizations/customers.yml: has these efforts already." in text_of(result)
    assert (project.folder / SPEC).read_bytes() == before
    assert lattice(project) == rows


def test_a_dry_run_writes_nothing(shop: Project) -> None:
    before = (shop.folder / SPEC).read_bytes()
    result = run(shop, "--dry-run", "--measure", "discernibility", "--efforts", "2")
    assert result.exit_code == 0
    assert "loses the least (discernibility 4324)" in text_of(result)
    assert (shop.folder / SPEC).read_bytes() == before
    tables = shop.query("select table_name from information_schema.tables")
    assert ("customers_lattice",) not in tables


def test_class_sizes_are_asked_for(shop: Project) -> None:
    result = run(shop, "--dry-run", "--ks", "50, 4,5,20,100000", "--format", "csv")
    lines = [line.split(",") for line in result.stdout.splitlines()]
    efforts = {int(c[3]): int(c[4]) for c in lines if c[1:2] == ["effort"]}
    assert list(efforts) == sorted(efforts)
    assert {4, 20} <= set(efforts) <= {4, 5, 20, 50}
    for asked in {4, 5, 20, 50} - set(efforts):
        assert any(required < asked <= k for required, k in efforts.items())
    shown = text_of(run(shop, "--dry-run", "--ks", "4,100000"))
    assert "k = 100000: reached by no coarser levels that still tell something." in shown
    shown = text_of(run(shop, "--dry-run", "--ks", f"4,{min(efforts.values())}"))
    assert ("an effort with a larger k reaches it" in shown) == (min(efforts.values()) > 4)
    table = text_of(run(shop, "--dry-run", "--ks", "100000"))
    assert "None of the class sizes is an effort" in table
    for arguments, reason in (
        (("--ks", "3"), "must be at least the k that is guaranteed, 4; got 3"),
        (("--ks", "5,many"), "--ks must be whole numbers"),
        (("--ks", "5", "--efforts", "2"), "either --efforts or --ks"),
    ):
        refused = run(shop, "--dry-run", *arguments)
        assert refused.exit_code == 2
        assert reason in " ".join(refused.output.split())


def test_the_front_is_shown_where_it_is_asked_for(shop: Project) -> None:
    short = run(shop, "--dry-run", "--efforts", "3")
    assert "the Pareto front of k and loss: --verbose lists them" in text_of(short)
    assert len(short.output.strip().splitlines()) <= 18
    long = run(shop, "--dry-run", "--efforts", "3", "--verbose")
    assert "Pareto front: no other levels reach this k with less loss" in text_of(long)
    assert len(long.output.splitlines()) > len(short.output.splitlines())


def test_what_limits_the_optimum_is_named(shop: Project) -> None:
    """Counted record by record: with one level finer, too many records are in small classes."""
    shown = text_of(run(shop, "--dry-run"))
    said = re.search(r"at (.*?); 40 may\.", shown)
    assert said
    (spec,) = load_specs(shop.folder, ["customers"])
    with shop.connection() as connection:
        plain = Recount(connection, spec)
    best, names = [2, 1, 0], list(spec.quasi_identifiers)
    for name, level, least in re.findall(r"(\w+) (\d+) \((\d+) or more\)", said[1]):
        finer = [int(level) if n == name else b for n, b in zip(names, best, strict=True)]
        _, suppressed = plain.released(finer, 4)
        assert 40 < int(least) <= suppressed


def test_rounds_are_written_for_local_recoding(shop: Project) -> None:
    result = run(shop, "--recoding", "local", "--efforts", "3")
    assert result.exit_code == 0, result.output
    efforts = efforts_of(shop)
    # With the largest k of the chain everything would be at the root: no effort.
    assert [effort.recoding for effort in efforts] == ["local", "local"]
    assert efforts[0].k is None
    assert efforts[1].k is not None
    assert efforts[1].k > 4
    _, _, table = result.output.partition("rounds of levels of birth_date, zip, gender")
    table = table.partition("Pareto front")[0]
    headings = ("effort", "required k", "suppressed", "loss", "rounds", "levels of each round")
    assert re.search(r"\s+".join(headings), table)
    for number, effort in enumerate(efforts, start=1):
        rounds = [" ".join(map(str, levels.values())) for levels in effort.rounds or ()]
        (row,) = re.findall(rf"^ +{number} +(\d+) +(\d+) +([\d.]+) +(\d+) +(.*)", table, re.M)
        assert row[:2] == (str(effort.k or 4), "0")
        assert 0 < float(row[2]) < 1
        assert row[3] == str(len(rounds))
        assert row[4].startswith(rounds[0])
    assert {row["effort"] for row in lattice(shop)} == {None}


def test_a_measure_of_classes_is_left_to_the_build_for_rounds(shop: Project) -> None:
    arguments = ("--recoding", "local", "--efforts", "1", "--measure", "discernibility")
    result = run(shop, *arguments, "--dry-run")
    assert result.exit_code == 0, result.output
    assert re.search(r"^ +1 +4 +0 +- +\d+ ", result.output, re.M)
    assert "The build measures discernibility." in text_of(result)


def test_precision_is_printed_as_it_is_published(shop: Project) -> None:
    result = run(shop, "--dry-run", "--measure", "precision", "--efforts", "2")
    assert result.exit_code == 0, result.output
    task = load(shop, measure="precision", efforts=2)
    best = find_efforts(task).result.optimum
    assert best is not None
    sizes = [found for found in classes_of(task.table, best.node) if found.records]
    gone = frozenset(found.labels for found in sizes if found.people < best.k)
    released = Released(task.table, best.node, sizes, gone)
    heights = precision_of(released, Factors.of(0.5))
    precision = 1 - sum(heights) / len(heights)
    shown = text_of(result)
    assert f"loses the least (precision {precision:.6g})" in shown
    assert shown.count("suppressed precision levels") == 1
    table = result.output.partition("Efforts from weak to strong")[2]
    losses = re.findall(r" (0?\.?\d+) +birth_date", table.partition("Pareto front")[0])
    assert float(losses[0]) == pytest.approx(precision, abs=1e-6)
    # Stronger efforts are less precise.
    assert float(losses[0]) > float(losses[-1])


def test_frequencies_that_are_not_built_are_named(shop: Project) -> None:
    shop.execute("drop table customers_frequencies")
    result = run(shop)
    assert result.exit_code == 2
    assert text_of(result).endswith(
        "Run `dbt-anonymize generate customers` and `dbt build --select +customers_frequencies`."
    )
    assert "customers_frequencies: must exist in the warehouse" in text_of(result)


def test_a_time_limit_says_that_nothing_is_proven(shop: Project) -> None:
    result = run(shop, "--time-limit", "0")
    assert result.exit_code == 0, result.output
    assert (
        "The time limit ended it: best so far, not proven. By what was searched, no levels can "
        "reach a better loss than 0."
    ) in text_of(result)
    assert efforts_of(shop)


def test_a_spec_without_efforts_gets_them(shop: Project) -> None:
    start = "efforts:\n"

    def without(text: str) -> str:
        head, _, rest = text.partition(start)
        return head + rest[rest.index("guarantees:") :]

    with_spec(shop, without)
    assert efforts_of(shop) == ()
    result = run(shop, "--efforts", "2")
    assert result.exit_code == 0, result.output
    assert len(efforts_of(shop)) == 2


def test_a_guarantee_that_cannot_be_kept_is_named_with_the_closest(shop: Project) -> None:
    shop.edit(
        SPEC,
        lambda text: text.replace(
            "k_anonymity: {k: 4}",
            "k_anonymity: {k: 4}\n  l_diversity: {attribute: churned, variant: entropy, l: 2}",
        ),
    )
    before = (shop.folder / SPEC).read_bytes()
    result = run(shop)
    counts = [n for (n,) in shop.query("select count(*) from customers group by churned")]
    entropy = -sum(n / 400 * math.log(n / 400) for n in counts)
    closest = math.floor(math.exp(entropy) * 100) / 100
    assert result.exit_code == 2
    assert text_of(result).startswith(
        "customers: no levels keep every guarantee with at most 40 of 400 records suppressed. "
        "- l_diversity (attribute churned l 2 variant entropy) cannot be kept by itself; the "
        "closest that can is l "
    )
    (told,) = re.findall(r"can is l ([\d.]+)\.\s", result.output)
    # Suppression may even do better than the whole table.
    assert closest <= float(told) < 2
    assert "k_anonymity" not in result.output
    assert (shop.folder / SPEC).read_bytes() == before


def test_more_values_than_there_are_is_refused(shop: Project) -> None:
    shop.edit(
        SPEC,
        lambda text: text.replace(
            "k_anonymity: {k: 4}", "k_anonymity: {k: 4}\n  l_diversity: {attribute: churned, l: 3}"
        ),
    )
    result = run(shop)
    assert result.exit_code == 2
    assert text_of(result) == (
        "customers: l_diversity of churned must have l <= 2, the number of values that occur; "
        "got 3. Lower l."
    )


def test_bounds_that_are_too_low_are_named(shop: Project) -> None:
    searched = "search: {measure: loss, levels: {birth_date: {highest: 0}}}"
    shop.edit(SPEC, lambda text: text.replace("search: {measure: loss}", searched))
    result = run(shop)
    assert result.exit_code == 2
    assert "k_anonymity (k 4) cannot be kept by itself; the closest that can is k 1" in text_of(
        result
    )
    assert "or raise `highest` in search.levels" in text_of(result)


def test_unknown_names_and_options_exit_with_2(shop: Project) -> None:
    assert run(shop, name="customer").exit_code == 2
    assert run(shop, "--efforts", "0").exit_code == 2
    assert run(shop, "--measure", "beauty").exit_code == 2
    assert run(shop, "--recoding", "global").exit_code == 2


def test_nodes_of_the_front_that_the_search_ruled_out_are_checked(
    built_frequencies: Project,
) -> None:
    task = load(built_frequencies)
    found = find_efforts(task)
    by_node = {row[1:4]: row for row in lattice_rows(task, found)}
    for k, checked in found.front.points:
        status, is_feasible, _, is_on_front, _ = by_node[checked.node][7:]
        assert (status, is_feasible, is_on_front) == ("checked", True, True)
        assert checked.k == k
    assert task.suppression_limit == Decimal("0.1")


def test_the_command_is_listed() -> None:
    from typer.testing import CliRunner

    assert "search" in CliRunner().invoke(app, ["--help"]).output


def test_features_with_too_many_categories_are_named(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CATEGORIES", 3)
    result = run(shop, "--efforts", "1", "--dry-run")
    assert result.exit_code == 0, result.output
    with shop.connection() as connection:
        occurring = connection.execute(
            "select count(distinct value), count(distinct level_1), count(distinct level_2) "
            "from customers_hierarchy_zip where value in (select zip from customers_microdata)"
        ).fetchall()[0]
    level = next(n for n, size in enumerate(occurring) if size <= 3)
    line = (
        f"customers: zip has {occurring[0]:,} values, and models read at most 3: they read it at "
        f"level {level} ({occurring[level]:,} labels), in effort 0 too."
    )
    assert level > 0
    assert line in " ".join(result.output.split())
