"""ARX's own expectations on the adult table: its data as tables of the search, its rows parsed.

The data are read from the folder ``DBT_ANONYMIZE_DATA`` and never part of the project.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.privacy.guarantees import Guarantees, ReleaseRule
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table
from tests.oracle.uniqueness import population_uniques

_REPOSITORY = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DBT_ANONYMIZE_DATA", str(_REPOSITORY.parent / "shared" / "data")))
ADULT = DATA / "adult"
EXPECTATIONS = DATA.parent / "oracle" / "arx_adult_expectations.csv"

# ARX's tests estimate for the population of the USA, and k-map with this significance.
_POPULATION = 317_238_626
_SIGNIFICANCE = 0.01
# Draws of the research subsets of the tests called Subset, by case.
_DRAWS = {0: 20_000, 1: 10_000, 2: 30_000, 3: 9_000}
_SEED = 0xDEADBEEF - 2**32


@dataclass(frozen=True)
class Expectation:
    """One row of the file of expectations.

    ``loss``, ``node`` and ``suppressed`` are None where ARX expects that nothing is found.
    ``counts_rest`` says that ARX counts the records outside of the research subset as suppressed.
    """

    name: str
    guarantees: tuple[dict[str, Any], ...]
    measure: str
    aggregate: str | None
    suppression_limit: str
    is_assumed_monotone: bool
    attributes: tuple[str, ...]
    sensitive: str | None
    sample: str
    loss: float | None
    node: tuple[int, ...] | None
    suppressed: int | None


_MEASURES = {
    "Non-uniform entropy": "monotone_non_uniform_entropy",
    "Non-monotonic non-uniform entropy": "non_uniform_entropy",
    "Monotonic discernability (DM*)": "monotone_discernibility",
    "Average equivalence class size": "average_class_size",
    "Loss (0.5/1.0/1.0)": "loss",
}
_AGGREGATES = {"null": None, "Sum": "sum", "Geometric mean": "geometric_mean"}
_ATTRIBUTES = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)
_NUMBER = r"([0-9.]+(?:E-?[0-9]+)?)"
_OF_ATTRIBUTE = r" for attribute '([a-z-]+)'"


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() else value


def _t_closeness(t: str, distance: str, attribute: str) -> dict[str, Any]:
    distance = distance.removesuffix(" distance").removesuffix(" ground-distance")
    return {"model": "t_closeness", "attribute": attribute, "t": float(t), "distance": distance}


_GUARANTEES: dict[str, Callable[..., dict[str, Any]]] = {
    rf"{_NUMBER}-anonymity": lambda k: {"model": "k_anonymity", "k": int(k)},
    rf"(shannon|grassberger)-entropy-{_NUMBER}-diversity{_OF_ATTRIBUTE}": lambda kind, size, name: {
        "model": "l_diversity",
        "attribute": name,
        "l": _number(size),
        "variant": {"shannon": "entropy"}.get(kind, kind),
    },
    rf"recursive-\({_NUMBER},{_NUMBER}\)-diversity{_OF_ATTRIBUTE}": lambda c, size, name: {
        "model": "l_diversity",
        "attribute": name,
        "l": _number(size),
        "c": float(c),
        "variant": "recursive",
    },
    rf"{_NUMBER}-closeness with ([a-z]+ (?:ground-)?distance){_OF_ATTRIBUTE}": _t_closeness,
    rf"(basic|enhanced)-{_NUMBER}-likeness{_OF_ATTRIBUTE}": lambda kind, beta, name: {
        "model": "beta_likeness",
        "attribute": name,
        "beta": float(beta),
        "variant": kind,
    },
    rf"\({_NUMBER}\)-map": lambda k: {"model": "k_map", "k": int(k)},
    rf"\({_NUMBER}\)-map estimated as \([0-9]+\)-anonymity \(Zero-truncated Poisson\)": lambda k: {
        "model": "k_map",
        "k": int(k),
        "estimator": "zero_truncated_poisson",
        "significance": _SIGNIFICANCE,
    },
    rf"\({_NUMBER}\)-avg-reidentification-risk": lambda risk: {
        "model": "reidentification_risk",
        "average": float(risk),
    },
    rf"\({_NUMBER}\)-sample-uniqueness": lambda share: {
        "model": "uniqueness",
        "sample_share": float(share),
    },
    rf"\({_NUMBER}\)-population-uniqueness \(([a-z]+)\)": lambda share, estimator: {
        "model": "uniqueness",
        "population_share": float(share),
        "estimator": estimator,
    },
}


def arx_guarantees(declared: Sequence[Mapping[str, Any]], table: Table) -> Guarantees:
    """Compile guarantees, also limits of uniqueness, which ARX has without k-anonymity."""
    ours = [one for one in declared if one["model"] != "uniqueness"]
    compiled = compile_guarantees(ours, table)
    for one in declared:
        if one["model"] == "uniqueness":
            is_counted = "sample_share" in one
            compiled = replace(
                compiled,
                release_rules=(*compiled.release_rules, _uniqueness(one, table.population_size)),
                is_monotone_in_generalization=is_counted and compiled.is_monotone_in_generalization,
                is_monotone_in_suppression=is_counted and compiled.is_monotone_in_suppression,
            )
    return compiled


def _uniqueness(declared: Mapping[str, Any], size: int | None) -> ReleaseRule:
    """Return whether few enough of those who are released are unique."""

    def holds(released: Ints) -> bool:
        sizes, counts = np.unique(released, return_counts=True)
        if "sample_share" in declared:
            ones = int(counts[sizes == 1].sum())
            return ones <= declared["sample_share"] * int(sizes @ counts)
        assert size is not None
        unique = population_uniques(sizes, counts, size, estimator=declared["estimator"])
        return unique <= declared["population_share"] * size

    return holds


def _guarantees(text: str) -> tuple[dict[str, Any], ...]:
    found = []
    for part in text.split(" & "):
        if part == "Inclusion":
            continue
        matches = [(re.fullmatch(form, part), make) for form, make in _GUARANTEES.items()]
        [made] = [make(*match.groups()) for match, make in matches if match]
        found.append(made)
    return tuple(found)


def _sample(testclass: str, case: str, models: str) -> str:
    """Say which records are anonymized: all, ARX's subset file, or a number of random draws."""
    if testclass == "Subset":
        return str(_DRAWS[int(case)])
    return "subset" if testclass == "KMap" and "estimated" not in models else "all"


