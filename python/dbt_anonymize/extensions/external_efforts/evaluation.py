"""The body of ``<n>_evaluation`` where an effort is the table of another tool.

Every model is trained on what an effort makes of the inner records (a foreign table is taken as it
is), and each split tests a random share of the outer ones, which the tool has not seen. Over such
shares without replacement, Nadeau and Bengio's factor is that of the delete-d jackknife (Shao and
Wu 1989): intervals say how well a score on the outer records is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.columns import FACTS
from dbt_anonymize.evaluation.data.features import (
    SPACES,
    Arrays,
    Column,
    Plain,
    check_categories,
)
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FirstArrays
from dbt_anonymize.evaluation.data.relations import (
    SOURCE,
    column_kind,
    query,
    ranked_texts,
    read_arrays,
)
from dbt_anonymize.evaluation.data.spaces import UNKNOWN, Block, OneHot, flag_unknown
from dbt_anonymize.evaluation.data.targets import TargetColumn, target_reader
from dbt_anonymize.evaluation.problem import EffortData, Problem, Target
from dbt_anonymize.evaluation.request import EvaluationRequest, parse_request
from dbt_anonymize.evaluation.run import evaluate_request
from dbt_anonymize.evaluation.target_checks import check_numbers, check_target
from dbt_anonymize.extensions.external_efforts.digest import digest_of
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

_ROW = "dbt_anonymize_row"


@dataclass(frozen=True, kw_only=True)
class ExternalRequest(EvaluationRequest):
    """Keys of the mapping passed to `evaluate_external`.

    Attributes
    ----------
    external
        ``effort`` and ``relation`` of each table of another tool.
    tested
        Record keys with ``is_outer``; these records alone are tested.
    """

    may_fit_once: ClassVar[bool] = False
    external: Sequence[Mapping[str, Any]]
    tested: duckdb.DuckDBPyRelation


def evaluate_external(session: duckdb.DuckDBPyConnection, given: Mapping[str, Any]) -> pd.DataFrame:
    """Train models on every effort and score them on outer records; see `evaluate`.

    A row of kind ``rows`` has the digest of each foreign table as it was evaluated.
    """
    import pandas as pd  # noqa: PLC0415

    request = parse_request(ExternalRequest, given, {})
    targets = [TargetColumn(**target) for target in request.targets]

    def complete(problem: Problem, reader: EffortReader, first: FirstArrays) -> Problem:
        tested = reader.read_column(
            request.tested, "cast(is_outer as bigint)", first.keys, "outer records"
        ).astype(bool)
        for target in problem.targets:
            _check_outer(target, tested, problem)
        foreign = [_read(reader, one, first, targets, problem) for one in request.external]
        efforts = sorted([*problem.efforts, *foreign], key=lambda effort: effort.effort)
        return replace(problem, efforts=efforts, tested=tested)

    frame = evaluate_request(session, request, complete)
    rows = pd.DataFrame(
        {"effort": one["effort"], "kind": "rows", "name": digest_of(one["relation"])}
        for one in request.external
    )
    return pd.concat([frame, rows.reindex(columns=[*FACTS]).astype(FACTS)])


def _check_outer(target: Target, tested: np.ndarray, problem: Problem) -> None:
    """Refuse outer records of which no share can be drawn."""
    outer = target.known[tested[target.known]]
    name = f"{target.name}` of the outer records, `{target.name}"
    if target.codes is not None:
        check_target(target.codes[outer], len(target.classes), problem.splitting, name)
    elif target.numbers is not None:
        check_numbers(target.numbers[outer], problem.splitting, name)


def _read(
    reader: EffortReader,
    given: Mapping[str, Any],
    first: FirstArrays,
    targets: Sequence[TargetColumn],
    problem: Problem,
) -> EffortData:
    """Read the rows of a foreign table: features in the space of its labels, and targets."""
    number, relation = given["effort"], given["relation"]
    ordered = ", ".join(map(quote_name, relation.columns))
    relation = query(
        relation,
        f"select *, row_number() over (order by {ordered}) as {_ROW} from {SOURCE}",  # noqa: S608
    )
    levels = {
        feature.name: query(
            relation,
            f"select max({quote_name(f'{feature.name}_level')}) from {SOURCE}",  # noqa: S608
        ).fetchall()[0][0]
        for feature in reader.features
        if not isinstance(feature, Plain)
    }
    target_readers = [target_reader(relation, one, place) for place, one in enumerate(targets)]
    expressions = {
        (feature.name, part): sql
        for feature in reader.features
        for part, sql in feature.sql(relation).items()
    }
    named = {f"{name} {part}": sql for (name, part), sql in expressions.items()}
    named |= {name: sql for one in target_readers for name, sql in one.sql.items()}
    values = read_arrays(relation, named, order_by=_ROW)
    columns = []
    for feature, untouched in zip(reader.features, first.columns, strict=True):
        arrays = {
            part: values[f"{name} {part}"] for name, part in expressions if name == feature.name
        }
        if isinstance(feature, Plain):
            columns.append(_plain(feature, arrays, relation, reader, untouched))
        elif isinstance(feature, Interval):
            columns.append(feature.generalized(arrays, levels[feature.name], untouched))
        else:
            texts = ranked_texts(relation, feature.name)
            columns.append(feature.generalized(arrays, texts, levels[feature.name], untouched))
    own = [
        _target(one.classes, target, values, place, number)
        for place, (one, target) in enumerate(zip(target_readers, problem.targets, strict=True))
    ]
    none = np.zeros(len(values["record_hash"]), dtype=np.int64)
    data = reader.effort_data(Effort(number, relation, levels), columns, {"is_suppressed": none})
    return replace(data, targets=own)


def _plain(
    feature: Plain,
    arrays: Arrays,
    relation: duckdb.DuckDBPyRelation,
    reader: EffortReader,
    untouched: Column,
) -> Column:
    """Return a kept column, whose texts may be others than those of the records."""
    if column_kind(relation, feature.name) != "text":
        return feature.masked(arrays, untouched)
    own = ranked_texts(relation, feature.name)
    original = ranked_texts(reader.untouched.relation, feature.name)
    known = {text: at for at, text in enumerate(sorted({*own, *original} - {None}, key=str))}
    check_categories(feature.name, len(known))
    places = [
        np.array([UNKNOWN if text is None else known[text] for text in texts], dtype=np.int64)
        for texts in (own, original)
    ]
    blocks: list[list[Block]] = [[OneHot(at, len(known))] for at in places]
    if None in own or None in original:
        for some, at in zip(blocks, places, strict=True):
            some.append(flag_unknown(at))
    return Column(
        arrays["value"].astype(np.int64),
        dict.fromkeys(SPACES, blocks[0]),
        dict.fromkeys(SPACES, blocks[1]),
    )


def _target(
    classes: Sequence[str], target: Target, values: Arrays, place: int, number: int
) -> Target:
    """Return what foreign rows say of a target, with the classes of the records."""
    if target.task != "classification":
        return replace(target, numbers=values[f"number {place}"].astype(np.float64))
    codes = values[f"code {place}"].astype(np.int64)
    positions = {name: at for at, name in enumerate(target.classes)}
    strange = [at for at, name in enumerate(classes) if name not in positions]
    if strange:
        raise EvaluationError(
            f"target `{target.name}` of effort {number} must have classes of the source; "
            f"{int(np.isin(codes, strange).sum())} of {len(codes)} rows have another. Correct "
            "them in the relation of the other tool."
        )
    own = np.array([positions[name] for name in classes], dtype=np.int64)
    return replace(target, codes=np.where(codes < 0, codes, own[np.maximum(codes, 0)]))
