"""From the files of the case studies to seeds: what is read, what is renamed, and the hierarchies.

The data are read from the folder ``DBT_ANONYMIZE_DATA`` and never part of the project, except the
diabetes data, which come with scikit-learn.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from dbt_anonymize.extensions.hierarchy_builders.arx import read_arx
from dbt_anonymize.extensions.hierarchy_builders.groups import explicit_groups, ordered_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.hierarchies import CategoricalHierarchy, Hierarchy, hierarchy_csv
from dbt_anonymize.hierarchies.table import level_columns
from tests.projects import DATA

RECORD_KEY = "record"


@dataclass(frozen=True)
class Study:
    """A table and the hierarchies of its quasi-identifiers, ready to be written as seeds.

    Parameters
    ----------
    name : str
        Of the anonymization; seeds begin with it.
    rows : sequence of mappings
        Cells as text by column; an empty one is NULL. All have the same columns.
    hierarchies : mapping
        By quasi-identifier.
    texts : sequence of str
        Columns of digits that are categories: kept as text, together with their hierarchies.
    """

    name: str
    rows: Sequence[Mapping[str, str]]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    texts: Sequence[str] = ()

    def write(self, folder: Path) -> None:
        """Write all seeds into a folder."""
        with (folder / f"{self.name}_source.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([RECORD_KEY, *self.rows[0]])
            writer.writerows([n, *row.values()] for n, row in enumerate(self.rows, start=1))
        for column, tree in self.hierarchies.items():
            path = folder / f"{self.name}_hierarchy_{column}.csv"
            path.write_text(hierarchy_csv(tree), encoding="utf-8")
        types = {f"{self.name}_source": dict.fromkeys(self.texts, "text")} | {
            f"{self.name}_hierarchy_{column}": dict.fromkeys(
                ("value", *level_columns(self.hierarchies[column].levels)), "text"
            )
            for column in self.texts
            if column in self.hierarchies
        }
        properties = [{"name": s, "config": {"column_types": t}} for s, t in types.items()]
        path = folder / f"_{self.name}.yml"
        path.write_text(yaml.safe_dump({"seeds": properties}), encoding="utf-8")


def medical_cost() -> Study:
    """Keep what the study uses; intervals of charges are 5,000 to 30,000 wide and begin at 0.

    The range ends where all of them that hold a bill are whole: a cut one has another midpoint.
    """
    bills = _csv_rows("medical_cost/insurance.csv")
    widths = [5000 * effort for effort in range(1, 7)]
    return Study(
        "medical_cost",
        [{name: row[name] for name in ("bmi", "charges", "smoker")} for row in bills],
        {"charges": equal_width_intervals(0, 90000, widths)},
    )


SYMPTOMS = (
    "nausea",
    "lumbar_pain",
    "urine_pushing",
    "micturition_pains",
    "urethra_burning",
)
DIAGNOSES = ("bladder_inflammation", "nephritis")


def acute_inflammations() -> Study:
    """Read UTF-16 with a byte order mark, tabs and decimal commas; there is no header.

    A symptom is 0 or 1 in the file, and becomes a word. 38 degrees divide fever from its absence.
    """
    lines = _read("acute_inflammations/diagnosis.data", "utf-16").splitlines()
    word = {"0": "no", "1": "yes"}
    rows = []
    for temperature, *findings in (line.split("\t") for line in lines if line.strip()):
        words = [word[finding.strip()] for finding in findings]
        named = dict(zip((*SYMPTOMS, *DIAGNOSES), words, strict=True))
        rows.append({"temperature": temperature.strip().replace(",", "."), **named})
    return Study(
        "acute_inflammations",
        rows,
        {
            "temperature": cut_intervals(["35", "36.5", "38", "40", "42"], merge=[2]),
            **dict.fromkeys(SYMPTOMS, _root_only(["no", "yes"])),
        },
    )


# Columns of the file.
GRADES = {
    "clump_thickness": "a",
    "size_uniformity": "b",
    "shape_uniformity": "c",
    "marginal_adhesion": "d",
    "epithelial_size": "e",
    "bare_nuclei": "f",
    "bland_chromatin": "g",
    "normal_nucleoli": "h",
    "mitoses": "i",
}
GRADES_OF_STUDY = ("clump_thickness", "size_uniformity", "bare_nuclei")


def wisconsin_grades(names: Sequence[str]) -> list[dict[str, str]]:
    """Read grades from 1 to 10 of each sample, and its tumour; a `?` is missing: an empty text."""
    tumours = {"2": "benign", "4": "malignant"}
    return [
        {
            "patient": row["id"],
            **{name: row[GRADES[name]].replace("?", "") for name in names},
            "tumour": tumours[row["class"]],
        }
        for row in _csv_rows("breast_cancer_wisconsin_original/breast-cancer-wisconsin.data")
    ]


def wisconsin_original() -> Study:
    """Read three grades from 1 to 10 of each sample; a `?` is a missing one and becomes NULL.

    Intervals of whole numbers begin at a half, so that their midpoint is the mean of what they
    cover: [0.5, 2.5) covers 1 and 2.
    """
    rows = wisconsin_grades(GRADES_OF_STUDY)
    grade = equal_width_intervals("0.5", "10.5", [2], merge=[2])
    return Study("wisconsin_original", rows, dict.fromkeys(GRADES_OF_STUDY, grade))


def contraceptive_method_choice() -> Study:
    """Read answers of married women; all of them are categories, also ages and children.

    Naive Bayes then counts each answer, whatever its distribution.
    """
    method = {"1": "none", "2": "long_term", "3": "short_term"}
    rows = []
    for row in _csv_rows("contraceptive_method_choice/cmc.data"):
        chosen = method[row["contraceptive_method_use"]]
        answers = {name.lower(): value for name, value in row.items() if "method" not in name}
        rows.append({**answers, "method": chosen})
    children = [str(number) for number in range(17)]
    fine = {**{n: [n] for n in children[:5]}, "5 - 6": children[5:7], "7 - 8": children[7:9]}
    return Study(
        "contraceptive_method_choice",
        rows,
        {
            "wife_age": ordered_groups([str(age) for age in range(16, 50)], [5, 2, 2]),
            "wife_education": ordered_groups(["1", "2", "3", "4"], [2]),
            "children_born": explicit_groups(
                [
                    {**fine, "9 - 16": children[9:]},
                    {
                        "0 - 1": ["0", "1"],
                        "2 - 3": ["2", "3"],
                        "4 - 6": ["4", "5 - 6"],
                        "7 - 16": ["7 - 8", "9 - 16"],
                    },
                    {"0 - 3": ["0 - 1", "2 - 3"], "4 - 16": ["4 - 6", "7 - 16"]},
                ]
            ),
        },
        texts=tuple(answers),
    )


def contraceptive_payouts() -> Study:
    """Keep the three answers that are generalized there, and the method."""
    whole = contraceptive_method_choice()
    names = [*whole.hierarchies, "method"]
    rows = [{name: row[name] for name in names} for row in whole.rows]
    return Study("contraceptive_payouts", rows, whole.hierarchies, tuple(whole.hierarchies))


def diabetes() -> Study:
    """Take the unscaled data of scikit-learn; sex is 1 or 2 there."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    names = ["age", "sex", "bmi", "blood_pressure", *data.feature_names[4:], "progression"]
    rows = []
    for values, progression in zip(data.data, data.target, strict=True):
        cells = dict(zip(names, [*map(_number, values), _number(progression)], strict=True))
        rows.append(cells | {"sex": {"1": "first", "2": "second"}[cells["sex"]]})
    return Study(
        "diabetes",
        rows,
        {
            "age": equal_width_intervals(10, 90, [5], merge=[2, 2, 2]),
            "bmi": equal_width_intervals(15, 45, ["2.5"], merge=[2, 2]),
            "sex": _root_only(["first", "second"]),
        },
    )


