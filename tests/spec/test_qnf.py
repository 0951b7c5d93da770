"""QNF is an expression over what is measured of privacy, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import SpecError
from dbt_anonymize.spec import load_spec
from dbt_anonymize.spec.qnf import qnf_argument
from tests.spec.files import changed
from tests.worlds.hierarchies import PROPERTY


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("K", "qnf: must name columns of <n>_privacy, which has no K; got 'K'. Did you mean k?"),
        ("1 - age_t", "Columns of numbers are k, equivalence_classes,|Did you mean"),
        ("1 - ill_hierarchical_t", "must name columns of <n>_privacy"),
    ],
)
def test_only_what_is_measured_is_a_column(
    write: Callable[..., Path], text: str, says: str
) -> None:
    with pytest.raises(SpecError, match=says):
        load_spec(write(changed("qnf", text)))


@pytest.mark.parametrize("text", ["k", "1 - highest_risk", "ill_distinct_l", '1 - "ill_t"'])
def test_every_measure_may_be_qnf(write: Callable[..., Path], text: str) -> None:
    assert load_spec(write(changed("qnf", text))).qnf == text


@pytest.mark.parametrize(
    "name", ["ill ness", "e-mail", "2nd", "gro\u0308\u00dfe", "m\u00b2", "a--b", "#"]
)
def test_a_name_in_double_quotes_may_be_any(name: str) -> None:
    argument = qnf_argument(f'1 - "{name}_t"\n + k')
    assert argument == {"columns": [f"{name}_t", "k"], "sql": "1.0 - qnf_1 + qnf_2"}


NUMBERS = st.sampled_from([None, 0.0, 0.25, 1.0, 2.0, 7.0])
LEAVES = st.sampled_from(["k", "highest_risk", "ill_t", "0", "1", "2", "0.5"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["ln", "sqrt", "abs", "-"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(st.sampled_from(["least", "greatest"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    ),
    max_leaves=6,
)


def by_python(text: str, values: dict[str, float | None]) -> float | None:
    """Compute an expression; what is undefined is None, but where least and greatest skip it."""

    def partial(function: Callable[[float], float], allows: Callable[[float], bool]) -> Callable:
        return lambda x: function(x) if x is not None and allows(x) else None

    def several(function: Callable[..., float]) -> Callable:
        return lambda *xs: function([x for x in xs if x is not None], default=None)

    class Number(float):
        pass

    names = {
        "ln": partial(math.log, lambda x: x > 0),
        "sqrt": partial(math.sqrt, lambda x: x >= 0),
        "abs": partial(abs, lambda _: True),
        "least": several(min),
        "greatest": several(max),
    }
    import ast

    def value(node: ast.expr) -> float | None:
        match node:
            case ast.Constant(value=constant):
                return float(constant)
            case ast.Name(id=name):
                return values[name]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return names[name](*map(value, arguments))
            case ast.UnaryOp(operand=operand):
                found = value(operand)
                return None if found is None else -found
            case ast.BinOp(left=left, op=op, right=right):
                a, b = value(left), value(right)
                if a is None or b is None or (isinstance(op, ast.Div) and b == 0):
                    return None
                return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}.get(
                    type(op), a / b if b else None
                )
        raise AssertionError(ast.dump(node))

    return value(ast.parse(text, mode="eval").body)


@PROPERTY
@given(text=EXPRESSIONS, row=st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_the_sql_computes_what_is_written(text: str, row: tuple[float | None, ...]) -> None:
    values = dict(zip(("k", "highest_risk", "ill_t"), row, strict=True))
    argument = qnf_argument(text)
    columns = ", ".join(
        f"cast(? as double) as qnf_{n}" for n in range(1, len(argument["columns"]) + 1)
    )
    given = [values[name] for name in argument["columns"]]
    ((found,),) = duckdb.execute(
        f"select cast({argument['sql']} as double) from (select {columns or '1'})", given
    ).fetchall()
    expected = by_python(text, values)
    assert found == (expected if expected is None else pytest.approx(expected))
