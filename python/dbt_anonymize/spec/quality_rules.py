"""Rules between the keys of ``quality``, and between them and the columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, shown
from dbt_anonymize.spec.quality import BASELINE, FEWEST_SPLITS, task_of_measure

MEASURES_OF_ONE_CLASS = frozenset({"precision", "recall", "sensitivity", "specificity", "f1"})
_NEED_PROBABILITIES = frozenset({"brier_score", "log_loss"})
_WITHOUT_PROBABILITIES = frozenset({"linear_svm", "kernel_svm"})


def quality_violations(quality: Mapping[str, Any], roles: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the rules that ``quality``, possibly malformed, breaks; an unknown role is None."""
    measure = quality.get("measure")
    task = task_of_measure(measure) if isinstance(measure, str) else None
    for rule in _RULES:
        yield from rule(quality, task)
    yield from _columns_are_kept(quality, roles)


def choice_violations(quality: Mapping[str, Any], choose: str | None) -> Iterator[Problem]:
    """Yield why no effort could be chosen, whatever is measured."""
    models = mapping(quality.get("models"))
    name = next(iter(models), None)
    decides = quality.get("model") if name is None else mapping(models[name]).get("model") or name
    if decides == BASELINE:
        yield Problem(
            ("quality", "model") if name is None else ("quality", "models", str(name)),
            f"must not be {BASELINE} where it decides: no effort beats it, so none would qualify",
            f"Let another model decide ({BASELINE} is always scored too), or name release.effort.",
        )
    repetitions, folds = quality.get("repetitions"), quality.get("folds") or 1
    if choose != "strongest_non_inferior" or not isinstance(repetitions, int):
        return
    splits = repetitions * folds if isinstance(folds, int) else FEWEST_SPLITS
    if splits < FEWEST_SPLITS:
        yield Problem(
            ("choose",),
            f"must not be {choose} with fewer than {FEWEST_SPLITS} splits, which do not tell how "
            "much they vary",
            "Raise quality.repetitions, or choose max_q.",
            f"{splits} splits",
        )


def _one_way_to_split(quality: Mapping[str, Any], _task: str | None) -> Iterator[Problem]:
    given = [key for key in ("test_share", "folds") if quality.get(key) is not None]
    if len(given) != 1:
        yield Problem(
            ("quality",),
            "must say how records are split: test_share (repeated hold-out) or folds "
            "(repeated k-fold), one of them",
            "Write test_share: 0.3, or folds: 10.",
            names(given) if given else "neither",
        )


def _one_way_to_name_models(quality: Mapping[str, Any], _task: str | None) -> Iterator[Problem]:
    has_one, has_many = quality.get("model") is not None, bool(quality.get("models"))
    if has_one == has_many:
        yield Problem(
            ("quality",),
            "must name one model under model, or several under models",
            "Write model: random_forest, or models: {random_forest: {}, naive_bayes: {}}.",
            "both" if has_one else "neither",
        )
    elif has_many and quality.get("parameters"):
        yield Problem(
            ("quality", "parameters"),
            "must stand under the model that they are for",
            "Move them into models: {<name>: {parameters: ...}}.",
        )


def _positive_fits_the_measure(quality: Mapping[str, Any], task: str | None) -> Iterator[Problem]:
    measure, positive = quality.get("measure"), quality.get("positive")
    if task == "regression" and positive is not None:
        yield Problem(
            ("quality", "positive"),
            f"must be absent: {measure} is not about classes",
            "Remove it, or choose precision, recall or f1.",
            shown(positive),
        )
    if measure in MEASURES_OF_ONE_CLASS:
        targets: dict[KeyPath, Any] = {("quality",): quality}
        for name, target in mapping(quality.get("further_targets")).items():
            targets["quality", "further_targets", str(name)] = target
        for place, target in targets.items():
            if isinstance(target, Mapping) and target.get("positive") is None:
                yield Problem(
                    (*place, "positive"),
                    f"must name the class that {measure} is measured for",
                    'Add one of its values, for example positive: "yes".',
                    "nothing",
                )


def _time_belongs_to_an_event(quality: Mapping[str, Any], task: str | None) -> Iterator[Problem]:
    if task == "survival" and quality.get("time") is None:
        yield Problem(
            ("quality", "time"),
            "must name the column with the time until the event (or until nobody looked any more)",
            "Add time: <column>; the target says whether the event happened.",
            "nothing",
        )
    if task in {"classification", "regression"} and quality.get("time") is not None:
        yield Problem(
            ("quality", "time"),
            f"must be absent: {quality.get('measure')} is not about the time until an event",
            "Remove it, or choose measure: concordance_index.",
            shown(quality.get("time")),
        )
    if task == "survival" and quality.get("further_targets"):
        yield Problem(
            ("quality", "further_targets"),
            "must be absent where the time until an event is predicted",
            "Write a spec of its own for another target.",
        )