ADULT = {
    "sex": "sex",
    "race": "race",
    "marital_status": "marital-status",
    "education": "education",
    "country": "native-country",
    "workclass": "workclass",
    "occupation": "occupation",
}


def cell_suppression() -> Study:
    """Keep the columns of adult that are known of people, and the income; age in whole years."""
    lines = csv.DictReader(_read("adult/adult.csv", "utf-8").splitlines(), delimiter=";")
    rows = [
        {name: line[column] for name, column in ADULT.items()}
        | {"age": line["age"], "income": {"<=50K": "low", ">50K": "high"}[line["salary-class"]]}
        for line in lines
    ]
    trees: dict[str, Hierarchy] = {name: _adult(column) for name, column in ADULT.items()}
    return Study(
        "cell_suppression", rows, trees | {"age": equal_width_intervals(0, 100, [5, 10, 20])}
    )


def income_tables() -> Study:
    """Keep age, education and income of adult."""
    whole, names = cell_suppression(), ("age", "education", "income")
    rows = [{name: row[name] for name in names} for row in whole.rows]
    trees = {name: tree for name, tree in whole.hierarchies.items() if name in names}
    return Study("income_tables", rows, trees)


STUDIES: Mapping[str, Callable[[], Study]] = {
    prepare.__name__: prepare
    for prepare in (
        medical_cost,
        acute_inflammations,
        wisconsin_original,
        contraceptive_method_choice,
        contraceptive_payouts,
        diabetes,
    )
}
# Too large to be drawn for `make test`.
LARGE_STUDIES: Mapping[str, Callable[[], Study]] = {
    prepare.__name__: prepare for prepare in (cell_suppression, income_tables)
}
FOLDERS = {
    "cell_suppression": "adult",
    "income_tables": "adult",
    "medical_cost": "medical_cost",
    "acute_inflammations": "acute_inflammations",
    "wisconsin_original": "breast_cancer_wisconsin_original",
    "contraceptive_method_choice": "contraceptive_method_choice",
    "contraceptive_payouts": "contraceptive_method_choice",
}


def is_available(name: str) -> bool:
    """Tell whether the data of a study are there."""
    return name not in FOLDERS or (DATA / FOLDERS[name]).is_dir()


def _adult(name: str) -> CategoricalHierarchy:
    """Read a hierarchy of the adult table, which is in the format of ARX."""
    return read_arx(DATA / "adult" / f"adult_hierarchy_{name}.csv")


def _root_only(values: Iterable[str]) -> CategoricalHierarchy:
    values = tuple(values)
    return CategoricalHierarchy(values, (("*",) * len(values),))


def _number(value: float) -> str:
    return f"{value:.10g}"


def _csv_rows(file: str) -> list[dict[str, str]]:
    return list(csv.DictReader(_read(file, "utf-8").splitlines()))


def _read(file: str, encoding: str) -> str:
    return (DATA / file).read_text(encoding=encoding)
