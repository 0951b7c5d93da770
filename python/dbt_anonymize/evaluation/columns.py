"""Columns of what evaluations return, with their pandas types."""

FACTS = {
    "effort": "int64",
    "target": "str",
    "model": "str",
    "fit": "str",
    "test_on": "str",
    "repetition": "Int64",
    "fold": "Int64",
    "kind": "str",
    "name": "str",
    "other": "str",
    "bin": "Int64",
    "value": "float64",
}
_INTERVALS = ("qf", "qf_difference")
OUTER_QUALITY = {
    "effort": "int64",
    "target": "str",
    "model": "str",
    "measure": "str",
    "training_records": "Int64",
    "outer_records": "int64",
    **{f"{name}{end}": "float64" for name in _INTERVALS for end in ("", "_low", "_high")},
    "zero_rule": "float64",
    "beats_zero_rule": "boolean",
    "qf_mean": "float64",
    "reason": "str",
}
