"""QNF, an expression over the privacy of an effort, the columns of ``<n>_privacy``; its weight."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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
FUNCTIONS = ("least", "greatest", "ln", "sqrt", "abs")
# The classes of sqlglot that may stand in an expression beside columns and numbers.
_EXPRESSIONS = frozenset({"Add", "Sub", "Mul", "Div", "Neg", "Paren", "Identifier"}) | {
    function.title() for function in FUNCTIONS
}
_LONGEST = 500


def _refuse(what: str) -> NoReturn:
    raise rule_error(
        "must be an expression of columns of <n>_privacy, numbers, + - * /, parentheses and "
        f"{', '.join(FUNCTIONS)}; {what}",
        "Write for example k, 1 - 1/k, 1 - highest_risk, or the measure of a sensitive column: "
        "1 - illness_t.",
    )


def _parse(text: object) -> Any:
    """Return a syntax tree, which is shared: copy it to change it."""
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        _refuse(f"a text of at most {_LONGEST} characters")
    return _parse_text(text)


@cache
def _parse_text(text: str) -> Any:
    # Slower to import than everything else that specs need.
    import sqlglot  # noqa: PLC0415
    from sqlglot import exp  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        (parsed,) = sqlglot.parse(text)
    except (SqlglotError, ValueError, RecursionError):
        _refuse("it cannot be read as one")
    if parsed is None:
        _refuse("it is empty")
    for node in parsed.walk():
        if node.comments:
            _refuse("it has a comment")
        is_column = isinstance(node, exp.Column) and len(node.parts) == 1
        is_number = isinstance(node, exp.Literal) and not node.is_string
        if not (is_column or is_number or type(node).__name__ in _EXPRESSIONS):
            _refuse(f"{type(node).__name__.lower()} is none of them")
    return parsed


def _columns(parsed: Any) -> list[str]:
    from sqlglot import exp  # noqa: PLC0415

    return list(dict.fromkeys(column.name for column in parsed.find_all(exp.Column)))


def _check_expression(value: object) -> object:
    if not _columns(_parse(value)):
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
    for name in _columns(_parse(text)):
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
    from sqlglot import exp  # noqa: PLC0415

    parsed = _parse(text)
    columns = _columns(parsed)

    def with_portable_names(node: Any) -> Any:
        if isinstance(node, exp.Column):
            return exp.column(f"qnf_{columns.index(node.name) + 1}")
        if isinstance(node, exp.Literal) and node.this.isdigit():
            return exp.Literal.number(f"{node.this}.0")
        return node

    def null_where_undefined(node: Any) -> Any:
        if isinstance(node, exp.Div):
            return exp.Div(this=node.this, expression=exp.func("NULLIF", node.expression, 0))
        if isinstance(node, (exp.Ln, exp.Sqrt)):
            sign = ">" if isinstance(node, exp.Ln) else ">="
            condition = f"{node.this.sql()} {sign} 0"
            return exp.Case(ifs=[exp.If(this=exp.condition(condition), true=node)])
        return node

    sql = _bottom_up(parsed.transform(with_portable_names), null_where_undefined).sql()
    return {"columns": columns, "sql": sql.lower()}


def _bottom_up(node: Any, change: Any) -> Any:
    """Rewrite an expression bottom-up, never revisiting new nodes."""
    for key, part in list(node.args.items()):
        if isinstance(part, list):
            node.set(key, [_bottom_up(item, change) for item in part])
        elif hasattr(part, "args"):
            node.set(key, _bottom_up(part, change))
    return change(node)
