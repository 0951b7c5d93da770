import csv
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested

pytestmark = pytest.mark.costly

ROOT = Path(__file__).resolve().parents[3]
SEEDS = ROOT / "seeds"
HIERARCHIES = {
    "wdbc/wdbc_hierarchy_mean_radius.csv": (36, 7, False),
    "wdbc_nested/wdbc_nested_hierarchy_mean_radius.csv": (32, 6, True),
    "wdbc_nested/wdbc_nested_hierarchy_mean_symmetry.csv": (32, 6, True),
    "fertility_clinic/fertility_clinic_hierarchy_age.csv": (20, 5, True),
    "fertility_clinic/fertility_clinic_hierarchy_estradiol.csv": (16, 5, True),
    "clinic_visits/clinic_visits_hierarchy_visited_on.csv": (12, 3, True),
    "clinic_visits/clinic_visits_hierarchy_age.csv": (6, 3, True),
}


def rows_of(path):
    with (SEEDS / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def qualified_k(path, hierarchies, efforts, *, required, limit):
    """Return k per effort: after suppression of small classes, or 0 if too many are small."""
    rows = rows_of(path)
    read = {column: read_hierarchy(SEEDS / file) for column, file in hierarchies.items()}
    leaves = [tuple(h.leaf(Decimal(row[column])) for column, h in read.items()) for row in rows]
    found = []
    for levels in efforts:
        labels = [h.labels[level - 1] for h, level in zip(read.values(), levels, strict=True)]
        sizes = Counter(
            tuple(level[leaf] for level, leaf in zip(labels, record, strict=True))
            for record in leaves
        ).values()
        small = sum(size for size in sizes if size < required)
        kept = [size for size in sizes if size >= required]
        found.append(min(kept) if kept and small <= limit * len(rows) else 0)
    return found


@pytest.mark.needs("hierarchy_builders")
def test_the_committed_seeds_are_what_the_script_writes():
    script = ROOT / "scripts" / "make_demo_seeds.py"
    result = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", HIERARCHIES)
def test_each_demo_hierarchy_is_well_formed(path):
    hierarchy = read_hierarchy(SEEDS / path, nested=False)
    leaves = len(hierarchy.lower_bounds)
    assert (leaves, hierarchy.levels, is_nested(hierarchy)) == HIERARCHIES[path]


def test_k_rises_with_every_effort_of_wdbc_nested():
    hierarchies = {
        "mean_radius": "wdbc_nested/wdbc_nested_hierarchy_mean_radius.csv",
        "mean_symmetry": "wdbc_nested/wdbc_nested_hierarchy_mean_symmetry.csv",
    }
    efforts = [(2, 3), (3, 4), (4, 4), (4, 5), (4, 6), (5, 6)]
    k = qualified_k("wdbc/wdbc_source.csv", hierarchies, efforts, required=3, limit=0.1)
    assert k == [3, 8, 20, 47, 141, 283]


def test_the_first_effort_of_the_clinic_is_too_weak_and_k_rises_after_it():
    hierarchies = {
        "age": "fertility_clinic/fertility_clinic_hierarchy_age.csv",
        "estradiol": "fertility_clinic/fertility_clinic_hierarchy_estradiol.csv",
    }
    efforts = [(1, 1), (2, 1), (2, 2), (2, 3), (4, 3), (4, 4)]
    patients = "fertility_clinic/fertility_clinic_patients.csv"
    k = qualified_k(patients, hierarchies, efforts, required=5, limit=0.05)
    assert k == [0, 5, 6, 10, 102, 349]


def test_the_clinic_holds_leading_zeros_quotes_and_letters_of_many_alphabets():
    patients = rows_of("fertility_clinic/fertility_clinic_patients.csv")
    assert len({patient["visit_id"] for patient in patients}) == len(patients) == 2400
    assert all(patient["phone"].startswith("0") for patient in patients)
    assert any(patient["patient_number"].startswith("00") for patient in patients)
    surnames = {patient["surname"] for patient in patients}
    assert {"O'Brien", "Núñez"} <= surnames
    assert any('"' in patient["address"] and "," in patient["address"] for patient in patients)
    domains = {patient["email"].rpartition("@")[2] for patient in patients}
    assert domains == {"example.org", "example.com", "example.net"}
