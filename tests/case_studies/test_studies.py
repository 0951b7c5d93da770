"""The pages of the case studies say what a build gives, and what they conclude from it holds."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
import yaml

from dbt_anonymize.evaluation.splits import Splitting, draw_splits, seeds
from tests.case_studies.building import Built, build
from tests.case_studies.pages import CASE_STUDIES, CasePage
from tests.case_studies.preparation import LARGE_STUDIES, STUDIES, is_available
from tests.extensions import has
from tests.sampling import FULL

# Pages that go with the extension that they need.
OF_EXTENSIONS = {
    "contraceptive_payouts": "payouts",
    "differential_privacy": "differential_privacy",
    "income_tables": "tables",
}
NAMES = [name for name in STUDIES if has(OF_EXTENSIONS.get(name, "recoding"))]
# Each takes a minute and more.
DRAWN = NAMES if FULL else []
PAGES = [*NAMES, *LARGE_STUDIES, "README", "masking_effect", "differential_privacy", "clustering"]
PAGES += ["synthesized"] if has("external_efforts") else []
PAGES = [name for name in PAGES if has(OF_EXTENSIONS.get(name, "recoding"))]

Row = dict[str, Any]


def needs(name: str) -> pytest.MarkDecorator:
    """Skip a test where the data of a study are absent; those of undrawn studies are slow."""
    if name not in DRAWN:
        return pytest.mark.slow
    return pytest.mark.skipif(
        not is_available(name), reason=f"needs the data of {name} (DBT_ANONYMIZE_DATA)"
    )


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Give the project of the studies that are tested and whose data are there, built once."""
    wanted = DRAWN if request.config.option.markexpr == "not slow" else NAMES
    names = [name for name in wanted if is_available(name)]
    return build(tmp_path_factory.mktemp("case_studies"), names)


def results(built: Built, name: str) -> list[Row]:
    """Return the results of a study in the order of efforts."""
    found = sorted(built.rows(f"{name}_results"), key=lambda row: row["effort"])
    assert [row["effort"] for row in found] == [*range(len(found))]
    return found


def chosen(built: Built, name: str) -> int:
    """Return the effort that a study releases."""
    (effort,) = [row["effort"] for row in results(built, name) if row["is_chosen"]]
    return int(effort)


def means(built: Built, name: str, **wanted: str) -> dict[int, float]:
    """Return the mean of one measure by effort."""
    rows = [
        row
        for row in built.rows(f"{name}_quality")
        if all(row[column] == value for column, value in wanted.items())
    ]
    found = {row["effort"]: row["mean"] for row in rows}
    assert len(found) == len(rows) > 0
    return found


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in NAMES])
def test_the_page_shows_what_the_build_gives(built: Built, name: str) -> None:
    page = CasePage(name)
    assert page.text.count("●") >= len(results(built, name))
    assert page.text == page.confirmed(built.rows)


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in NAMES])
def test_every_effort_was_scored_in_every_split(built: Built, name: str) -> None:
    quality = yaml.safe_load(CasePage(name).spec)["quality"]
    splits = quality["repetitions"] * quality.get("folds", 1)
    assert {row["repetitions"] for row in results(built, name)} == {splits}
    assert all(row["kind"] != "failure" for row in built.rows(f"{name}_evaluation"))


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs(n)) for n in NAMES])
def test_models_learn_more_than_the_zero_rule(built: Built, name: str) -> None:
    spec = yaml.safe_load(CasePage(name).spec)
    quality = spec["quality"]
    zero = means(
        built,
        name,
        target=spec["target"],
        model="zero_rule",
        measure=quality["measure"],
        fit=quality.get("fit", "once"),
        test_on="original",
    )
    assert all(row["qf_mean"] > zero[0] for row in results(built, name))


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", CasePage(name).text):
        assert "://" in target or (CASE_STUDIES / target).exists(), target


def test_the_index_has_every_page() -> None:
    listed = re.findall(r"^\| \[[^]]+\]\((\w+)\.md\)", CasePage("README").text, re.M)
    assert sorted([*listed, "README"]) == sorted(path.stem for path in CASE_STUDIES.glob("*.md"))
    assert sorted([*listed, "README"]) == sorted(PAGES)


