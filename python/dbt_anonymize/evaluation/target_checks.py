"""Check that a target can be split: enough records, classes and subjects on both sides."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.splits import Splitting


def check_target(
    target: Ints, classes: int, splitting: Splitting, name: str, *, groups: Ints | None = None
) -> None:
    """Raise an `EvaluationError` if a target cannot be split by class.

    ``target`` is the class of each record, none of them NULL; ``groups`` its subject. Refused are
    fewer than two classes, a class of fewer records than folds (hold-out: than 2) or of one
    subject, too few records for the share, and too few subjects.
    """
    _check_folds(len(target), splitting)
    if classes < 2:
        raise EvaluationError(
            f"target `{name}` must have at least 2 classes; got {classes} in {len(target)} "
            "records. Name a target that varies."
        )
    _check_rare_classes(target, classes, splitting, name)
    train, test = _sizes(len(target), splitting)
    if min(test, train) < classes:
        raise EvaluationError(
            f"training and test records must be at least as many as the {classes} classes of "
            f"target `{name}`; got {train} and {test}. Change quality.test_share "
            "or use more records."
        )
    if groups is not None:
        _check_groups(groups, splitting)
        _check_classes_of_groups(target, classes, groups, name)


def check_numbers(
    values: Floats, splitting: Splitting, name: str, *, groups: Ints | None = None
) -> None:
    """Raise an `EvaluationError` if a numeric target cannot be split.

    None of the ``values`` is NULL. Refused are infinite numbers, a single value, fewer than two
    records to train or to test, and too few subjects.
    """
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise EvaluationError(
            f"target `{name}` must be finite; {infinite} of {len(values)} records have an infinite "
            "number. Correct them in the source, or name another target."
        )
    check_records(len(values), splitting, f"target `{name}`", groups=groups)
    if values.min() == values.max():
        raise EvaluationError(
            f"target `{name}` must have at least 2 values; got 1 in {len(values)} records. Name a "
            "target that varies."
        )


def check_records(
    records: int, splitting: Splitting, what: str, *, groups: Ints | None = None
) -> None:
    """Raise an `EvaluationError` if there are too few records or subjects to train and to test."""
    _check_folds(records, splitting)
    train, test = _sizes(records, splitting)
    if min(train, test) < 2:
        raise EvaluationError(
            f"{what} must have at least 2 records to train and 2 to test in every split; "
            f"got {train} and {test} with {splitting.description}. Change it or use more records."
        )
    if groups is not None:
        _check_groups(groups, splitting)


def check_known(target: Target) -> Ints:
    """Return the records with a target; an `EvaluationError` if there are none."""
    if not len(target.known):
        raise EvaluationError(
            f"target `{target.name}` must be known for some records; it is NULL in all of "
            f"{target.records}. Name another target."
        )
    return target.known


def _check_folds(records: int, splitting: Splitting) -> None:
    if splitting.folds is not None and splitting.folds > records:
        raise EvaluationError(
            f"quality.folds must be at most the number of records, {records}, since each fold "
            f"tests one; got {splitting.folds}. Write fewer folds: 5 or 10 are usual."
        )


def _check_rare_classes(target: Ints, classes: int, splitting: Splitting, name: str) -> None:
    needed = splitting.folds or 2
    sizes = np.bincount(target, minlength=classes)
    rare, records = int((sizes < needed).sum()), int(sizes[sizes < needed].sum())
    if rare:
        clause = "has 1 record" if records == 1 else f"have {records} records together"
        why = "one to each fold" if splitting.folds else "one to train and one to test"
        raise EvaluationError(
            f"every class of target `{name}` must have at least {needed} records, {why}; got "
            f"{rare} of {classes} classes with fewer, which {clause}. "
            + _remedy(rare, classes, int(sizes.max()), splitting)
        )


def _remedy(rare: int, classes: int, largest: int, splitting: Splitting) -> str:
    """Return advice about rare classes; if all are rare, there are too many folds."""
    if rare == classes:
        return f"No class has more than {largest}: write fewer than {splitting.folds} folds."
    fewer = ", write fewer folds" if splitting.folds else ""
    return (
        "Leave those records out of the source, merge these classes with others"
        f"{fewer}, or name another target."
    )


def _sizes(records: int, splitting: Splitting) -> tuple[int, int]:
    """Return the numbers of training and test records in the smallest split."""
    if splitting.folds is not None:
        test = records // splitting.folds
        return records - math.ceil(records / splitting.folds), test
    test = math.ceil((splitting.test_share or 0.0) * records)
    return records - test, test


def _check_groups(groups: Ints, splitting: Splitting) -> None:
    subjects, needed = len(np.unique(groups)), splitting.folds or 2
    if subjects < needed:
        raise EvaluationError(
            f"subjects must be at least {needed}, since none may both train and test with "
            f"{splitting.description}; got {subjects}. Use more records or fewer folds."
        )


def _check_classes_of_groups(target: Ints, classes: int, groups: Ints, name: str) -> None:
    pairs = np.unique(groups * classes + target)
    single = int((np.bincount(pairs % classes, minlength=classes) < 2).sum())
    if single:
        raise EvaluationError(
            f"every class of target `{name}` must occur with at least 2 subjects, one to train and "
            f"one to test; got {single} of {classes} classes with fewer. Merge rare classes in the "
            "source, or name another target."
        )
