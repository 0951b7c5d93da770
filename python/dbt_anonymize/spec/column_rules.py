"""Rules about names and roles of columns: see ``rules``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_anonymize.privacy.registry import MEASURES
from dbt_anonymize.relations import ALL, OWN_COLUMNS, SHARED
from dbt_anonymize.spec.draft import UNDECIDED, RawSpec, items, mapping, unknown_column
from dbt_anonymize.spec.efforts import is_shorthand
from dbt_anonymize.spec.masks import NUMERIC
from dbt_anonymize.spec.problems import Problem, did_you_mean, names, short_repr

RESERVED_COLUMNS = OWN_COLUMNS | {
    "entropy_based",  # its loss would be a second entropy_based_loss
    "position_by_size",
    "subjects_up_to",
    "total_information",  # its loss would be a second total_information_loss
}
# Columns that we add for a column of the role.
DERIVED_SUFFIXES = {
    "quasi_identifier": ("_lower", "_upper", "_leaf", "_level", "_share"),
    "sensitive": tuple(f"_{measure}" for measure in MEASURES),
}
# Of a further target of the classification metric, in the classes.
TARGET_SUFFIXES = ("_majority_records", "_has_majority")
# Our own relations: `<name>_<suffix>` of an anonymization. Numbers of efforts change with every
# search, so those of efforts that do not exist yet count too.
OWN_RELATIONS = re.compile(
    "|".join(
        f"{name}{'_[0-9]+' if relation.per else '_.+' if relation.each else ''}"
        for name, relation in ALL.items()
    )
)


def _names_of_relations_are_free(draft: RawSpec) -> Iterator[Problem]:
    """Check names without regard to case, which SQL engines fold."""
    if draft.name is None:
        return
    prefix = f"{draft.name}_".casefold()
    for place, ref in draft.refs.items():
        folded = ref.casefold()
        is_own = folded.startswith(prefix) and OWN_RELATIONS.fullmatch(folded[len(prefix) :])
        if is_own or folded in SHARED:
            yield Problem(
                place,
                f"must not be the name of a relation that we build for {draft.name}",
                "Rename the model or seed, or the anonymization.",
                ref,
            )


def _column_names_are_free(draft: RawSpec) -> Iterator[Problem]:
    """Check names without regard to case, which SQL engines fold."""
    places = {name: ("columns", name) for name in draft.roles or {} if name != draft.record_key} | (
        {draft.record_key: ("record_key",)} if draft.record_key else {}
    )
    if draft.record_key == UNDECIDED:
        unique = "Write a column that is unique and never NULL; where there is none, make one."
        yield Problem(("record_key",), "must be decided", unique, UNDECIDED)
    if draft.record_key in (draft.roles or {}):
        yield Problem(
            ("columns", str(draft.record_key)),
            "must not repeat the record key",
            "Remove it from columns.",
        )
    derived = {added.casefold(): name for name, added in _added_columns(draft)}
    yield from _derived_names_differ(draft)
    seen: dict[str, str] = {}
    for name, place in places.items():
        folded = name.casefold()
        rename = "Rename the column in a model before."
        if folded in RESERVED_COLUMNS:
            reserved = names(sorted(RESERVED_COLUMNS))
            yield Problem(place, f"must not be one of our own columns ({reserved})", rename, name)
        if folded in derived:
            yield Problem(
                place,
                f"must not be the name of a column that we add for {derived[folded]}",
                rename,
                name,
            )
        if folded in seen:
            yield Problem(
                place, f"must differ from {seen[folded]} in more than upper and lower case", rename
            )
        seen.setdefault(folded, name)


def _derived_names_differ(draft: RawSpec) -> Iterator[Problem]:
    """Check that no two columns that we add share a name: a guarantee would read the wrong one."""
    owners: dict[str, str] = {}
    for name, added in _added_columns(draft):
        owner = owners.setdefault(added.casefold(), name)
        if owner != name:
            yield Problem(
                ("columns", name),
                f"must differ from {owner} in more than what we add to names: both would have "
                f"a column {added}",
                "Rename one of them in a model before.",
                name,
            )


def _added_columns(draft: RawSpec) -> Iterator[tuple[str, str]]:
    """Yield each column with the name of one that we add for it."""
    for name, role in (draft.roles or {}).items():
        suffixes = DERIVED_SUFFIXES.get(str(role), ())
        if role == "quasi_identifier" and draft.release.get("midpoints") is True:
            suffixes = (*suffixes, "_midpoint")
        if role == "insensitive" and name in draft.masks:
            suffixes = ("_masked",)
        for suffix in suffixes:
            yield name, f"{name}{suffix}"
    for name in draft.loss_targets or mapping(draft.quality.get("further_targets")):
        for suffix in TARGET_SUFFIXES:
            if name != draft.target:
                yield name, f"{name}{suffix}"


def _quasi_identifiers_exist(draft: RawSpec) -> Iterator[Problem]:
    if draft.roles and draft.has_all_roles and not draft.levels:
        yield Problem(
            ("columns",),
            "must hold at least one quasi-identifier",
            "Give a column that others could know the role quasi_identifier and a hierarchy.",
            names(sorted({str(role) for role in draft.roles.values()})),
        )


def _target_is_released(draft: RawSpec) -> Iterator[Problem]:
    rule = (
        "must be a sensitive or insensitive column, released as it is, or a quasi-identifier that "
        "every effort leaves at level 0"
    )
    remedy = "Choose another target, or another role for this column."
    roles = "sensitive insensitive"
    if draft.task in {None, "classification"} and all(
        mapping(effort if is_shorthand(effort) else effort.get("levels")).get(draft.target) == 0
        for effort in (effort or {} for effort in draft.efforts)
    ):
        roles += " quasi_identifier"
    return _has_role(draft, "target", draft.target, roles, (rule, remedy))


def _loss_targets_are_released(draft: RawSpec) -> Iterator[Problem]:
    if not draft.roles:
        return
    for name in map(str, draft.loss_targets):
        role = draft.roles.get(name)
        is_kept = role in {"sensitive", "insensitive"} and name not in draft.masks
        if name != draft.target and not is_kept:
            yield Problem(
                ("information_loss", "targets", name),
                "must be the target, or another column that is released as it is (sensitive or "
                "insensitive, without a mask)",
                did_you_mean(name, list(draft.roles), "Choose another column."),
                f"{name}, which is {role or 'no column'}" + " with a mask" * (name in draft.masks),
            )


def _subject_is_an_identifier(draft: RawSpec) -> Iterator[Problem]:
    rule = "must be a column of role identifier: it leads to one person"
    remedy = "Give the column this role, or choose another subject."
    return _has_role(draft, "subject", draft.subject, "identifier", (rule, remedy))


def _has_role(
    draft: RawSpec, key: str, name: str | None, roles: str, message: tuple[str, str]
) -> Iterator[Problem]:
    if name is None or draft.roles is None or name in draft.left_out:
        return
    role = draft.roles.get(name)
    if name not in draft.roles:
        yield unknown_column((key,), name, draft)
    elif role is not None and role not in roles.split():
        yield Problem((key,), *message, f"{name}, which is {role}")


def _features_are_usable(draft: RawSpec) -> Iterator[Problem]:
    roles = draft.roles
    if roles is None:
        return
    for number, name in enumerate(draft.features, start=1):
        place = ("features", number)
        others = {draft.target: "the target", draft.record_key: "the record key"}
        if name in draft.features[: number - 1]:
            yield Problem(place, "must name each column once", "Remove it.", name)
        elif name in others:
            yield Problem(place, f"must not be {others[name]}", "Remove it.", name)
        elif name not in roles:
            yield unknown_column(place, name, draft)
        elif roles[name] == "identifier":
            yield Problem(
                place,
                "must not be an identifier: identifiers leave the vault in no form",
                "Remove it, or give the column another role.",
                name,
            )
        elif name in draft.left_out:
            continue  # see release_rules
        elif roles[name] in {"masked", "dropped"} or not set(draft.masks.get(name, ())) <= NUMERIC:
            yield Problem(
                place,
                "must be read alike in the release and in untouched records: nothing of a masked "
                "or dropped column, and only round, top, bottom and truncate of the masks",
                "Remove it, or change the mask.",
                name,
            )


def _origins_are_protected(draft: RawSpec) -> Iterator[Problem]:
    roles = draft.roles or {}
    secrets = [n for n, role in roles.items() if role in {"identifier", "masked", "dropped"}]
    secrets += [draft.record_key] if draft.record_key else []
    for name, declared in draft.derived_from.items():
        origins = [declared] if isinstance(declared, str) else items(declared)
        place = ("columns", name, "derived_from")
        allowed = list(secrets)
        if roles[name] in {"sensitive", "insensitive"}:
            allowed += [other for other, role in roles.items() if role == "quasi_identifier"]
        if roles[name] in {"identifier", "masked", "dropped"}:
            rule = f"must not be declared for a column of role {roles[name]}"
            yield Problem(place, rule, "Remove it.")
        for origin in (o for o in origins if isinstance(o, str) and o not in allowed):
            yield Problem(
                place,
                "must name an identifier or the record key, or a quasi-identifier of a column that "
                "is released as it is",
                did_you_mean(origin, allowed, f"Those are {names(allowed)}."),
                short_repr(origin),
            )


RULES = (
    _names_of_relations_are_free,
    _column_names_are_free,
    _quasi_identifiers_exist,
    _target_is_released,
    _loss_targets_are_released,
    _features_are_usable,
    _subject_is_an_identifier,
    _origins_are_protected,
)
