"""Write what parameters models take, so that a spec is read without importing scikit-learn."""

from __future__ import annotations

from pathlib import Path

from dbt_anonymize.evaluation.estimators import model_names, valid_parameters

FOLDER = Path(__file__).resolve().parents[1] / "python" / "dbt_anonymize" / "evaluation"
PARAMETERS = FOLDER / "parameters.txt"


def parameters_of_models() -> str:
    """Return a line per task and model of scikit-learn or our own, with its parameters."""
    lines = [
        " ".join([task, model, *valid_parameters(model, task)])
        for task in ("classification", "regression")
        for model in model_names(task)
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PARAMETERS.write_text(parameters_of_models(), encoding="utf-8", newline="\n")
