"""Rules between the keys of ``quality``, and between them and the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.spec.draft import RawSpec, mapping, unknown_column
from dbt_anonymize.spec.problems import KeyPath, Problem, did_you_mean, names, short_repr
from dbt_anonymize.spec.quality import BASELINE, FEWEST_SPLITS
from dbt_anonymize.tasks import UNSUPERVISED

# Measures of one class, which `positive` names.
MEASURES_OF_ONE_CLASS = frozenset({"precision", "recall", "sensitivity", "specificity", "f1"})
_NEED_PROBABILITIES = frozenset({"brier_score", "log_loss"})
# A constant answer scores 1, the best.
_WON_BY_A_CONSTANT = frozenset({"recall", "sensitivity", "specificity"})
_WITHOUT_PROBABILITIES = frozenset({"linear_svm", "kernel_svm"})


def quality_violations(draft: RawSpec) -> Iterator[Problem]:
    """Yield the rules about ``quality`` that a spec breaks, if it has one."""
    for rule in _RULES if draft.quality else ():
        yield from rule(draft)


def _some_effort_can_be_chosen(draft: RawSpec) -> Iterator[Problem]:
    """Refuse declarations under which no effort can ever be chosen."""
    if draft.release_effort is not None:
        return
    quality, choose = draft.quality, draft.choose
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


def _one_way_to_split(draft: RawSpec) -> Iterator[Problem]:
    quality = draft.quality
    keys = [key for key in ("test_share", "folds") if quality.get(key) is not None]
    if len(keys) != 1:
        yield Problem(
            ("quality",),
            "must say how records are split: test_share (repeated hold-out) or folds "
            "(repeated k-fold), one of them",
            "Write test_share: 0.3, or folds: 10.",
            names(keys) if keys else "neither",
        )


def _one_way_to_name_models(draft: RawSpec) -> Iterator[Problem]:
    quality = draft.quality
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


def _positive_fits_the_measure(draft: RawSpec) -> Iterator[Problem]:
    quality = draft.quality
    measure, positive = quality.get("measure"), quality.get("positive")
    if draft.task not in {None, "classification", "survival"} and positive is not None:
        yield Problem(
            ("quality", "positive"),
            f"must be absent: {measure} is not about classes",
            "Remove it, or choose precision, recall or f1.",
            short_repr(positive),
        )
    if isinstance(measure, str) and measure in MEASURES_OF_ONE_CLASS:
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


def _a_constant_answer_is_not_best(draft: RawSpec) -> Iterator[Problem]:
    measure = draft.quality.get("measure")
    if isinstance(measure, str) and measure in _WON_BY_A_CONSTANT:
        answer = "never answers" if measure == "specificity" else "always answers"
        yield Problem(
            ("quality", "measure"),
            f"must not be {measure}, which is 1 for a model that {answer} the class, so that no "
            "effort beats the zero rule",
            f"Choose balanced_accuracy, f1 or roc_auc; {measure} is reported beside it.",
            measure,
        )


def _time_belongs_to_an_event(draft: RawSpec) -> Iterator[Problem]:
    quality, task = draft.quality, draft.task
    if task == "survival" and quality.get("time") is None:
        yield Problem(
            ("quality", "time"),
            "must name the column with the time until the event (or until nobody looked any more)",
            "Add time: <column>; the target says whether the event happened.",
            "nothing",
        )
    if task not in {None, "survival"} and quality.get("time") is not None:
        yield Problem(
            ("quality", "time"),
            f"must be absent: {quality.get('measure')} is not about the time until an event",
            "Remove it, or choose measure: concordance_index.",
            short_repr(quality.get("time")),
        )
    if task == "survival" and quality.get("further_targets"):
        yield Problem(
            ("quality", "further_targets"),
            "must be absent where the time until an event is predicted",
            "Write a spec of its own for another target.",
        )


def _models_without_target_predict_no_column(draft: RawSpec) -> Iterator[Problem]:
    quality, task = draft.quality, draft.task
    if task not in {None, "anomaly"} and quality.get("top_share") is not None:
        yield Problem(
            ("quality", "top_share"),
            "must be absent: it says among how many records anomalies are compared",
            "Remove it, or choose measure: top_overlap.",
            short_repr(quality.get("top_share")),
        )
    if task not in UNSUPERVISED:
        return
    if quality.get("further_targets"):
        yield Problem(
            ("quality", "further_targets"),
            f"must be absent: models of {task} predict no column",
            "Remove it, or write a spec of its own for a target.",
        )
    yield from absent_beside_silhouette(draft, "outer_share")


def absent_beside_silhouette(draft: RawSpec, *keys: str) -> Iterator[Problem]:
    """Refuse keys of ``quality`` that need scores of single records."""
    quality = draft.quality
    for key in keys:
        if quality.get("measure") == "silhouette" and quality.get(key):
            yield Problem(
                ("quality", key),
                "must be absent beside silhouette, which is of all test records of a split",
                "Remove it, or choose adjusted_rand_index.",
            )


def _outer_records_are_unseen(draft: RawSpec) -> Iterator[Problem]:
    quality = draft.quality
    if quality.get("outer_share") is not None and quality.get("fit") != "per_split":
        yield Problem(
            ("quality", "fit"),
            "must be per_split beside outer_share: otherwise the outer records help to decide what "
            "is suppressed in training, and with recodings what labels say",
            "Write fit: per_split, or remove outer_share.",
            short_repr(quality.get("fit", "once")),
        )


def _shares_are_added_up(draft: RawSpec) -> Iterator[Problem]:
    quality, task = draft.quality, draft.task
    # Imported here as in _model_problems.
    from dbt_anonymize.evaluation.estimators import estimator_type  # noqa: PLC0415

    categories = quality.get("categories")
    if categories not in ("leaves", "frequencies") or task is None:
        return
    choices = {name: c for name, c in mapping(quality.get("models")).items() if mapping(c) or not c}
    models = [mapping(choice).get("model") or name for name, choice in choices.items()]
    for model in [quality.get("model"), *models]:
        try:
            splits = isinstance(model, str) and estimator_type(model, task).splits
        except EvaluationError:  # reported for the model itself
            continue
        if splits:
            yield Problem(
                ("quality", "categories"),
                f"must not be {categories} with {model}: a model that splits takes one of the "
                "leaves that a label covers and misreads the others",
                "Write categories: label, or name another model.",
                str(categories),
            )


def _models_exist(draft: RawSpec) -> Iterator[Problem]:
    quality, task = draft.quality, draft.task
    if quality.get("model") is not None:
        yield from _model_problems(("quality",), quality, quality.get("model"), task)
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
        yield from _model_problems(
            place, {**choice, "measure": quality.get("measure")}, model, task
        )


def _model_problems(
    parent: KeyPath, choice: Mapping[str, Any], model: Any, task: str | None
) -> Iterator[Problem]:
    from dbt_anonymize.evaluation.estimators import (  # noqa: PLC0415 (a spec may have no models)
        known_parameters,
        model_names,
        valid_parameters,
    )

    if not isinstance(model, str) or task is None:
        return
    place, known = (*parent, "model"), model_names(task)
    if "." not in model and model not in known:
        choices = f"Choose one of {names(known)}, or any scikit-learn class by its dotted path."
        yield Problem(
            place,
            f"must be a model of {task} that we can train",
            did_you_mean(model, known, choices),
            short_repr(model),
        )
        return
    if choice.get("measure") in _NEED_PROBABILITIES and model in _WITHOUT_PROBABILITIES:
        yield Problem(
            place,
            f"must give probabilities, which {choice.get('measure')} needs",
            "Choose another model, or measure: roc_auc.",
            short_repr(model),
        )
    parameters = mapping(choice.get("parameters"))
    if "." not in model and known_parameters(model, task).issuperset(map(str, parameters)):
        return
    try:  # another release of scikit-learn may have more, which only importing it tells
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


def _columns_are_kept(draft: RawSpec) -> Iterator[Problem]:
    further, time = mapping(draft.quality.get("further_targets")), draft.quality.get("time")
    places: dict[KeyPath, Any] = {
        ("quality", "further_targets", str(name)): name for name in further
    }
    if time is not None:
        places["quality", "time"] = time
    rule = "must be a column that is released as it is (sensitive or insensitive)"
    for place, name in places.items():
        role = (draft.roles or {}).get(name) if isinstance(name, str) else None
        if draft.roles and isinstance(name, str) and role not in {"sensitive", "insensitive"}:
            yield unknown_column(place, name, draft, rule)


def _what_is_predicted_is_no_feature(draft: RawSpec) -> Iterator[Problem]:
    others = [*mapping(draft.quality.get("further_targets")), draft.quality.get("time")]
    for number, name in enumerate(draft.features, start=1):
        if name in others:
            yield Problem(
                ("features", number),
                "must not be predicted, nor the time until an event",
                "Remove it from features or from quality.",
                name,
            )
    for name in [draft.target, *others]:
        if isinstance(name, str) and name in draft.masks:
            yield Problem(
                ("columns", name, "mask"),
                "must not mask what models predict, or the time until an event",
                "Remove the mask, or predict something else.",
            )
    if draft.target is not None and draft.target in others:
        yield Problem(
            ("quality",), "must not name the target again", "Name another column.", draft.target
        )


_RULES = (
    _one_way_to_split,
    _one_way_to_name_models,
    _positive_fits_the_measure,
    _a_constant_answer_is_not_best,
    _time_belongs_to_an_event,
    _models_without_target_predict_no_column,
    _outer_records_are_unseen,
    _shares_are_added_up,
    _models_exist,
    _some_effort_can_be_chosen,
    _columns_are_kept,
    _what_is_predicted_is_no_feature,
)
