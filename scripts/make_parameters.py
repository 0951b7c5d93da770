"""Write what specs are read by: parameters of models, and keys of extensions.

So a spec is read without importing scikit-learn, and one for an extension that is missing named.
"""

from __future__ import annotations

from pathlib import Path

from dbt_anonymize.evaluation.estimators import model_names, valid_parameters
from dbt_anonymize.spec import of_extensions

FOLDER = Path(__file__).resolve().parents[1] / "python" / "dbt_anonymize"
PARAMETERS = FOLDER / "evaluation" / "parameters.txt"
KEYS = FOLDER / "spec" / of_extensions.FILE


def parameters_of_models() -> str:
    """Return a line per task and model of scikit-learn or our own, with its parameters."""
    lines = [
        " ".join([task, model, *valid_parameters(model, task)])
        for task in ("classification", "regression")
        for model in model_names(task)
    ]
    return "\n".join(lines) + "\n"


def keys_of_extensions() -> str:
    """Return a line per key and detail that an extension adds."""
    return "".join(f"{line}\n" for line in of_extensions.lines())


if __name__ == "__main__":
    PARAMETERS.write_text(parameters_of_models(), encoding="utf-8", newline="\n")
    KEYS.write_text(keys_of_extensions(), encoding="utf-8", newline="\n")
