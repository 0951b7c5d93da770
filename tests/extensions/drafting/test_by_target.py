"""`dbt-anonymize init --categories target`: trees that inner records grow, and the spec around."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(group="installation")]

OUTER = "substr(md5('outer 1 ' || person), 1, 8) < '33333333'"
# Thirty cities in two hidden groups, and four villages of two or three people.
PEOPLE = """
with people as (
    select
        i as person,
        20 + i * 7 % 60 as age,
        case
            when i < 9 then 'village ' || i // 3
            else 'city ' || lpad(cast(i * 7 % 30 as varchar), 2, '0')
        end as place,
        (i * 7 % 30) * 11 % 30 < 12 as is_hidden,
        i * 7919 % 100 as draw
    from range({people}) as numbers(i)
),
said as (
    select *, case when draw < if(is_hidden, 65, 20) then 'yes' else 'no' end as bought_plain
    from people
)
select
    person, age, place, {extra}
    case when {flips} then if(bought_plain = 'yes', 'no', 'yes') else bought_plain end as bought
from said
"""
ASKED = ("--ref", "shoppers", "--predict", "bought", "--yes", "--categories", "target")


def build(project: Project, flips: str = "false", *, people: int = 3000, extra: str = "") -> None:
    """Build a table of shoppers in which some records have the other target."""
    sql = PEOPLE.format(people=people, flips=flips, extra=extra)
    (project.folder / "models" / "shoppers.sql").write_text(sql)
    project.build("--select", "shoppers")


def seed_of(project: Project, name: str = "shop") -> Path:
    return project.folder / "seeds" / f"{name}_hierarchy_place.csv"


def test_a_tree_by_target_splits_where_groups_differ_and_builds(consumer: Project) -> None:
    build(consumer)
    folder = consumer.folder
    done = run("init", "shop", *ASKED, "--project-dir", folder)
    assert done.exit_code == 0, done.output
    said = [line for line in done.stdout.splitlines() if line.startswith("quality.outer_share")]
    assert said == [
        "quality.outer_share: 0.2, since categories were merged by the target: these records had "
        "no part in it and score the chosen effort."
    ]
    tree = read_hierarchy(seed_of(consumer))
    assert isinstance(tree, CategoricalHierarchy)
    labels = dict(zip(tree.values, tree.labels[-2], strict=True))
    hidden = {city: int(city[-2:]) * 11 % 30 < 12 for city in labels if "city" in city}
    assert len({*hidden.values()}) == len({labels[city] for city in hidden}) == 2
    assert len({(labels[city], side) for city, side in hidden.items()}) == 2
    assert not any("village" in label for level in tree.labels for label in level)

    path = folder / "anonymizations" / "shop.yml"
    spec, text = load_spec(path), path.read_text()
    assert (spec.outer_share, spec.quality.random_state) == (0.2, 1)
    (command,) = [line for line in text.splitlines() if "hierarchy by-target" in line]
    assert "--predict bought --person person" in command
    again = folder / "again.csv"
    *words, _ = shlex.split(command.strip("# "))
    done = run(*words[1:], again, "--project-dir", folder)
    assert done.exit_code == 0, done.output
    assert again.read_text() == seed_of(consumer).read_text()

    assert run("generate", "shop", "-q", "--project-dir", folder).exit_code == 0
    consumer.build("--select", "+shop_anonymized", "shop_outer_quality", "shop_hierarchy_*")
    assert consumer.release("shop")


def test_neither_outer_nor_rare_records_influence_a_tree(consumer: Project) -> None:
    """Of a wide table, outer records do not say either which columns are kept."""
    wide = "".join(f"(person * {n} // 5) % {n} as answer_{n}, " for n in range(5, 20))
    texts = {}
    for name, flips in {
        "shop": "false",
        "others": OUTER,
        "villages": "place like 'village%'",
        "inner": f"not {OUTER} and draw < 50",
    }.items():
        build(consumer, flips, extra=wide)
        done = run("init", name, *ASKED, "--project-dir", consumer.folder)
        assert done.exit_code == 0, done.output
        spec = yaml.safe_load((consumer.folder / "anonymizations" / f"{name}.yml").read_text())
        roles = {column: one["role"] for column, one in spec["columns"].items()}
        texts[name] = (roles if name != "villages" else None, seed_of(consumer, name).read_text())
    assert texts["others"] == texts["shop"]
    assert texts["villages"][1] == texts["shop"][1]
    assert texts["inner"][1] != texts["shop"][1]


def test_people_are_outer_with_all_their_records(consumer: Project) -> None:
    """A category of many records of few people is rare."""
    sql = """
        select
            i as visit, i // 4 as patient_id, 20 + i // 4 % 50 as age,
            case when i < 16 then 'a few' else 'w' || i // 4 % 5 end as ward,
            if(i // 4 % 5 < 2, 'yes', 'no') as bought
        from range(2000) as numbers(i)
    """
    (consumer.folder / "models" / "shoppers.sql").write_text(sql)
    consumer.build("--select", "shoppers")
    done = run("init", "shop", *ASKED, "--project-dir", consumer.folder)
    assert done.exit_code == 0, done.output
    text = (consumer.folder / "anonymizations" / "shop.yml").read_text()
    assert "--predict bought --person patient_id" in text
    tree = read_hierarchy(consumer.folder / "seeds" / "shop_hierarchy_ward.csv")
    labels = {label for level in tree.labels for label in level}
    assert not any("a few" in label for label in labels)


def test_categories_by_target_are_refused_where_nothing_may_be_learned(consumer: Project) -> None:
    build(consumer, people=300)
    without = tuple(word for word in ASKED if word not in {"--predict", "bought"})
    path = consumer.folder / "anonymizations" / "noisy.yml"
    path.write_text("guarantees: {differential_privacy: {epsilon: 1, delta: 1.0e-6}}\n")
    refused = {
        ("shop", *without): "needs a target: --predict <column>",
        ("shop", *ASKED, "--purpose", "statistics"): "is for models, not for --purpose statistics",
        ("shop", *ASKED, "--explain", "place"): "drafts, and --explain writes nothing",
        ("noisy", *ASKED, "--replace"): "must not stand beside differential_privacy",
    }
    for words, why in refused.items():
        done = run("init", *words, "--project-dir", consumer.folder)
        assert done.exit_code == 2
        assert done.stderr.startswith(f"--categories target {why}")
        assert len(done.stderr.splitlines()) == 1
    assert not (consumer.folder / "anonymizations" / "shop.yml").exists()
    # Without categories nothing is kept apart.
    ages = "select i as person, 20 + i % 60 as age, if(i % 3 = 0, 'a', 'b') as bought"
    ages += " from range(99) as numbers(i)"
    (consumer.folder / "models" / "shoppers.sql").write_text(ages)
    consumer.build("--select", "shoppers")
    done = run("init", "shop", *ASKED, "--project-dir", consumer.folder)
    assert "No categories were merged by target" in done.stdout
    assert load_spec(consumer.folder / "anonymizations" / "shop.yml").outer_share is None