def _expectation(row: dict[str, str]) -> Expectation:
    is_found = row["expected_transformation"] != "null"
    sensitive = row["sensitive"] or None
    return Expectation(
        name=f"{row['testclass']}-{row['case']}",
        guarantees=_guarantees(row["models"]),
        measure=_MEASURES[row["metric"]],
        aggregate=_AGGREGATES[row["aggregate"]],
        suppression_limit=row["suppression_limit"],
        is_assumed_monotone=row["practical_monotonicity"] == "true",
        attributes=tuple(name for name in _ATTRIBUTES if name != sensitive),
        sensitive=sensitive,
        sample=_sample(row["testclass"], row["case"], row["models"]),
        loss=float(row["expected_loss"]) if is_found else None,
        node=tuple(map(int, re.findall("[0-9]+", row["expected_transformation"])))
        if is_found
        else None,
        suppressed=int(row["suppressed"]) if is_found else None,
    )


def expectations() -> list[Expectation]:
    """Read all rows; none where the file is absent."""
    if not EXPECTATIONS.exists():
        return []
    with EXPECTATIONS.open(encoding="utf-8", newline="") as file:
        return [_expectation(row) for row in csv.DictReader(file)]


def records_of_adult(name: str) -> list[dict[str, str]]:
    with (ADULT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=";"))


@cache
def _hierarchy(name: str) -> tuple[Attribute, dict[str, int]]:
    """Read a hierarchy; every value is a leaf, those that do not occur included."""
    with (ADULT / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    levels: list[Ints] = []
    shares = []
    for column in zip(*rows, strict=True):
        codes = {label: code for code, label in enumerate(dict.fromkeys(column))}
        levels.append(np.array([codes[label] for label in column]))
        shares.append(np.bincount(levels[-1]) / len(rows))
    leaves = {row[0]: leaf for leaf, row in enumerate(rows)}
    attribute = Attribute(name, tuple(levels), tuple(shares), len(rows), 1.0 / len(rows))
    return attribute, leaves


class _JavaRandom:
    """The generator of ``java.util.Random``: 48 bits, multiplied and added to at each draw."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ 0x5DEECE66D) % 2**48

    def _next(self) -> int:
        self._state = (self._state * 0x5DEECE66D + 0xB) % 2**48
        return self._state >> 17

    def below(self, bound: int) -> int:
        """Draw a number below a bound that is no power of two, without favouring small ones."""
        while True:
            bits = self._next()
            if bits - bits % bound + bound - 1 < 2**31:
                return bits % bound


def _sampled(sample: str, records: list[dict[str, str]]) -> list[bool]:
    if sample == "all":
        return [True] * len(records)
    if sample != "subset":
        random = _JavaRandom(_SEED)
        drawn = {random.below(int(sample)) for _ in range(int(sample))}
        return [row in drawn for row in range(len(records))]
    # ARX looks each record of the subset up in the table and takes the first that is left.
    wanted: dict[tuple[str, ...], int] = {}
    for record in records_of_adult("adult_subset.csv"):
        key = tuple(record.values())
        wanted[key] = wanted.get(key, 0) + 1
    chosen = []
    for record in records:
        key = tuple(record.values())
        chosen.append(wanted.get(key, 0) > 0)
        wanted[key] = wanted.get(key, 0) - 1
    return chosen


@cache
def table_of(attributes: tuple[str, ...], sensitive: str | None, sample: str) -> Table:
    """Return the adult table, distinct rows in the order of first appearance."""
    records = records_of_adult("adult.csv")
    is_sampled = _sampled(sample, records)
    hierarchies = [_hierarchy(name) for name in attributes]
    # Values of an attribute that occur, in the order of their type (text).
    values = sorted({record[sensitive] for record in records}) if sensitive else []
    codes: dict[tuple[int, ...], int] = {}
    counts: list[list[int]] = []
    for record, is_in_sample in zip(records, is_sampled, strict=True):
        key = tuple(leaves[record[attribute.name]] for attribute, leaves in hierarchies)
        if sensitive:
            key = (*key, values.index(record[sensitive]))
        row = codes.setdefault(key, len(counts))
        if row == len(counts):
            counts.append([0, 0])
        counts[row][0] += is_in_sample
        counts[row][1] += 1
    rows = np.array(list(codes))
    in_sample, in_population = np.array(counts).T
    return Table(
        attributes=tuple(attribute for attribute, _ in hierarchies),
        leaves=np.ascontiguousarray(rows[:, : len(attributes)]),
        records=np.ascontiguousarray(in_sample),
        sensitive=((_sensitive(sensitive, values), rows[:, -1].copy()),) if sensitive else (),
        population=np.ascontiguousarray(in_population) if sample == "subset" else None,
        population_size=_POPULATION,
    )


def _sensitive(name: str, values: list[str]) -> SensitiveAttribute:
    attribute, leaves = _hierarchy(name)
    chosen = np.array([leaves[value] for value in values])
    tree = [np.arange(len(values)), *(labels[chosen] for labels in attribute.levels[1:])]
    return SensitiveAttribute(name, len(values), tuple(tree))
