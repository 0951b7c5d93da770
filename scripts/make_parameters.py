"""Write what specs are read by: parameters of models, and what extensions add.

So a spec is read without importing scikit-learn, and an extension that is missing is named.
"""

from __future__ import annotations

from pathlib import Path

from dbt_anonymize.evaluation.estimators import model_names, valid_parameters
from dbt_anonymize.extension import shipped
from dbt_anonymize.spec import of_extensions

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "python" / "dbt_anonymize"
PARAMETERS = FOLDER / "evaluation" / "parameters.txt"
KEYS = FOLDER / "spec" / of_extensions.FILE
ADAPTERS = ROOT / "macros" / "sql" / "_extensions_of_adapters.sql"


def parameters_of_models() -> str:
    """Return a line per task and model of scikit-learn or our own, with its parameters."""
    lines = [
        " ".join([task, model, *valid_parameters(model, task)])
        for task in ("classification", "regression", "clustering", "anomaly")
        for model in model_names(task)
    ]
    return "\n".join(lines) + "\n"


def keys_of_extensions() -> str:
    """Return a line per key, detail and engine that an extension adds."""
    return "".join(f"{line}\n" for line in of_extensions.lines())


def extensions_of_adapters() -> str:
    """Return a macro with a line per adapter: a template cannot read another file."""
    lines = (f'        "{kind}": "{one.name}",\n' for one in shipped() for kind in one.engines)
    return (
        "{# Written by `make reference`: the extension of each adapter, if it is here or not. #}\n"
        "{% macro _extensions_of_adapters() -%}\n"
        f"    {{{{ return({{\n{''.join(lines)}    }}) }}}}\n"
        "{%- endmacro %}\n"
    )


if __name__ == "__main__":
    PARAMETERS.write_text(parameters_of_models(), encoding="utf-8", newline="\n")
    ADAPTERS.write_text(extensions_of_adapters(), encoding="utf-8", newline="\n")
    KEYS.write_text(keys_of_extensions(), encoding="utf-8", newline="\n")
