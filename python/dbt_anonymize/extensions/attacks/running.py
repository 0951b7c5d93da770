"""Carry out all attacks on one release."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dbt_anonymize.errors import VerificationError, WarehouseError
from dbt_anonymize.extension import other_release
from dbt_anonymize.extensions.attacks.composition import OtherRelease, attack_composition
from dbt_anonymize.extensions.attacks.earlier import attack_earlier, attack_remembered
from dbt_anonymize.extensions.attacks.inference import attack_confidence, attack_inference
from dbt_anonymize.extensions.attacks.knowledge import Knowledge, load_attacker_knowledge
from dbt_anonymize.extensions.attacks.linkability import attack_linkability
from dbt_anonymize.extensions.attacks.linkage import attack_linkage
from dbt_anonymize.extensions.attacks.mapping import attack_mapping
from dbt_anonymize.extensions.attacks.membership import MEMBERSHIP_SAMPLE, attack_membership
from dbt_anonymize.extensions.attacks.released import Origin, Released, read_release
from dbt_anonymize.extensions.attacks.result import AttackResult
from dbt_anonymize.extensions.attacks.session import Session, attack_session
from dbt_anonymize.extensions.attacks.singling_out import attack_singling_out
from dbt_anonymize.extensions.attacks.trial import draw_trial
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.lineage import share_people
from dbt_anonymize.project.register import publishes
from dbt_anonymize.project.results import read_results, release_file
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec, load_specs
from dbt_anonymize.verify.recomputation.project import tables_of
from dbt_anonymize.verify.relations import members_relation

# Enough for a 95 % interval of less than 0.1.
GUESSES = 500


def run_attacks(
    warehouse: Warehouse,
    project: Project,
    spec: Spec,
    *,
    release: Path | None,
    earlier: Sequence[Path] = (),
    guesses: int = GUESSES,
    repetitions: int = 5,
    membership_sample: int = MEMBERSHIP_SAMPLE,
) -> list[AttackResult]:
    """Run every attack of this package on the release of the last build, on DuckDB.

    ``release`` is its file, or None where it is a table of the warehouse, ``earlier`` are further
    release files of the same people; paths are relative to the project or absolute. Half of the
    subjects are attacked in a trial, by at most ``guesses`` guesses of each kind (0 leaves it out).
    Membership inference draws other members in each of ``repetitions`` (0 leaves it out), from at
    most ``membership_sample`` and ``quality.sample`` records. An attack that cannot be carried out
    checks nothing and is a `VerificationError`; an anonymization that is not built is a
    `WarehouseError`.
    """
    with attack_session(warehouse) as session:
        knowledge = load_attacker_knowledge(session, spec)
        chosen = chosen_effort(warehouse, spec)
        relation = session.release_of(spec.name, release and project.root / release)
        origin = _origin(warehouse, spec, chosen)
        released = read_release(knowledge, relation, spec.name, published=spec, origin=origin)
        if released is None or len(released.labels) < len(spec.released_quasi_identifiers):
            raise VerificationError(
                f"{relation}: a release of {spec.name} must show every quasi-identifier that "
                "is not `*` in every effort, generalized; columns are missing. Build it again."
            )
        results = [
            *attack_linkage(released, _average_risk(warehouse, spec, chosen)),
            *attack_mapping(knowledge, relation),
            *attack_confidence(released),
        ]
        if guesses:
            results += _attack_trial(warehouse, knowledge, chosen, relation, guesses)
        results += _compose(released, relation, project, chosen, earlier)
        if repetitions:
            results += attack_membership(
                session,
                spec,
                chosen,
                repetitions=repetitions,
                largest=membership_sample,
            )
    return results


def _attack_trial(
    warehouse: Warehouse, knowledge: Knowledge, effort: int, release: str, guesses: int
) -> list[AttackResult]:
    """Attack a trial anonymization of half of the people; the others are the control."""
    spec = knowledge.spec
    tables = tables_of(warehouse, spec, effort, knowledge.session.cursor, release)
    trial = draw_trial(knowledge, tables, effort, seed=spec.random_state)
    if not trial.records or trial.members == knowledge.people:
        reason = "is for one subject" if trial.records else "releases no record"
        return [
            AttackResult(
                attack,
                measure,
                None,
                f"not attacked: a trial with half of the {knowledge.people:,} subjects {reason}.",
            )
            for attack, measure in (
                ("singling_out", "univariate"),
                ("linkability", "same_row"),
                ("attribute_inference", "share_right"),
            )
        ]
    return [
        *attack_singling_out(trial, guesses),
        *attack_linkability(trial, guesses),
        *attack_inference(trial, guesses),
    ]


def chosen_effort(warehouse: Warehouse, spec: Spec) -> int:
    """Return the effort that is released."""
    efforts = [result.effort for result in read_results(warehouse, spec.name) if result.is_chosen]
    if len(efforts) != 1:
        raise VerificationError(
            f"{spec.name}: one effort must be released; the results name {len(efforts)}. "
            "Run `dbt build`."
        )
    return efforts[0]


def _effort_relation(warehouse: Warehouse, spec: Spec, effort: int) -> str:
    return str(warehouse.relation_of_ref(f"{spec.name}_effort_{effort}"))


def _origin(warehouse: Warehouse, spec: Spec, effort: int) -> Origin:
    """Return the records behind the release: of the effort, or of the remembered members."""
    relation, key = _effort_relation(warehouse, spec, effort), quote_name(spec.record_key)
    if not spec.holds_back_joiners:
        return Origin(relation, spec.record_key)
    values = "".join(
        f", members.v_{number} as {quote_name(name)}"
        for number, name in enumerate([*spec.generalized_columns, *spec.kept_columns], start=1)
    )
    return Origin(
        f"(select effort.{key}{values}, members.cqi as equivalence_class, "
        f"members.cqi is null as is_suppressed from {relation} as effort "
        f"left join (select * from {members_relation(warehouse, spec)} where left_at is null) "
        f"as members on cast(effort.{key} as varchar) = members.record_key)",
        spec.record_key,
    )


def _average_risk(warehouse: Warehouse, spec: Spec, effort: int) -> float:
    """Return the average risk of an effort, as the build reports it."""
    relation = warehouse.relation_of_ref(f"{spec.name}_privacy")
    sql = f"select average_risk from {relation} where effort = {effort}"
    risks = warehouse.rows(sql)
    if len(risks) != 1 or risks[0][0] is None:
        raise VerificationError(
            f"{spec.name}: the average risk of effort {effort} must be known; it is not. "
            "Run `dbt build`."
        )
    return float(risks[0][0])


def _compose(
    released: Released, relation: str, project: Project, chosen: int, earlier: Sequence[Path]
) -> list[AttackResult]:
    """Compose the release with everything that is or could be published of the same people."""
    knowledge = released.knowledge
    results = attack_remembered(released)
    for file in earlier:
        rows = knowledge.session.released_table(
            project.root / file, f"{knowledge.spec.name}_anonymized"
        )
        results += attack_earlier(released, relation, rows, file)
    # A copy of a server has relations of this anonymization alone.
    server = getattr(knowledge.session.warehouse, "original", knowledge.session.warehouse)
    # What tables of counts tell beside, their own check says.
    others = (spec for spec in load_specs(project.root) if not other_release(spec))
    for spec in others:
        if spec.name != knowledge.spec.name and share_people(server, spec, knowledge.spec):
            results += _compose_with(released, relation, project, chosen, spec)
    for name, other in _other_efforts(knowledge, chosen):
        results += attack_composition(released, other, OtherRelease(name, name, is_published=False))
    return results


def _compose_with(
    released: Released, relation: str, project: Project, chosen: int, other: Spec
) -> list[AttackResult]:
    """Compose with the release of another anonymization, by the quasi-identifiers of each.

    A column that one releases unchanged may be a quasi-identifier of the other.
    """
    knowledge, session, spec = (
        released.knowledge,
        released.knowledge.session,
        released.knowledge.spec,
    )
    their_relation = _published_release(session, project, other)
    if their_relation is None:
        return []
    name, shown = f"release {other.name}", f"the release {other.name}"
    number = chosen_effort(session.warehouse, other)
    if number in other.external_efforts:
        message = f"not intersected: {shown} has rows of another tool, and whose nobody knows."
        return [AttackResult("composition", "joint_classes_below_k", None, message, against=name)]
    theirs = _origin(session.warehouse, other, number)
    ours = _origin(session.warehouse, spec, chosen)
    is_same_key = other.record_key == spec.record_key
    beside = read_release(
        knowledge,
        their_relation,
        shown,
        published=other,
        origin=theirs if is_same_key else None,
    )
    # Beside a draft there are other drafts.
    is_published = publishes(session.warehouse, spec.name)
    results = attack_composition(released, beside, OtherRelease(name, shown, is_published))
    turned = load_attacker_knowledge(session, other)
    attacked = read_release(turned, their_relation, shown, published=other, origin=theirs)
    if attacked is None:
        return results
    shown = f"the release {spec.name}"
    beside = read_release(
        turned, relation, shown, published=spec, origin=ours if is_same_key else None
    )
    return results + attack_composition(
        attacked, beside, OtherRelease(f"{name}, by its quasi-identifiers", shown, is_published)
    )


def _published_release(session: Session, project: Project, spec: Spec) -> str | None:
    """Return the release of an anonymization, if it was ever published."""
    try:
        if not session.warehouse.is_duckdb:
            return session.release_of(spec.name, None)
        file = project.root / release_file(session.warehouse, spec.name)
    except WarehouseError:  # never generated, so never published
        return None
    return session.release_of(spec.name, file) if file.is_file() else None


def _other_efforts(knowledge: Knowledge, chosen: int) -> list[tuple[str, Released | None]]:
    """Read the other efforts that qualify, as if they were released too."""
    warehouse, spec = knowledge.session.warehouse, knowledge.spec
    releases = []
    for result in read_results(warehouse, spec.name):
        # Whose rows the table of another tool has, nobody knows.
        if not result.qualifies or result.effort in {chosen, *spec.external_efforts}:
            continue
        effort = _effort_relation(warehouse, spec, result.effort)
        rows = f"(select * from {effort} where not is_suppressed)"
        name = f"effort {result.effort}"
        origin = Origin(effort, spec.record_key)
        releases.append((name, read_release(knowledge, rows, name, published=spec, origin=origin)))
    return releases
