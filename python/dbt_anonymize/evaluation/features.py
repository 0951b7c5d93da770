"""How a value enters a model: always in the space of the original values.

=================  ==================================================================
value              as features
=================  ==================================================================
interval           the midpoint of its bounds; at level 0 the number itself
interval of dates  the same, in days since 1970-01-01
category           an expected one-hot over the leaves of the hierarchy that its label
                   covers, each with the same weight; at level 0 a plain one-hot; the
                   root and ``*`` (NULL) cover every leaf and so carry no information
plain number       itself; NULL and NaN become the median of the training records
plain date         the same, in days since 1970-01-01
plain text, bool   one-hot over the sorted categories; NULL is zero everywhere
=================  ==================================================================

So a model that was trained on generalized records can read untouched ones, which a one-hot of the
labels could not: it has never seen the raw values.

The same label may cover different leaves at different levels, so each effort is read with the
level that it declares, and where levels differ per record with that of each record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.relations import (
    code_sql,
    column_kind,
    number_sql,
    quote_name,
    read_texts,
)

if TYPE_CHECKING:
    import duckdb

ROOT = "*"
MAX_CATEGORIES = 2000
Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Encoding:
    """How to read one feature of one effort: SQL for a number or a code, and what the code means.

    Attributes
    ----------
    feature : str
        Column name.
    sql : str
        A number; or the code of a category, -1 if it is not known, -2 if it is NULL.
    table : array of float, shape (categories + 1, features), or None
        What each code means; the last row is for NULL. None for a number.
    may_be_missing : bool
        Whether a number may be NULL or NaN.
    """

    feature: str
    sql: str
    table: Floats | None = None
    may_be_missing: bool = False


@dataclass(frozen=True)
class Design:
    """A matrix of features with its equal rows stored once.

    Attributes
    ----------
    rows : array of float, shape (distinct rows, features)
        NaN where a plain number is missing.
    codes : array of int, shape (records,)
        The row of each record; ``rows[codes]`` is the whole matrix.
    """

    rows: Floats
    codes: Codes


def interval_encoding(relation: duckdb.DuckDBPyRelation, name: str) -> Encoding:
    """Return how to read an interval: the midpoint of its bounds.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        An effort, with ``<name>_lower`` and ``<name>_upper``.
    name : str
        The quasi-identifier.
    """
    bounds = []
    for bound in (f"{name}_lower", f"{name}_upper"):
        kind = column_kind(relation, bound)
        if kind == "text":
            raise EvaluationError(
                f"column `{bound}` must hold numbers or dates, since `{name}` is declared as "
                "an interval; it holds text. Check the hierarchy's kind in the spec."
            )
        bounds.append(number_sql(bound, kind))
    return Encoding(name, f"({bounds[0]} + {bounds[1]}) / 2")


def categorical_encoding(
    relation: duckdb.DuckDBPyRelation,
    name: str,
    hierarchy: duckdb.DuckDBPyRelation,
    level: int,
) -> Encoding:
    """Return how to read a category: the share of each leaf of the hierarchy in its label.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        An effort, with the label in column ``name``.
    name : str
        The quasi-identifier.
    hierarchy : duckdb.DuckDBPyRelation
        Columns ``value``, ``level_1``, ...; one row per leaf.
    level : int
        The level of the effort; 0 is the raw value.
    """
    column_kind(relation, name)
    labels, table = _covered_leaves(name, hierarchy, level)
    return Encoding(name, code_sql(name, labels), table)


def recoded_encoding(
    relation: duckdb.DuckDBPyRelation, name: str, hierarchy: duckdb.DuckDBPyRelation
) -> Encoding:
    """Return how to read a category whose level differs per record.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        An effort, with the label in column ``name`` and its level in ``<name>_level``.
    name : str
        The quasi-identifier.
    hierarchy : duckdb.DuckDBPyRelation
        Columns ``value``, ``level_1``, ...; one row per leaf.

    Raises
    ------
    EvaluationError
        If the level of a record is missing or not a level of the hierarchy. A label that is not in
        the level of its record is found when the values are read.
    """
    column_kind(relation, name)
    level_column = f"{name}_level"
    if column_kind(relation, level_column) != "number":
        raise EvaluationError(
            f"column `{level_column}` must hold numbers, the level of each record; it does not. "
            "Build the recoding again."
        )
    levels = _levels_in_use(relation, level_column)
    branches, tables, first = [], [], 0
    for level in levels:
        labels, table = _covered_leaves(name, hierarchy, level)
        code = f"({code_sql(name, labels)})"
        # Codes of each level follow those of the levels before; -1 and -2 mean the same in all.
        branches.append(
            f"when {level} then case when {code} < 0 then {code} else {code} + {first} end"
        )
        tables.append(table[:-1])
        first += len(table) - 1
    tables.append(_covered_leaves(name, hierarchy, 0)[1][-1:])
    sql = f"case {quote_name(level_column)} {' '.join(branches)} end" if branches else "-2"
    return Encoding(name, sql, np.vstack(tables))


def _levels_in_use(relation: duckdb.DuckDBPyRelation, level_column: str) -> list[int]:
    texts = [row[0] for row in read_texts(relation, [level_column])]
    if None in texts:
        raise EvaluationError(
            f"column `{level_column}` must hold the level of every record; it is missing in some. "
            "Only intervals have labels between two levels. Build the recoding again."
        )
    return sorted(int(text) for text in texts)


def _covered_leaves(
    name: str, hierarchy: duckdb.DuckDBPyRelation, level: int
) -> tuple[list[str], Floats]:
    """Return the labels of a level with the root, and the share of each leaf in each of them.

    The last row of the table has no label: it is that of NULL, which covers every leaf.
    """
    leaves, label_of = _labels(name, hierarchy, level)
    labels = sorted(set(label_of))
    position = {label: row for row, label in enumerate(labels)}
    table = np.zeros((len(labels) + 2, len(leaves)))
    table[[position[label] for label in label_of], np.arange(len(leaves))] = 1.0
    table[len(labels) :] = 1.0  # the label of NULL, and NULL itself
    table /= table.sum(axis=1, keepdims=True)
    if ROOT in position:
        table = np.delete(table, len(labels), axis=0)
    else:
        labels.append(ROOT)
    return labels, table


def _labels(
    name: str, hierarchy: duckdb.DuckDBPyRelation, level: int
) -> tuple[list[str], list[str]]:
    """Return the leaves of a hierarchy, sorted, and the label of each at a level."""
    columns = ["value", f"level_{level}"] if level else ["value"]
    missing = sorted(set(columns) - {column.lower() for column in hierarchy.columns})
    if missing:
        raise EvaluationError(
            f"hierarchy of `{name}` must have the columns {columns} to read level {level}; "
            f"got no {missing}. Correct the level in the spec or add the column."
        )
    rows = [row for row in read_texts(hierarchy, columns) if row[0] is not None]
    leaves = [row[0] for row in rows]
    labels = [row[-1] for row in rows]
    if not rows or len(set(leaves)) < len(leaves) or None in labels:
        raise EvaluationError(
            f"hierarchy of `{name}` must give each value one label at level {level}; got "
            f"{len(leaves)} rows for {len(set(leaves))} values, {labels.count(None)} of them "
            "without a label. Correct the hierarchy."
        )
    _check_categories(name, len(leaves))
    return leaves, labels


def plain_encoding(relation: duckdb.DuckDBPyRelation, name: str) -> Encoding:
    """Return how to read a column that is not generalized, by its type.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
        Has the column; its categories are those of this relation.
    name : str
        Column name.
    """
    kind = column_kind(relation, name)
    if kind != "text":
        return Encoding(name, number_sql(name, kind), may_be_missing=True)
    labels = [row[0] for row in read_texts(relation, [name]) if row[0] is not None]
    _check_categories(name, len(labels))
    table = np.vstack([np.eye(len(labels)), np.zeros((1, len(labels)))])
    return Encoding(name, code_sql(name, labels), table)


def _check_categories(name: str, categories: int) -> None:
    if categories > MAX_CATEGORIES:
        raise EvaluationError(
            f"feature `{name}` must have at most {MAX_CATEGORIES} categories, since each is a "
            f"column of the model; got {categories}. Leave it out of the features or group it."
        )


def make_design(encodings: Sequence[Encoding], values: Sequence[NDArray[Any]]) -> Design:
    """Return the matrix of features of an effort.

    Parameters
    ----------
    encodings : sequence of Encoding, length >= 1
        One per feature.
    values : sequence of array
        What the SQL of each encoding gave, one value per record.

    Raises
    ------
    EvaluationError
        If a label is not in its level of the hierarchy, or a number is not finite.
    """
    coded = [_code(encoding, array) for encoding, array in zip(encodings, values, strict=True)]
    row_codes = reduce(_pair, [codes for codes, _ in coded])
    _, first, row_codes = np.unique(row_codes, return_index=True, return_inverse=True)
    rows = np.hstack([table[codes[first]] for codes, table in coded])
    return Design(rows=rows, codes=row_codes)


def _pair(left: Codes, right: Codes) -> Codes:
    """Return one code per record for each distinct pair of codes, in the order of the pairs."""
    _, left = np.unique(left, return_inverse=True)
    return left * (int(right.max()) + 1) + right


def _code(encoding: Encoding, values: NDArray[Any]) -> tuple[Codes, Floats]:
    if encoding.table is None:
        _check_numbers(encoding, values)
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct.reshape(-1, 1)
    unknown = int((values == -1).sum())
    if unknown:
        raise EvaluationError(
            f"every label of feature `{encoding.feature}` must be in its level of the hierarchy; "
            f"{unknown} of {len(values)} records have another. Build the efforts and the "
            "hierarchy again."
        )
    codes = np.where(values == -2, len(encoding.table) - 1, values).astype(np.int64)
    return codes, encoding.table


def _check_numbers(encoding: Encoding, values: NDArray[Any]) -> None:
    bad = np.isinf(values) if encoding.may_be_missing else ~np.isfinite(values)
    if bad.any():
        rule = "finite or missing" if encoding.may_be_missing else "finite and not missing"
        raise EvaluationError(
            f"every number of feature `{encoding.feature}` must be {rule}; "
            f"{int(bad.sum())} of {len(values)} are not. Clean them in the source."
        )


def training_medians(design: Design, train: Codes) -> Floats:
    """Return what stands for a missing number in each feature.

    Parameters
    ----------
    design : Design
        Of the effort that trains.
    train : array of int
        Positions of the training records; no other record has an influence.

    Returns
    -------
    array of float, shape (features,)
        The median of the known values of the training records; 0.0 if none is known, and for
        features without missing values, where it is not used.
    """
    medians = np.zeros(design.rows.shape[1])
    for column in np.flatnonzero(np.isnan(design.rows).any(axis=0)):
        values = design.rows[design.codes[train], column]
        known = values[~np.isnan(values)]
        medians[column] = np.median(known) if len(known) else 0.0
    return medians


def filled(rows: Floats, medians: Floats) -> Floats:
    """Return rows with a number in place of each missing one."""
    missing = np.isnan(rows)
    return np.where(missing, medians, rows) if missing.any() else rows