def _outer_records_are_unseen(quality: Mapping[str, Any], _task: str | None) -> Iterator[Problem]:
    if quality.get("outer_share") is not None and quality.get("fit") != "per_split":
        yield Problem(
            ("quality", "fit"),
            "must be per_split beside outer_share: otherwise the outer records help to decide what "
            "is suppressed in training, and with recodings what labels say",
            "Write fit: per_split, or remove outer_share.",
            shown(quality.get("fit", "once")),
        )


def _shares_are_added_up(quality: Mapping[str, Any], task: str | None) -> Iterator[Problem]:
    # Not at the top: as in _model.
    from dbt_anonymize.errors import EvaluationError  # noqa: PLC0415
    from dbt_anonymize.evaluation.estimators import estimator_type  # noqa: PLC0415

    categories = quality.get("categories")
    if categories not in ("leaves", "frequencies") or task is None:
        return
    named = {name: c for name, c in mapping(quality.get("models")).items() if mapping(c) or not c}
    models = [mapping(choice).get("model") or name for name, choice in named.items()]
    for model in [quality.get("model"), *models]:
        try:
            splits = isinstance(model, str) and estimator_type(model, task).splits
        except EvaluationError:  # said of the model itself
            continue
        if splits:
            yield Problem(
                ("quality", "categories"),
                f"must not be {categories} with {model}: a model that splits takes one of the "
                "leaves that a label covers and misreads the others",
                "Write categories: label, or name another model.",
                str(categories),
            )


def _models_exist(quality: Mapping[str, Any], task: str | None) -> Iterator[Problem]:
    if quality.get("model") is not None:
        yield from _model(("quality",), quality, quality.get("model"), task)
    for name, choice in mapping(quality.get("models")).items():
        place = ("quality", "models", str(name))
        if not isinstance(choice, Mapping):
            continue
        model = choice.get("model") or name
        if name == BASELINE and model != BASELINE:
            yield Problem(
                place,
                f"must not be called {BASELINE}: that is the baseline, which is always scored",
                "Choose another name.",
            )
            continue
        yield from _model(place, {**choice, "measure": quality.get("measure")}, model, task)


def _model(
    parent: KeyPath, choice: Mapping[str, Any], model: Any, task: str | None
) -> Iterator[Problem]:
    # Not at the top: knowing the parameters means importing scikit-learn, which takes seconds.
    from dbt_anonymize.errors import EvaluationError  # noqa: PLC0415
    from dbt_anonymize.evaluation.estimators import model_names, valid_parameters  # noqa: PLC0415

    if not isinstance(model, str) or task is None:
        return
    place, known = (*parent, "model"), model_names(task)
    if "." not in model and model not in known:
        choices = f"Choose one of {names(known)}, or any scikit-learn class by its dotted path."
        yield Problem(
            place,
            f"must be a model of {task} that we can train",
            did_you_mean(model, known, choices),
            shown(model),
        )
        return
    if choice.get("measure") in _NEED_PROBABILITIES and model in _WITHOUT_PROBABILITIES:
        yield Problem(
            place,
            f"must give probabilities, which {choice.get('measure')} needs",
            "Choose another model, or measure: roc_auc.",
            shown(model),
        )
    parameters = mapping(choice.get("parameters"))
    if not parameters and "." not in model:
        return
    try:
        valid = valid_parameters(model, task)
    except EvaluationError as error:
        yield Problem(place, f"must be importable: {error}", "Install it, or correct the path.")
        return
    for name in parameters:
        if name not in valid:
            yield Problem(
                (*parent, "parameters", str(name)),
                f"must be a parameter of {model}",
                did_you_mean(str(name), valid, f"Its parameters are {names(valid)}."),
                str(name),
            )


def _columns_are_kept(quality: Mapping[str, Any], roles: Mapping[str, Any]) -> Iterator[Problem]:
    places: list[tuple[KeyPath, Any]] = [
        (("quality", "further_targets", str(name)), name)
        for name in mapping(quality.get("further_targets"))
    ]
    if quality.get("time") is not None:
        places.append((("quality", "time"), quality.get("time")))
    for place, name in places:
        if roles and isinstance(name, str) and roles.get(name) not in {"sensitive", "insensitive"}:
            yield Problem(
                place,
                "must be a column that is released as it is (sensitive or insensitive)",
                did_you_mean(name, list(roles), f"Declared columns are {names(list(roles))}."),
                shown(name),
            )


_RULES: tuple[Callable[[Mapping[str, Any], str | None], Iterator[Problem]], ...] = (
    _one_way_to_split,
    _one_way_to_name_models,
    _positive_fits_the_measure,
    _time_belongs_to_an_event,
    _outer_records_are_unseen,
    _shares_are_added_up,
    _models_exist,
)