@needs("medical_cost")
def test_bounds_of_intervals_matter_more_than_widths(built: Built) -> None:
    efforts = results(built, "medical_cost")
    has_bound_at_15000 = {0: True, 1: True, 3: True}
    for row in efforts:
        no_loss = row["qf_difference_low"] <= 0 <= row["qf_difference_high"]
        assert no_loss == has_bound_at_15000.get(row["effort"], False), row["effort"]
    assert chosen(built, "medical_cost") == 1
    (first,) = [row for row in efforts if row["is_chosen"]]
    assert first["runner_up"] == 3
    assert first["q_difference_to_runner_up_low"] < 0 < first["q_difference_to_runner_up_high"]
    assert first["choice_share"] > 0.5
    bills = STUDIES["medical_cost"]().rows
    below = Counter(row["smoker"] for row in bills if float(row["charges"]) < 15000)
    smokers = Counter(row["smoker"] for row in bills)
    assert (smokers["yes"], smokers["no"]) == (274, 1064)
    assert (below["yes"], smokers["no"] - below["no"]) == (7, 91)


@needs("medical_cost")
def test_k_depends_on_where_intervals_begin(built: Built) -> None:
    bills = [float(row["charges"]) for row in STUDIES["medical_cost"]().rows]
    table = re.findall(r"^\| (-?\d+) \|((?: \d+ \|){6})$", CasePage("medical_cost").text, re.M)
    assert len(table) == 4
    for start, printed in table:
        smallest = [
            min(Counter((bill - int(start)) // (5000 * effort) for bill in bills).values())
            for effort in range(1, 7)
        ]
        assert [int(k) for k in re.findall(r"\d+", printed)] == smallest, start
        if start == "0":
            assert [row["k"] for row in results(built, "medical_cost")][1:] == smallest


@needs("acute_inflammations")
def test_acute_inflammations_are_read_as_numbers_and_words() -> None:
    rows = STUDIES["acute_inflammations"]().rows
    temperatures = [float(row["temperature"]) for row in rows]
    assert (len(rows), min(temperatures), max(temperatures)) == (120, 35.5, 41.5)
    words = {value for row in rows for name, value in row.items() if name != "temperature"}
    assert words == {"no", "yes"}


@needs("acute_inflammations")
def test_what_the_search_minimizes_decides(built: Built) -> None:
    rows = results(built, "acute_inflammations")
    demanded = [
        effort["k"] for effort in yaml.safe_load(CasePage("acute_inflammations").spec)["efforts"]
    ]
    assert demanded == [10, 15, 15, 20, 25]
    assert all(row["k"] >= k for row, k in zip(rows[1:], demanded, strict=True))
    assert chosen(built, "acute_inflammations") == 2
    assert [rows[2][column] for column in ("k", "suppressed_records", "qf_mean")] == [19, 20, 1.0]
    assert all(row["qf_mean"] < 0.98 for row in rows[3:])
    shared = {"model": "random_forest", "test_on": "original"}
    accuracy = means(
        built,
        "acute_inflammations",
        target="bladder_inflammation",
        measure="accuracy",
        **shared,
    )
    assert accuracy[2] < 0.96
    nephritis = means(built, "acute_inflammations", target="nephritis", measure="roc_auc", **shared)
    assert min(nephritis[effort] for effort in (0, 1, 2, 3)) == 1.0
    assert max(nephritis[effort] for effort in (4, 5)) < 0.8


@needs("wisconsin_original")
def test_missing_grades_are_null_and_patients_are_counted(built: Built) -> None:
    rows = STUDIES["wisconsin_original"]().rows
    assert sum(row["bare_nuclei"] == "" for row in rows) == 16
    samples = Counter(row["patient"] for row in rows)
    several = [count for count in samples.values() if count > 1]
    assert (len(rows), len(samples), len(several), max(several)) == (699, 645, 46, 6)
    stored = built.rows("wisconsin_original_source")
    assert sum(row["bare_nuclei"] is None for row in stored) == 16


@needs("wisconsin_original")
def test_a_good_auc_hides_missed_tumours(built: Built) -> None:
    rows = results(built, "wisconsin_original")
    assert chosen(built, "wisconsin_original") == 4
    assert [row["is_non_inferior"] for row in rows] == [True, True, True, True, True, False]
    shared = {"model": "logistic_regression", "test_on": "original"}
    found = means(built, "wisconsin_original", measure="sensitivity", **shared)
    assert found[4] < found[0] - 0.05
    assert means(built, "wisconsin_original", measure="brier_skill_score", **shared)[4] < -0.3


@needs("contraceptive_method_choice")
def test_counts_of_categories_reach_the_published_auc(built: Built) -> None:
    shared = {"measure": "roc_auc", "test_on": "original"}
    name = "contraceptive_method_choice"
    counted = means(built, name, model="naive_bayes_of_categories", **shared)
    normal = means(built, name, model="naive_bayes", **shared)
    assert 0.71 <= counted[0] <= 0.73
    assert normal[0] < 0.71
    assert counted[4] > 0.68
    kept = means(built, name, model="naive_bayes", measure="relative_auc", test_on="original")
    assert kept[4] > 0.85
    assert chosen(built, name) == 4
    accuracy = means(
        built,
        name,
        model="naive_bayes_of_categories",
        measure="accuracy",
        test_on="original",
    )
    assert accuracy[4] > accuracy[0]
    of_classes = [
        row
        for row in built.rows(f"{name}_scores")
        if (row["effort"], row["model"]) == (0, "naive_bayes_of_categories")
        and (row["measure"], row["test_on"]) == ("roc_auc", "original")
    ]
    for label, printed in (("none", 0.73), ("long_term", 0.73), ("short_term", 0.68)):
        values = [row["value"] for row in of_classes if row["class"] == label]
        assert sum(values) / len(values) == pytest.approx(printed, abs=0.005)


@needs("contraceptive_method_choice")
def test_normal_distributions_of_numbers_do_not_reach_the_published_auc() -> None:
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.naive_bayes import GaussianNB

    rows = STUDIES["contraceptive_method_choice"]().rows
    answers = [[int(v) for name, v in row.items() if name != "method"] for row in rows]
    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    methods = [row["method"] for row in rows]
    scores = cross_val_score(GaussianNB(), answers, methods, cv=folds, scoring="roc_auc_ovr")
    assert round(float(scores.mean()), 2) == 0.67


@needs("contraceptive_payouts")
def test_records_that_play_bring_more_than_levels_for_all(built: Built) -> None:
    name = "contraceptive_payouts"
    found = {row["effort"]: row for row in built.rows(f"{name}_privacy")}
    more = [
        found[n + 5]["publisher_payout"] / found[n]["publisher_payout"] - 1 for n in range(1, 6)
    ]
    assert (round(min(more), 2), round(max(more), 2)) == (0.06, 0.13)
    assert {found[n]["break_even_gain"] for n in (2, 3, 4, 5, 7, 8, 9, 10)} == {8, 12}
    rows = results(built, name)
    assert max(row["suppressed_records"] for row in rows[6:]) == 4
    for row in rows[4:6]:
        assert row["qf_difference_low"] <= 0 <= row["qf_difference_high"]
    shared = {"model": "MultinomialNB", "test_on": "original"}
    kept = means(built, name, measure="relative_auc", **shared)
    assert min(kept, key=lambda effort: kept[effort]) == 3
    assert all(kept[effort] > 0.98 for effort in range(6, 11))
    sure = dict.fromkeys(range(11), (0.0, 0))
    for row in built.rows(f"{name}_calibration"):
        if row["bin_from"] >= 0.9 and {**row, **shared} == row:
            right, records = sure[row["effort"]]
            right += row["records"] * row["observed_share"]
            sure[row["effort"]] = (right, records + row["records"])
    share = {effort: right / records for effort, (right, records) in sure.items()}
    assert round(share[0], 2) == 0.96
    of_records = [round(share[effort], 2) for effort in range(6, 11)]
    assert (min(of_records), max(of_records)) == (0.76, 0.84)


@needs("diabetes")
def test_both_ways_to_fit_agree_where_hierarchies_are_declared(built: Built) -> None:
    shared = {"model": "ridge", "measure": "r2", "test_on": "original"}
    once, per_split = (means(built, "diabetes", fit=f, **shared) for f in ("once", "per_split"))
    assert once[0] == per_split[0]
    assert once != per_split
    assert all(abs(once[effort] - per_split[effort]) < 0.01 for effort in once)
    generalized = means(built, "diabetes", fit="per_split", **{**shared, "test_on": "generalized"})
    assert generalized == pytest.approx(per_split)
    covering = [row["qf_difference_high"] >= 0 for row in results(built, "diabetes")]
    assert covering == [True, False, False, True, True, True]


@needs("diabetes")
def test_more_than_the_limit_is_suppressed_in_training_records_alone(built: Built) -> None:
    rows = sorted(built.rows("diabetes_effort_1"), key=lambda row: row["record"])
    classes = [row["equivalence_class"] for row in rows]
    shares = []
    for repetition in range(1, 11):
        seed, _ = seeds(1, repetition)
        splitting = Splitting(repetitions=10, test_share=0.3)
        (split,) = draw_splits(splitting, seed, records=len(rows), strata=None, groups=None)
        sizes = Counter(classes[record] for record in split.train)
        shares.append(sum(n for n in sizes.values() if n < 5) / len(split.train))
    suppressed = sum(row["is_suppressed"] for row in rows)
    assert suppressed / len(rows) < 0.1 < max(shares)
    text = CasePage("diabetes").text
    assert f"up to {max(shares):.1%}".replace("%", " %") in text
    assert f"{suppressed / len(rows):.1%}".replace("%", " %") in text
