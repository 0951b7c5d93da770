"""Rules about the release, its tokens and re-linking: see ``rules``."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_anonymize.spec.draft import RawSpec, unknown_column
from dbt_anonymize.spec.problems import Problem, short_repr


def _released_effort_exists(draft: RawSpec) -> Iterator[Problem]:
    last = len(draft.efforts)
    if draft.release_effort is not None and draft.release_effort > last > 0:
        yield Problem(
            ("release", "effort"),
            f"must be auto or an effort of this spec, 1 to {last}",
            "Write auto, or the number of an effort.",
            short_repr(draft.release_effort),
        )


def _tokens_are_not_public(draft: RawSpec) -> Iterator[Problem]:
    """Check that nobody outside gets rows that can be joined by person."""
    if draft.mapping == "token" and draft.release.get("access") == "public":
        yield Problem(
            ("mapping",),
            "must be class or none where release.access is public: a token is the same in every "
            "release, so that whoever has two of them knows which rows belong to one person",
            "Write mapping: none."
            if draft.has_external_efforts
            else "Write mapping: class, or release: {access: protected}.",
            "token",
        )


def _consent_is_about_a_mapping(draft: RawSpec) -> Iterator[Problem]:
    """Check that consent is a column, asked for where there is a way back, and takes effect."""
    if draft.consent is None or draft.roles is None:
        return
    if draft.consent not in draft.roles:
        yield Problem(
            ("consent",),
            "must be a column with a role",
            f"Write `{draft.consent}: {{role: dropped}}`, or another role, under columns.",
            draft.consent,
        )
    if draft.mapping == "none":
        yield Problem(
            ("consent",),
            "must not be declared with mapping none: such a release leads back to nobody",
            "Remove it, or leave people out in a model before.",
            draft.consent,
        )
    if draft.sample or any(effort.get("sample") for _, effort in draft.efforts_with_keys):
        yield Problem(
            ("consent",),
            "must not be declared with a sample, whose people are among all of the source",
            "Leave people without consent out in a model before, and release a sample of that.",
            draft.consent,
        )


def _hashes_join_nobody(draft: RawSpec) -> Iterator[Problem]:
    """Check that no hash of an identifier joins the rows of a subject, or public releases."""
    for name, mask in draft.masks.items():
        if not mask.get("keyed_hash") or (draft.roles or {}).get(name) != "masked":
            continue
        if draft.subject is not None:
            yield Problem(
                ("columns", name, "mask"),
                "must not hash an identifier where a subject is declared: it joins the rows of one "
                "subject, so that k would promise more than it keeps",
                "Use another mask, make the role identifier, or release one record per subject.",
            )
        if draft.release.get("access") == "public":
            yield Problem(
                ("columns", name, "mask"),
                "must not hash an identifier where release.access is public: the hash is the same "
                "in every release, so that whoever has two of them knows which rows belong to "
                "one person",
                "Use another mask, or write release: {access: protected}.",
            )


def _contract_is_whole(draft: RawSpec) -> Iterator[Problem]:
    """Check that a contract names the type of all that is released, and of nothing else."""
    for name, role in (draft.roles or {}).items() if draft.data_types else ():
        is_typed = role in {"sensitive", "insensitive", "masked"} or (
            role == "quasi_identifier" and draft.kinds.get(name) == "interval"
        )
        if is_typed and name not in draft.data_types:
            yield Problem(
                ("columns", name),
                "must have a data_type where others have one: the contract of a release is about "
                "all of its columns",
                "Add it, or remove those of the others.",
            )
        if name in draft.data_types and not is_typed and role is not None:
            released = "released as text" if role == "quasi_identifier" else "not released"
            yield Problem(
                ("columns", name, "data_type"),
                f"must not be declared for a column that is {released}",
                "Remove it.",
            )
        if name in draft.data_types and set(name) & set('"`'):
            yield Problem(
                ("columns", name, "data_type"),
                "must not be declared for a column whose name has a quotation mark: dbt cannot "
                "write it into a contract",
                "Rename the column in a model before, or remove all data_types.",
            )


def _left_out_columns_serve_nothing(draft: RawSpec) -> Iterator[Problem]:
    for number, name in enumerate(draft.left_out, start=1):
        place = ("release", "leave_out", number)
        role = (draft.roles or {}).get(name)
        wrong = {
            "must name each column once": name in draft.left_out[: number - 1],
            "must not be the target: models predict what is released": name == draft.target,
            "must not be a feature: nobody can learn from what is not released": name
            in draft.features,
            "must not be an identifier, which is never released": role == "identifier",
        }
        rule = next((rule for rule, is_broken in wrong.items() if is_broken), None)
        if rule is not None:
            where = "features" if "feature" in rule else "the list"
            yield Problem(place, rule, f"Remove it from {where}.", name)
        elif draft.roles is not None and name not in draft.roles:
            yield unknown_column(place, name, draft)


RULES = (
    _left_out_columns_serve_nothing,
    _contract_is_whole,
    _released_effort_exists,
    _tokens_are_not_public,
    _consent_is_about_a_mapping,
    _hashes_join_nobody,
)
