"""The results of the last build, as a table and in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.information_loss import LOSS
from dbt_anonymize.literals import quote_name
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import RELEASED
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.tested import NO_MODEL

# Numbers are printed with three decimals.
_HALF_OF_LAST_DIGIT = 0.0005
# The best constant answer, by measure.
_ZERO_RULES = {
    "accuracy": "always guessing the most frequent class",
    "precision": "always guessing the positive class",
    "f1": "always guessing the positive class",
    "brier_score": "guessing the share of each class",
    "log_loss": "guessing the share of each class",
    "r2": "always guessing the mean",
    "mae": "always guessing the median",
    "rmse": "always guessing the mean",
    "concordance_index": "the same risk for everybody",
    "adjusted_rand_index": "one cluster for everybody",
    "silhouette": "one cluster for everybody",
    "rank_correlation": "the same score for everybody",
    "top_overlap": "the same score for everybody",
}


@dataclass(frozen=True)
class EffortResult:
    """One row of ``<n>_results``; the fields are columns of that relation."""

    effort: int
    k: int | None
    suppressed_records: int
    qf_mean: float | None
    qf_low: float | None
    qf_high: float | None
    zero_rule: float | None
    beats_zero_rule: bool | None
    qnf: float | None
    alpha: float | None
    q: float | None
    qualifies: bool
    is_chosen: bool
    choice_share: float | None
    runner_up: int | None
    q_difference_to_runner_up: float | None
    q_difference_to_runner_up_low: float | None
    q_difference_to_runner_up_high: float | None
    reason: str
    target: str | None = None
    measure: str | None = None
    levels_in_words: str | None = None

    @property
    def qf(self) -> str:
        """QF with its interval, or with the other bound where the scale cuts one off."""
        if self.qf_mean is None:
            return "-"
        text = f"{self.qf_mean:.3f}"
        if self.qf_low is None or self.qf_high is None:
            return text
        below, above = self.qf_mean - self.qf_low, self.qf_high - self.qf_mean
        if abs(above - below) < _HALF_OF_LAST_DIGIT:
            return f"{text} ± {below:.3f}"
        if above < below:
            return f"{text} (≥ {self.qf_low:.3f})"
        return f"{text} (≤ {self.qf_high:.3f})"


@dataclass(frozen=True)
class OtherResults:
    """Results of a spec that releases something else than records.

    ``rows`` are shown by columns of ``figures``, and have ``is_chosen`` too;
    ``sentences`` say why one is chosen and where the release is, the ``legend`` what columns mean,
    the ``description`` what the spec is about.
    """

    figures: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    sentences: Sequence[str]
    legend: str
    description: str = ""


def read_results(warehouse: Warehouse, name: str) -> list[EffortResult]:
    """Read the results of an anonymization, ordered by effort; a `WarehouseError` if not built."""
    relation = warehouse.relation_of_ref(f"{name}_results")
    # Results of earlier versions lack the last columns.
    present = {name.lower() for name, _ in warehouse.columns(relation)}
    columns = [
        field.name
        for field in fields(EffortResult)
        if field.default is MISSING or field.name in present
    ]
    sql = f"select {', '.join(columns)} from {relation} order by effort"  # noqa: S608 (our own names)
    rows = warehouse.rows(sql)
    return [EffortResult(**dict(zip(columns, row, strict=True))) for row in rows]


def choice_sentences(efforts: Sequence[EffortResult], measure: str) -> list[str]:
    """Return sentences on the zero rule and on the certainty of the choice, as far as known.

    ``measure`` is that of QF; if it is the loss, no model was trained.
    """
    sentences = []
    zero = next((e.zero_rule for e in efforts if e.zero_rule is not None), None)
    if zero is not None:
        answer = _ZERO_RULES.get(measure, "always guessing the same class")
        sentences.append(f"zero rule, {answer}: QF {zero:.3f}")
    sentences += [
        "effort 0, the untouched table, is not surely above that: the model may learn nothing"
        for effort in efforts
        if effort.effort == 0 and effort.beats_zero_rule is False
    ]
    is_tested = measure != LOSS
    if is_tested and any(
        effort.qf_mean is not None and effort.qf_low is None for effort in efforts
    ):
        sentences.append("no intervals: too few splits to tell how much they vary (from 5 on)")
    for effort in efforts:
        if effort.is_chosen:
            words = [f"it {effort.levels_in_words}"] if effort.levels_in_words else []
            sentences += [f"effort {effort.effort} is {effort.reason}", *words]
            sentences += _better_than_pinned(effort, efforts)
            sentences += _certainty(effort, efforts)
    return sentences


def legend(spec: Spec, efforts: Sequence[EffortResult], same: int) -> list[str]:
    """Return the legend of the results; ``same`` quasi-identifiers have the same levels."""
    qnf = f"QNF: privacy, {spec.model_dump(mode='json')['qnf']}"
    levels = "levels: what is left of values; * is nothing"
    if same:
        levels += f"; those of {pluralized(same, 'column')} do not differ between efforts"
    rest = [f"k counts people by {spec.subject}, not rows"] if spec.subject else []
    if spec.consent:
        rest.append(f"of people who agreed ({spec.consent}); the vault tells who did not")
    rest.append(levels)
    if spec.is_frozen:
        return ["QF is not measured: the effort is frozen, and no model is trained", qnf, *rest]
    if not spec.is_tested:
        return [f"QF: {spec.shown_measure}; {NO_MODEL}", f"{qnf}; Q = QF", *rest]
    alpha = next((effort.alpha for effort in efforts if effort.alpha is not None), None)
    weight = "alpha" if alpha is None else f"{alpha:.4g}"
    return [
        f"QF: {spec.tests.measure} on original records of a model that learned from the effort, "
        f"with its {spec.tests.confidence:.0%} interval",
        f"{qnf}; Q = QF + {weight} * QNF",
        *rest,
        *_optimism(spec),
    ]


def _optimism(spec: Spec) -> Iterator[str]:
    """Yield the note that scores are optimistic where models chose the levels."""
    if spec.is_searched_by_models and not spec.outer_share:
        yield (
            "QF looks a little better than it is: the search chose levels on the records that "
            "score them; quality.outer_share keeps some apart"
        )


def _better_than_pinned(chosen: EffortResult, efforts: Sequence[EffortResult]) -> Iterator[str]:
    """Yield the effort that Q would choose, if release.effort names one with a lower Q."""
    if chosen.q is None or not chosen.reason.startswith("chosen: release.effort is"):
        return
    able = [(e.q, e.k or 0, -e.effort) for e in efforts if e.qualifies and e.q is not None]
    q, _, number = max(able, default=(chosen.q, 0, 0))
    if q - chosen.q >= _HALF_OF_LAST_DIGIT:
        yield (
            f"release.effort pins effort {chosen.effort}: by Q, effort {-number} would be chosen, "
            f"whose Q is {q - chosen.q:.3f} higher"
        )


def _certainty(chosen: EffortResult, efforts: Sequence[EffortResult]) -> Iterator[str]:
    """Yield sentences on the lead of the chosen effort and how often it wins."""
    low, high = chosen.q_difference_to_runner_up_low, chosen.q_difference_to_runner_up_high
    if chosen.q_difference_to_runner_up is not None and low is not None and high is not None:
        second = f"effort {chosen.runner_up}"
        yield (
            f"it is {chosen.q_difference_to_runner_up:.3f} ahead of {second}, with an interval "
            f"from {low:.3f} to {high:.3f}"
            + (f" that covers zero: {second} may be as good" if low <= 0 else "")
        )
    shares = [(e.choice_share, e.effort) for e in efforts if e.choice_share]
    if len(shares) > 1:
        listed = ", ".join(
            f"effort {number} in {share:.1%}"
            for share, number in sorted(shares, key=lambda pair: (-pair[0], pair[1]))
        )
        yield f"chosen if repetitions are drawn again: {listed}"


def outer_quality(warehouse: Warehouse, spec: Spec) -> list[str]:
    """Return sentences on the quality of the chosen effort on outer records, if there are any."""
    if not spec.outer_share or spec.is_chosen_by_outer:
        return []
    relation = warehouse.relation_of_ref(f"{spec.name}_outer_quality")
    columns = "effort, outer_records, qf, qf_low, qf_high, qf_mean, reason"
    sql = f"select {columns} from {relation} order by effort"  # noqa: S608 (names of our own)
    sentences = []
    for effort, records, qf, low, high, qf_mean, reason in warehouse.rows(sql):
        if qf is None:
            sentences.append(f"effort {effort} has no QF on outer records: {reason or 'undefined'}")
            continue
        ends = "" if low is None else f", with an interval from {low:.3f} to {high:.3f}"
        chosen_by = "" if qf_mean is None else f"; {qf_mean:.3f} over the splits"
        sentences.append(
            f"effort {effort} on {pluralized(records, 'outer record')}, which no choice has seen: "
            f"QF {qf:.3f}{ends}{chosen_by}"
        )
    return sentences


def records_of_one_value(warehouse: Warehouse, spec: Spec, effort: int | None) -> int:
    """Count the released records whose whole class has the same value of a sensitive target.

    0 where the target is a number or not sensitive. That of survival is the event.
    """
    if spec.task in {None, "regression"} or spec.target not in spec.sensitive or effort is None:
        return 0
    classes = "anonymized" if spec.holds_back_joiners else "classes"
    try:
        relation = warehouse.relation_of_ref(f"{spec.name}_{classes}")
    except WarehouseError:  # dropped since: commands that need it report it
        return 0
    if spec.holds_back_joiners:  # the classes of the effort are not those of the release
        target = quote_name(str(spec.target))
        names = ", ".join(map(quote_name, spec.released_labels))
        sql = (
            "select coalesce(sum(records), 0) from (select count(*) as records from "  # noqa: S608
            f"{relation} group by {names} having count(distinct {target}) = 1 "
            f"and count({target}) = count(*)) as classes"
        )
    else:
        sql = (
            f"select coalesce(sum(records), 0) from {relation} where effort = {effort} "  # noqa: S608
            "and not is_suppressed and majority_records = records"
        )
    return int(warehouse.rows(sql)[0][0])


def one_value_sentences(spec: Spec, records: int, *, is_rounded: bool = False) -> list[str]:
    """Return a sentence on what the class of such records reveals, and the remedy."""
    if not records:
        return []
    return [
        f"{'about ' * is_rounded}{pluralized(records, 'released record')} "
        f"{'is' if records == 1 else 'are'} in classes of "
        f"which all have the same {spec.target}: who finds the class of somebody knows it. "
        f"The guarantee l_diversity (attribute {spec.target}, l 2) prevents that; search again "
        "then."
    ]


def results_are_current(warehouse: Warehouse, spec: Spec) -> bool:
    """Tell whether the results belong to the current spec.

    Builds read generated models: a change of the spec counts once these are generated again.
    """
    relation = warehouse.relation_of_ref(f"{spec.name}_results")
    sql = f"select distinct fingerprint from {relation}"  # noqa: S608 (name of our own)
    return warehouse.rows(sql) == [(spec.fingerprint,)]


def is_built(warehouse: Warehouse, spec: Spec) -> bool:
    """Tell whether there are efforts, or current results with the efforts of another target.

    A renamed anonymization has tables only, and results of its former name, until it is built.
    """
    try:
        place = warehouse.place_of_ref(f"{spec.name}_effort_0")
        return warehouse.find(place) is not None or results_are_current(warehouse, spec)
    except WarehouseError:  # nothing is generated or built: commands that need it report it
        return True


def _released_model(warehouse: Warehouse, name: str) -> str:
    """Return the name of the model that is published."""
    there = {node.name for node in warehouse.manifest.nodes.values()}
    models = [f"{name}_{kind}" for kind in RELEASED]
    return next((model for model in models if model in there), f"{name}_anonymized")


def release_file(warehouse: Warehouse, name: str) -> Path:
    """Return the file of the release for the current target, relative to the project."""
    folder = warehouse.meta(_released_model(warehouse, name))["folder"]
    return Path(folder, warehouse.target_name, f"{name}.duckdb")


def release_location(warehouse: Warehouse, name: str, root: Path = Path()) -> str | None:
    """Return the place of an existing release, the file (DuckDB) or the relation, else None.

    The file is relative to the project, whose ``root`` is by default the current folder.
    """
    if warehouse.is_duckdb:
        file = release_file(warehouse, name)
        return str(file) if (root / file).is_file() else None
    try:
        return str(warehouse.relation_of_ref(_released_model(warehouse, name)))
    except WarehouseError:
        return None
