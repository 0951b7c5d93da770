{% macro frozen_results(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "privacy", "classes", "effort", "quasi_identifiers", "levels", "labels", "qnf", "fingerprint",
    "suppression_limit",
], {
    "levels_in_words": none, "has_refusals": false, "is_recoded": false,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._analyzed()) }}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._raise_errors(
        given.anonymization,
        dbt_anonymize._frozen_label_errors(
            given.anonymization, given.quasi_identifiers, given.levels, given.labels, given.is_recoded
        )
    ) -%}
{%- endif -%}
{%- set double, integer = dbt_anonymize._type_double(), dbt.type_int() -%}
{%- set bigint, boolean = dbt.type_bigint(), dbt.type_boolean() -%}
{%- set unknown = [
    ("repetitions", bigint), ("qf_mean", double), ("qf_sd", double), ("qf_low", double), ("qf_high", double),
    ("qf_difference", double), ("qf_difference_low", double), ("qf_difference_high", double),
    ("is_non_inferior", boolean), ("zero_rule", double), ("beats_zero_rule", boolean), ("qnf", none),
    ("alpha", double), ("q", double), ("is_on_frontier", boolean), ("alpha_from", double), ("alpha_to", double),
    ("qualifies", none), ("is_chosen", none), ("choice_share", double), ("runner_up", integer),
    ("q_difference_to_runner_up", double), ("q_difference_to_runner_up_low", double),
    ("q_difference_to_runner_up_high", double),
] -%}
with

{{ dbt_anonymize._privacy_with_qnf(given.privacy, given.qnf) }}

