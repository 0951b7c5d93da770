"""dbt builds exactly the efforts that a search promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dbt_anonymize.extensions.search.efforts import find_efforts
from dbt_anonymize.extensions.search.local_recoding import measure_rounds
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.project.generate import generate
from tests.extensions.search.reports import efforts_of
from tests.extensions.search.running import load, run, text_of, with_spec
from tests.projects import Project

pytestmark = pytest.mark.sampled_tests(group="builds")


def test_dbt_builds_what_the_search_promised(searched: Project, tmp_path: Path) -> None:
    from dbt_anonymize.project import generate

    project = searched.copy(tmp_path / "project")
    generate.generate(project.folder, ["customers"])
    task = load(project)
    found = find_efforts(task)
    assert found.efforts == efforts_of(project)
    project.build("--select", "+customers_privacy", "+customers_information_loss")
    measured = project.query(
        "select k, suppressed_records, loss from customers_privacy "
        "inner join customers_information_loss using (effort) where effort > 0 order by effort"
    )
    assert measured == [
        (node.k, node.suppressed, pytest.approx(node.loss, rel=1e-9))
        for _, node in found.chain.points
    ]


def test_people_of_a_population_are_promised_and_built(crowd: Project, tmp_path: Path) -> None:
    from dbt_anonymize.project import generate

    project = crowd.copy(tmp_path / "project")
    result = run(project, "--efforts", "3")
    assert result.exit_code == 0, result.output
    task = load(project)
    found = find_efforts(task)
    assert len(found.efforts) == 3
    generate.generate(project.folder, ())
    project.build("--select", "+customers_privacy", "+customers_information_loss")
    measured = project.query(
        "select k, suppressed_records, meets_guarantees, loss from customers_privacy "
        "inner join customers_information_loss using (effort) where effort > 0 order by effort"
    )
    assert measured == [
        (node.k, node.suppressed, True, pytest.approx(node.loss, rel=1e-9))
        for _, node in found.chain.points
    ]


def test_dbt_builds_rounds_with_the_loss_that_was_foreseen(shop: Project) -> None:
    result = run(shop, "--recoding", "local", "--efforts", "3")
    assert result.exit_code == 0, result.output
    # Nor does one round release everybody.
    extra = (
        "efforts:\n  - {recoding: local, rounds: [{birth_date: 2, zip: 1, gender: 0}]}\n"
        "  - {recoding: local, rounds: [{birth_date: 1, zip: 1, gender: 0},"
        " {birth_date: 2, zip: 2, gender: 1}]}\n"
    )
    factor = "information_loss: {generalization_suppression_factor: 0.3}\n"
    with_spec(shop, lambda text: text.replace("efforts:\n", extra, 1) + factor)
    shop.build("--select", "+customers_privacy", "+customers_information_loss")
    measured = shop.query(
        "select suppressed_records, loss, precision from customers_privacy "
        "inner join customers_information_loss using (effort) where effort > 0 order by effort"
    )
    expected = []
    for effort in efforts_of(shop):
        nodes = [tuple(levels.values()) for levels in effort.rounds or ()]
        promised = []
        for measure in ("loss", "precision"):
            task = load(shop, measure=measure)
            declared = [*task.declared, {"model": "k_anonymity", "k": effort.k or 4}]
            guarantees = compile_guarantees(declared, task.table)
            promised.append(measure_rounds(task.table, guarantees, task.loss(), nodes))
        (suppressed, loss), (_, imprecision) = promised
        assert loss is not None
        assert imprecision is not None
        expected.append(
            (suppressed, pytest.approx(loss, rel=1e-8), pytest.approx(1 - imprecision, rel=1e-8))
        )
    assert measured == expected
    assert measured[0][0] > 0
    assert measured[-1][0] == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("average", [0.06, 0.12])
def test_rounds_keep_the_average_risk_within_the_suppression_limit(
    shop: Project, average: float
) -> None:
    with_spec(
        shop,
        lambda text: text.replace(
            "k_anonymity: {k: 4}",
            f"k_anonymity: {{k: 4}}\n  reidentification_risk: {{average: {average}}}",
        ),
    )
    result = run(shop, "--recoding", "local", "--efforts", "3")
    if result.exit_code:
        assert "none that were found do" in text_of(result)
        return
    generate(shop.folder)
    shop.build("--select", "+customers_privacy")
    built = shop.query(
        "select meets_guarantees, suppressed_records from customers_privacy "
        "where effort > 0 order by effort"
    )
    table = result.output.partition("rounds of levels of")[2].partition("Pareto front")[0]
    promised = [int(n) for n in re.findall(r"^ +\d+ +\d+ +(\d+) +\S+ +\d+ ", table, re.M)]
    assert len(promised) == len(built) > 0
    for (meets, suppressed), most in zip(built, promised, strict=True):
        assert meets
        assert suppressed <= most <= 40
