"""An extension and a model type are added by the recipes of CONTRIBUTING, in a copy."""

from __future__ import annotations

import re
import shutil

import pytest

from scripts import make_index
from tests.projects import REPOSITORY, Project
from tests.recipes.copies import add_before, copy_package, run, run_command

pytestmark = pytest.mark.sampled_tests(group="recipes")

RECIPES = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", RECIPES, re.M | re.S))
PAGE, PAGE_TEXT = re.search(r"^```markdown (\S+)\n(.*?)^```$", RECIPES, re.M | re.S).groups()  # type: ignore[union-attr]
REGISTRY = "python/dbt_anonymize/extension.py"


@pytest.fixture
def project(consumer: Project) -> Project:
    """Return a built project, with a copy of the package to which the toy is added."""
    copy_package(consumer.folder)
    for name, text in BLOCKS.items():
        path = consumer.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    add_before(consumer.folder / REGISTRY, ")\n_PACKAGE", '    "class_count",\n')
    return consumer


def test_the_toy_has_ten_lines_at_most_in_each_part() -> None:
    """Imports and docstrings are not counted."""
    assert len(BLOCKS) == 2
    for text in BLOCKS.values():
        lines = re.sub(r'""".*?"""|^(?:from|import) .*$', "", text, flags=re.M | re.S).split("\n")
        assert len([line for line in lines if line.strip()]) <= 12


def test_the_toy_passes_the_linters(project: Project) -> None:
    settings = f"--config={REPOSITORY / 'pyproject.toml'}"
    for command in (["check"], ["format", "--check"]):
        assert run(project, "-m", "ruff", *command, settings, *BLOCKS)[0] == 0


def test_an_extension_adds_a_command_and_a_check(project: Project) -> None:
    code, output = run_command(project, "class-count", "customers")
    assert code == 0, output
    (classes,) = project.query(
        "select count(distinct cqi) from release_customers.customers_anonymized"
    )[0]
    assert output.strip() == str(classes)
    code, output = run_command(project, "verify", "--check", "class_count", "--verbose")
    assert code == 0, output
    assert f"customers: the release has {classes} classes" in output
    # Where the promise is broken, the check says so.
    project.execute("update customers_classes set is_suppressed = true")
    code, output = run_command(project, "verify", "--check", "class_count")
    assert code == 1, output
    assert "the release has 0 classes" in output


def test_the_index_leads_to_its_page(project: Project) -> None:
    for name in (*make_index.ABOVE, "mkdocs.yml", "scripts/make_index.py"):
        (project.folder / name).parent.mkdir(exist_ok=True)
        shutil.copy2(REPOSITORY / name, project.folder / name)
    shutil.copytree(REPOSITORY / "docs", project.folder / "docs")
    (project.folder / PAGE).write_text(PAGE_TEXT, encoding="utf-8")
    assert run(project, "scripts/make_index.py") == (0, "")
    index = (project.folder / "docs/extensions/README.md").read_text(encoding="utf-8")
    # Those that are not here follow.
    section, *_ = index.partition("\n## class_count\n")[2].partition("\n## ")
    assert section == (
        "\nClass count: how many classes a release has, a toy.\n\n"
        "- [Class count](class_count.md): how many classes a release has.\n"
        "- [Commands](../reference/commands.md): `class-count`.\n"
        "- Checks of [`verify`](../verification.md): `class_count`.\n"
    )
    assert "extensions/class_count.md" in (project.folder / "mkdocs.yml").read_text("utf-8")


def test_without_its_line_and_folder_it_is_gone(project: Project) -> None:
    project.edit(REGISTRY, lambda text: text.replace('    "class_count",\n', ""))
    assert run_command(project, "class-count", "customers")[0] == 2
    assert run_command(project, "verify", "--check", "class_count")[0] == 2


def test_a_model_type_is_one_line(project: Project) -> None:
    (line,) = re.findall(r'^    ("nearest_centroid": .*)$', RECIPES, re.M)
    estimators = project.folder / "python/dbt_anonymize/evaluation/estimators.py"
    add_before(estimators, '            "naive_bayes": ', f"            {line}\n")
    scripts = REPOSITORY / "scripts" / "make_parameters.py"
    for folder in ("scripts", "macros/sql"):
        (project.folder / folder).mkdir(parents=True)
    copied = project.folder / "scripts" / scripts.name
    copied.write_text(scripts.read_text(encoding="utf-8"), encoding="utf-8")
    assert run(project, str(copied)) == (0, "")
    spec = "anonymizations/customers.yml"
    project.edit(
        spec,
        lambda text: text.replace("model: decision_tree", "model: nearest_centroid").replace(
            "{max_depth: 4}", "{shrink_threshold: 0.1}"
        ),
    )
    assert run_command(project, "generate", "--quiet") == (0, "")
    # All that it reads is built.
    train = ("-m", "dbt.cli.main", "--quiet", "run", "--select", "customers_evaluation")
    code, output = run(project, *train, "--profiles-dir", str(project.folder))
    assert code == 0, output
    trained = project.query(
        "select distinct model from customers_evaluation where kind = 'measure'"
    )
    assert ("nearest_centroid",) in trained