{# What would have to go, and what would hold if nothing did. #}
broken as (

    select
        effort,
        count(case when is_violating then 1 end) as violating_classes,
        min(class_size) as smallest
    from {{ given.classes }}
    group by effort

),

frozen as (

    select
        privacy.*,
        privacy.effort = {{ given.effort }} and privacy.meets_guarantees as is_kept,
        broken.violating_classes,
        broken.smallest,
        {{ dbt_anonymize._may_be_suppressed(given.suppression_limit, "privacy.records") }} as may_be_suppressed
    from privacy
    left join broken on privacy.effort = broken.effort

)

select
    effort,
    {{ dbt_anonymize._levels_in_words(given.levels_in_words) | indent(4) }} as levels_in_words,
    k,
    records,
    suppressed_records,
    violating_records,
    {{ dbt_anonymize._as_text("null") }} as target,
    {{ dbt_anonymize._as_text("null") }} as measure,
    {%- for name, type in unknown %}
    {%- if name == "qnf" %}
    qnf,
    {%- elif type is none %}
    is_kept as {{ name }},
    {%- else %}
    cast(null as {{ type }}) as {{ name }},
    {%- endif %}
    {%- endfor %}
    {{ dbt_anonymize._as_text("null") }} as coarser_features,
    {{ dbt_anonymize._as_text("'frozen'") }} as choose,
    {{ dbt_anonymize._frozen_reason(given.suppression_limit, given.has_refusals) | indent(4) }} as reason,
    {{ dbt_anonymize._as_text(dbt_anonymize._literal(given.fingerprint)) }} as fingerprint
from frozen
order by effort
{%- endmacro %}


{# SQL of why a frozen effort is released or not, with what would hold now. `has_refusals`: privacy has a `refusal`. #}
{% macro _frozen_reason(suppression_limit, has_refusals=false) -%}
{%- set text = dbt_anonymize._as_text -%}
{#- Rounded up to four decimals: a limit that is written must suffice. -#}
{%- set needed = "ceil(violating_records * 10000.0 / nullif(records, 0)) / 10000" -%}
case
    when effort = 0 then 'not released: the untouched source'
    when is_kept then 'chosen: frozen, and keeps its guarantees'
    {%- if has_refusals %}
    when refusal is not null and violating_records <= may_be_suppressed
        then 'not released: frozen, but ' || refusal
    {%- endif %}
    else
        'not released: frozen, but {{ "' || coalesce(refusal || ', and it ', '') || '" if has_refusals }}breaks '
        || coalesce(broken_guarantees, 'its guarantees') || '; '
        || {{ text("violating_records") }} || ' of ' || {{ text("records") }} || ' records in '
        || {{ text("violating_classes") }} || ' classes would have to go, where suppression_limit '
        || {{ dbt_anonymize._literal(suppression_limit | string) }} || ' allows '
        || {{ text("cast(may_be_suppressed as " ~ dbt.type_bigint() ~ ")") }}
        || '. What would hold now: suppression_limit ' || {{ text(needed) }}
        || ', or, if nothing is suppressed, k = ' || {{ text("smallest") }}
end
{%- endmacro %}


{#
  Why the labels of a frozen effort are not those that were committed, as messages: `labels` is the seed with one row
  per quasi-identifier, leaf and level; `levels` the level of each, or a list of several whose labels may be released.
  `is_recoded`: the seed has rows of classes as well. New leaves may be added; no leaf may go or get another label.
#}
{% macro _frozen_label_errors(anonymization, quasi_identifiers, levels, labels, is_recoded=false) -%}
    {%- set remedy = " Restore the hierarchy, or freeze again: remove `freeze`, build, and run `dbt-anonymize freeze "
        ~ anonymization ~ "`." -%}
    {%- set errors = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set name, level = quasi_identifier.name, levels[quasi_identifier.name] -%}
        {%- set expected = ([level] if level is number else level) | reject("equalto", 0) | list -%}
        {%- set of_attribute = "attribute = " ~ dbt_anonymize._literal(name)
            ~ (" and class_number is null" if is_recoded else "") -%}
        {%- set counts = run_query(
            "select count(*), count(case when coalesce(" ~ dbt_anonymize._as_text("level") ~ ", '') not in ('"
            ~ (expected or [""]) | join("', '") ~ "') then 1 end), count(distinct level) from " ~ labels
            ~ " where " ~ of_attribute
        ).rows[0] -%}
        {%- if counts[1] > 0 or counts[2] < expected | length -%}
            {%- do errors.append(
                "the frozen labels of " ~ name ~ " must be those of level " ~ (expected or [0]) | join(", ")
                ~ "; the seed " ~ labels.identifier ~ " has " ~ counts[0] ~ " of " ~ name ~ ", " ~ counts[1]
                ~ " of another level." ~ remedy
            ) -%}
        {%- else -%}
            {%- set changed = [] -%}
            {%- for one in expected -%}
                {%- do changed.append(run_query(
                    dbt_anonymize._changed_labels(quasi_identifier, one, labels, of_attribute)
                ).rows[0][0]) -%}
            {%- endfor -%}
            {%- if changed | sum > 0 -%}
                {%- do errors.append(
                    "the labels of " ~ name ~ " are frozen; " ~ changed | max ~ " of its "
                    ~ counts[0] // expected | length ~ " leaves are gone or have another label or bound." ~ remedy
                ) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}


{% macro _changed_labels(quasi_identifier, level, labels, of_attribute) -%}
{%- set is_interval = quasi_identifier.kind == "interval" -%}
{#- A seed holds an empty text as NULL. -#}
select count(*)
from {{ labels }} as frozen
left join (
    {{ dbt_anonymize._labelled_leaves(quasi_identifier, level) | indent(4) }}
) as found on coalesce(frozen.leaf, '') = found.leaf
where
    {{ of_attribute }}
    and {{ dbt_anonymize._as_text("frozen.level") }} = '{{ level }}'
    and (
        found.leaf is null
        or coalesce(frozen.label, '') <> found.label
        {%- if is_interval %}
        or coalesce(frozen.upper_bound, '') <> found.upper_bound
        {%- endif %}
    )
{%- endmacro %}


{# Query of the leaves of a hierarchy as texts, with their label of a level: `leaf`, `upper_bound`, `label`. #}
{% macro _labelled_leaves(quasi_identifier, level) -%}
{%- set is_interval = quasi_identifier.kind == "interval" -%}
select
    coalesce({{ dbt_anonymize._as_text("lower_bound" if is_interval else "value") }}, '') as leaf,
    {{ "coalesce(" ~ dbt_anonymize._as_text("upper_bound") ~ ", '')" if is_interval
        else dbt_anonymize._as_text("null") }} as upper_bound,
    {{ dbt_anonymize._as_text("level_" ~ level) }} as label
from {{ quasi_identifier.hierarchy }}
{%- endmacro %}
