{% macro membership(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "number", "effort", "microdata", "record_key", "columns", "guarantees", "labels",
], {"k": none, "sensitive_hierarchies": {}, "share": none}) -%}
{{ config(
    materialized="dbt_anonymize_vault",
    pre_hook="{{ dbt_anonymize._refuse_clone() }}",
    database=dbt_anonymize._vault_database(),
    schema=dbt_anonymize._vault_schema(),
    grants=dbt_anonymize._custodian_grants(),
    meta={"dbt_anonymize": {"anonymization": given.anonymization, "mapping": "membership"}},
) }}
{%- set members = dbt_anonymize._members_relation(this, given.anonymization) -%}
{%- set first = 0 -%}
{%- set stored = none -%}
{%- if dbt_anonymize._is_building() -%}
    {%- do dbt_anonymize._check_vault_place(given.anonymization) -%}
    {%- set stored = load_relation(members) -%}
    {%- do dbt_anonymize._check_members(given.anonymization, stored, given.effort, given.columns, given.labels) -%}
    {%- if stored -%}{%- set first = dbt_anonymize._last_change(stored) -%}{%- endif -%}
{%- endif -%}
{{ dbt_anonymize._membership_rows(given, stored, first) }}
{%- endmacro %}


{# Its query: `stored` are the members after release `first`, or none. #}
{% macro _membership_rows(given, stored, first) -%}
{%- set guarantees = dbt_anonymize._guarantees_of_effort(given.guarantees, given.number) -%}
{%- set attributes = dbt_anonymize._guaranteed_attributes(guarantees) -%}
{%- set places = dict(dbt_anonymize._by_number(attributes, guarantees, given.sensitive_hierarchies), values=[]) -%}
{%- for attribute in attributes -%}
    {%- do places["values"].append("v_" ~ (given.columns.index(attribute) + 1)) -%}
{%- endfor -%}
{%- set stricter = ["class_size < " ~ given.k] if given.k else [] -%}
{%- set values = dbt_anonymize._member_values(given.columns) -%}
with

{{ dbt_anonymize._numbered_distributions(given.microdata, attributes, places, given.share) }}

{{ dbt_anonymize._member_versions(given.effort, given.record_key, given.columns, stored) }}

{{- dbt_anonymize._movements(places, stricter, first + 1) }}

select
    record_key,
    cqi,
    cohort,
    'joined' as state,
    {{ values | join(",\n    ") }},
    {{ first }} as after_release
from joined
union all
select
    versions.record_key,
    case when versions.is_leaving = 1 and held.cohort is null then null else versions.cqi end as cqi,
    versions.cohort,
    case
        when versions.is_leaving = 1 and held.cohort is null then 'left'
        when versions.is_changed = 1 then 'changing'
        when versions.is_leaving = 1 then 'leaving'
        else 'released'
    end as state,
    {%- for value in values %}
    versions.{{ value }},
    {%- endfor %}
    {{ first }} as after_release
from versions
left join held on versions.cohort = held.cohort
where versions.left_at is null
union all
select
    candidates.record_key,
    {{ dbt_anonymize._as_text("null") }} as cqi,
    candidates.prior as cohort,
    'waiting' as state,
    {#- The source has them. #}
    {%- for value in values %}
    case when 1 = 0 then candidates.{{ value }} end as {{ value }},
    {%- endfor %}
    {{ first }} as after_release
from candidates
left join joined on candidates.record_key = joined.record_key
where joined.record_key is null
{%- endmacro %}


{# The names under which members hold released columns: whatever these are called. #}
{% macro _member_values(columns) -%}
    {%- set names = [] -%}
    {%- for column in columns -%}{%- do names.append("v_" ~ loop.index) -%}{%- endfor -%}
    {{ return(names) }}
{%- endmacro %}


{# CTEs `current_rows`, the records that have a class now, and `versions`, what was last released of each record. #}
{% macro _member_versions(effort, record_key, columns, stored) -%}
{%- set values = dbt_anonymize._member_values(columns) -%}
current_rows as (

    select
        {{ dbt_anonymize._as_text(dbt_anonymize._quote(record_key)) }} as record_key,
        equivalence_class as cqi,
        md5({{ dbt_anonymize._class_text(columns) }}) as content,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }} as {{ values[loop.index0] }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ effort }}
    where equivalence_class is not null

),

known as (

    {%- if stored %}

    select *
    from (
        select
            *,
            md5({{ dbt_anonymize._class_text(values) }}) as content,
            row_number() over (partition by record_key order by entered desc) as age
        from {{ stored }}
    ) as numbered
    where age = 1
    {%- else %}

    select
        *,
        {{ dbt_anonymize._as_text("null") }} as cohort,
        0 as entered,
        0 as left_at
    from current_rows
    where 1 = 0
    {%- endif %}

),

versions as (

    select
        known.*,
        {#- Whose values are others leaves her cohort too, and joins as somebody new. #}
        case
            when
                current_rows.record_key is null
                or current_rows.cqi <> known.cqi
                or current_rows.content <> known.content
                then 1
            else 0
        end as is_leaving,
        case
            when current_rows.cqi = known.cqi and current_rows.content <> known.content then 1 else 0
        end as is_changed
    from known
    left join current_rows on known.record_key = current_rows.record_key

),
{%- endmacro %}


{# Attributes by number, as `_movements` takes them: whatever they are called, they are no columns of our own. #}
{% macro _by_number(attributes, guarantees, sensitive_hierarchies) -%}
    {%- set kept, numbered, trees = [], [], {} -%}
    {%- for guarantee in guarantees -%}
        {%- set number = attributes.index(guarantee.attribute) + 1 if guarantee.attribute in attributes else none -%}
        {%- do kept.append(dict(guarantee, attribute="a_" ~ number) if number else guarantee) -%}
    {%- endfor -%}
    {%- for attribute in attributes -%}
        {%- do numbered.append("a_" ~ loop.index) -%}
        {%- if attribute in sensitive_hierarchies -%}
            {%- do trees.update({"a_" ~ loop.index: sensitive_hierarchies[attribute]}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({"kept": kept, "trees": trees, "numbered": numbered}) }}
{%- endmacro %}


{# CTEs `microdata`, with attributes by number, and `table_...`: their distributions in the table, or in a sample. #}
{% macro _numbered_distributions(microdata, attributes, by_number, share) -%}
microdata as (

    select
        {%- for attribute in attributes %}
        {{ dbt_anonymize._quote(attribute) }} as a_{{ loop.index }},
        {%- endfor %}
        {{ "sample_share" if share else "1 as sample_share" }}
    from {{ microdata }}

),
{{- dbt_anonymize._global_distributions(
    "microdata", by_number.numbered, by_number.kept, "table_", "count(*)",
    sensitive_hierarchies=by_number.trees, share=share
) }}
{%- endmacro %}


{#
  CTEs that end in `held` (cohorts that nobody may leave yet), `candidates` and `joined`. A cohort is who joined a
  class together and is in it ever since with the same values, so that two releases differ by whole parts of cohorts:
  each part must keep every guarantee by itself.
    attributes  of guarantees: `numbered` (names in the CTEs), `values` (columns of members), `kept` (guarantees about
                them) and `trees` (hierarchies)
#}
{% macro _movements(attributes, stricter, release) -%}
{{ dbt_anonymize._parts(
    "parted", "versions", ["cohort", "is_leaving"], "where left_at is null", attributes, stricter
) }}

held as (

    select cohort
    from parted_classes
    group by cohort
    having max(is_leaving) = 1 and max(case when is_violating then 1 else 0 end) = 1

),

gone as (

    select
        versions.*,
        {%- set since = dbt_anonymize._as_text("coalesce(versions.left_at, " ~ release ~ ")") %}
        {{ dbt.concat(["versions.cohort", "' '", since]) }} as prior
    from versions
    left join held on versions.cohort = held.cohort
    where versions.left_at is not null or (versions.is_leaving = 1 and held.cohort is null)

),

candidates as (

    select
        current_rows.*,
        coalesce(gone.prior, 'new') as prior
    from current_rows
    left join gone on current_rows.record_key = gone.record_key
    left join versions on current_rows.record_key = versions.record_key
    where versions.record_key is null or gone.record_key is not null

),
{{ dbt_anonymize._parts("joining", "candidates", ["cqi", "prior"], "", attributes, stricter) }}

{# Who stays away of those who left together. -#}
absent as (

    select gone.*
    from gone
    left join candidates on gone.record_key = candidates.record_key
    left join joining_classes
        on
            candidates.cqi = joining_classes.cqi
            and candidates.prior = joining_classes.prior
            and not joining_classes.is_violating
    where joining_classes.prior is null

),
{{ dbt_anonymize._parts("absent_parts", "absent", ["prior"], "", attributes, stricter) }}

joined as (

    select
        candidates.*,
        md5({{ dbt.concat(["'" ~ release ~ " '", "candidates.prior", "' '", "candidates.cqi"]) }}) as cohort
    from candidates
    inner join joining_classes
        on candidates.cqi = joining_classes.cqi and candidates.prior = joining_classes.prior
    left join absent_parts_classes
        on candidates.prior = absent_parts_classes.prior and absent_parts_classes.is_violating
    where not joining_classes.is_violating and absent_parts_classes.prior is null

)
{%- endmacro %}


{# CTEs that end in `<prefix>_classes`: parts of rows with keys in common, and whether they break a guarantee. #}
{% macro _parts(prefix, rows, keys, condition, attributes, stricter) %}

{{ prefix }}_generalized as (

    select
        {{ keys | join(",\n        ") }},
        {%- for value in attributes["values"] %}
        {{ value }} as a_{{ loop.index }},
        {%- endfor %}
        1 as records
    from {{ rows }}
    {{- "\n    " ~ condition if condition }}

),
{{- dbt_anonymize._measured_classes({
    "grouped_by": keys,
    "guarantees": attributes.kept,
    "attributes": attributes.numbered,
    "prefix": prefix ~ "_",
    "whole": "table_",
    "sensitive_hierarchies": attributes.trees,
    "stricter": stricter,
}) }}
{%- endmacro %}
