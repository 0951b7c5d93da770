"""QNF, an expression over the privacy of an effort, the columns of ``<n>_privacy``; its weight."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NoReturn

from pydantic import Field, PlainValidator

from dbt_anonymize.privacy.registry import measures_of
from dbt_anonymize.relations import MODELS
from dbt_anonymize.spec.problems import did_you_mean, names
from dbt_anonymize.validation import rule_error

# Measures of sensitive attributes are allowed too, and these where a guarantee reads labels.
COLUMNS = MODELS["privacy"].numbers()[1:]  # without the effort
# Those that extensions measure beside, where an anonymization has them.
ADDED = [name for relation in MODELS.values() if relation.in_qnf for name in relation.numbers()[1:]]
OF_LABELS = MODELS["privacy"].numbers(condition="spec.reads_labels")
_OF_ONE = {
    "ln": "case when {0} > 0 then ln({0}) end",
    "sqrt": "case when {0} >= 0 then sqrt({0}) end",
    "abs": "abs({0})",
}
_OF_SEVERAL = ("least", "greatest")
FUNCTIONS = (*_OF_SEVERAL, *_OF_ONE)
_SUM = (ast.Add, ast.Sub)
# SQL of each, and what needs parentheses on its left and on its right.
_OPERATORS: dict[type, tuple[str, tuple[type, ...], tuple[type, ...]]] = {
    ast.Add: ("{} + {}", (), (*_SUM, ast.USub)),
    ast.Sub: ("{} - {}", (), (*_SUM, ast.USub)),
    ast.Mult: ("{} * {}", _SUM, (ast.operator, ast.USub)),
    ast.Div: ("{} / nullif({}, 0)", _SUM, ()),
}
_LONGEST, _LONGEST_SQL = 500, 10_000


def _refuse(what: str) -> NoReturn:
    raise rule_error(
        "must be an expression of columns of <n>_privacy, numbers, + - * /, parentheses and "
        f"{', '.join(FUNCTIONS)}; {what}",
        "Write for example k, 1 - 1/k, 1 - highest_risk, or the measure of a sensitive column: "
        "1 - illness_t.",
    )


def _parse(text: object) -> dict[str, Any]:
    """Return the columns of an expression, and its SQL, which calls them qnf_1, …."""
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        _refuse(f"a text of at most {_LONGEST} characters")
    # Python reads such expressions as SQL does, but for comments, texts and lines; a name in double
    # quotes is a text to it.
    if other := re.search("--|#|'", re.sub('"[^"]+"', "", text)):
        _refuse(f"{other[0]} is none of them")
    columns: dict[str, str] = {}
    try:
        tree = ast.parse(" ".join(text.splitlines()).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        _refuse("it cannot be read as one")
    sql = _sql(tree.body, columns)
    return {"columns": list(columns), "sql": sql}


def _sql(node: ast.expr, columns: dict[str, str]) -> str:
    """Write an expression in SQL, NULL where it is undefined; add its columns."""

    def part(node: ast.expr, *in_parentheses: type) -> str:
        sql = _sql(node, columns)
        return f"({sql})" if isinstance(getattr(node, "op", None), in_parentheses) else sql

    match node:
        case ast.Name(id=name) | ast.Constant(value=str(name)):
            sql = columns.setdefault(name, f"qnf_{len(columns) + 1}")
        case ast.Constant(value=int() | float() as number) if (
            not isinstance(number, bool) and number < 1e300
        ):
            sql = repr(float(number))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            sql = f"-{part(operand, ast.operator, ast.USub)}"
        case ast.BinOp(left=left, op=op, right=right) if operator := _OPERATORS.get(type(op)):
            template, on_the_left, on_the_right = operator
            sql = template.format(part(left, *on_the_left), part(right, *on_the_right))
        case ast.Call(func=ast.Name(id=name), args=[operand], keywords=[]) if (
            name.lower() in _OF_ONE
        ):
            sql = _OF_ONE[name.lower()].format(part(operand))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as operands, keywords=[]) if (
            name.lower() in _OF_SEVERAL
        ):
            sql = f"{name.lower()}({', '.join(map(part, operands))})"
        case _:
            _refuse(f"{ast.unparse(node)} is none of them")
    if len(sql) > _LONGEST_SQL:  # which doubles with each logarithm of a logarithm
        _refuse("it is nested too deep")
    return sql


def _check_expression(value: object) -> object:
    if not _parse(value)["columns"]:
        _refuse("it names no column")
    return value


def _check_weight(value: object) -> object:
    if value == "auto":
        return value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and 0 <= value < float("inf"):  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise rule_error(
        "must be auto or a finite number >= 0",
        "Write auto, or what a unit of QNF is worth (YAML reads 1e-3 as text: write 0.001).",
    )


Qnf = Annotated[str, PlainValidator(_check_expression, json_schema_input_type=str)]
_Written = Literal["auto"] | Annotated[float, Field(ge=0)]
Alpha = Annotated[
    Literal["auto"] | float, PlainValidator(_check_weight, json_schema_input_type=_Written)
]


def check_columns(text: str, spec: Mapping[str, Any]) -> str:
    """Refuse columns that ``<n>_privacy`` lacks; ``spec`` holds columns and guarantees."""
    declared, columns = spec.get("guarantees"), spec.get("columns")
    if declared is None or columns is None:  # reported themselves
        return text
    own = [effort.guarantees for effort in spec.get("efforts", ()) if effort.guarantees]
    models = [model for guarantees in (declared, *own) for _, model in guarantees.declared]
    sensitive = [name for name, column in columns.items() if column.role == "sensitive"]
    attributes = [*sensitive, *(getattr(model, "attribute", None) for model in models)]
    measured = (f"{a}_{measure}" for a in attributes if a for measure in measures_of(models, a))
    reads_labels = any(model.READS_LABELS for model in models)
    columns_of_numbers = [*COLUMNS, *(OF_LABELS if reads_labels else ()), *measured]
    allowed = list(dict.fromkeys([*columns_of_numbers, *ADDED]))
    for name in _parse(text)["columns"]:
        if name not in allowed:
            remedy = did_you_mean(
                name, allowed, f"Columns of numbers are {names(columns_of_numbers)}."
            )
            raise rule_error(f"must name columns of <n>_privacy, which has no {name}", remedy)
    return text


def qnf_argument(text: str) -> dict[str, Any]:
    """Return the argument of the macro ``results``: columns, and SQL that calls them qnf_1, ….

    All are doubles. What is undefined is NULL: a division by 0, a logarithm of no positive number,
    a root of a negative one.

    Examples
    --------
    >>> qnf_argument("1 - 1/k")
    {'columns': ['k'], 'sql': '1.0 - 1.0 / nullif(qnf_1, 0)'}
    """
    return _parse(text)
