{#
  Local recoding (the iterative scheme of ARX): records whose class is too weak at the levels of one round are
  generalized again at those of the next, all by themselves, until a round keeps every guarantee. P, the distribution of
  a sensitive attribute in the whole table, stays that of all records.
  A class of one round may have the labels of a class of another: together they are one class in the release, which
  keeps what both keep, but for Grassberger's entropy and, with a subject, models about distributions. So `<n>_classes`
  judges the classes of the release anew.
#}
{% macro local_recoding(
    microdata, quasi_identifiers, record_key, rounds, guarantees, sensitive=[], k=none, has_subject=false,
    population=none, population_size=none, sensitive_hierarchies={}
) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(quasi_identifiers),
    post_hook=["{{ dbt_anonymize._check_recoding() }}"] + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._check_rounds(rounds) -%}
{%- set required = dbt_anonymize._recoding_guarantees(guarantees, k, has_loss=true) -%}
{%- set attributes = dbt_anonymize._guaranteed_attributes(required) -%}
{%- set columns = [record_key] + attributes + (["subject"] if has_subject else []) -%}
{%- set names = quasi_identifiers | map(attribute="name") | list -%}
with

rest_1 as (

    select * from {{ microdata }}

),
{{- dbt_anonymize._global_distributions(
    "rest_1", attributes, required, "whole_", "count(*)", has_subject, population_size, sensitive_hierarchies
) }}
{%- for levels in rounds %}
{%- set prefix = "round_" ~ loop.index ~ "_" %}
{%- set rest = "rest_" ~ loop.index %}
{%- set leveled = [] %}
{%- for quasi_identifier in quasi_identifiers %}
{%- do leveled.append(dict(quasi_identifier, level=levels[quasi_identifier.name])) %}
{%- endfor %}
{{- dbt_anonymize.generalize(rest, leveled, columns, prefix, has_shares=true) }}
{%- if not loop.last %}
{{- dbt_anonymize._measured_classes(
    names,
    required,
    sensitive=attributes,
    prefix=prefix,
    count="count(*)",
    has_subject=has_subject,
    distributions="whole_",
    population_size=population_size,
    sensitive_hierarchies=sensitive_hierarchies,
    further=dbt_anonymize._loss_of_classes(required, quasi_identifiers),
) }}
{%- endif %}

{{ prefix }}released as (

    select
        {{ dbt_anonymize._quote(record_key, "generalized") }}
        {%- for quasi_identifier in leveled %}
        {%- for column in dbt_anonymize._recoded_columns(quasi_identifier) %},
        {%- if column == quasi_identifier.name ~ "_level" %}
        cast({{ quasi_identifier.level }} as {{ dbt.type_int() }}) as {{ dbt_anonymize._quote(column) }}
        {%- else %}
        {{ dbt_anonymize._quote(column, "generalized") }}
        {%- endif %}
        {%- endfor %}
        {%- endfor %}
    from {{ prefix }}generalized as generalized
    {%- if not loop.last %}
    inner join {{ prefix }}classes as classes
        on
            {{ dbt_anonymize._equal_quoted("generalized", "classes", names) | join("\n            and ") }}
    where not classes.is_violating
    {%- endif %}

),
{%- if not loop.last %}

rest_{{ loop.index + 1 }} as (

    select {{ rest }}.*
    from {{ rest }}
    left join {{ prefix }}released as released
        on {{ dbt_anonymize._quote(record_key, rest) }} = {{ dbt_anonymize._quote(record_key, "released") }}
    where {{ dbt_anonymize._quote(record_key, "released") }} is null

),
{%- endif %}
{%- endfor %}

recoding as (

    {%- for levels in rounds %}
    select * from round_{{ loop.index }}_released
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

)

select * from recoding
{%- endmacro %}


{% macro _check_rounds(rounds) -%}
    {%- if rounds is string or rounds is mapping or rounds is not iterable or rounds | length == 0 -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": `rounds` of a local recoding must be a list with the levels of each round; got: " ~ rounds
            ~ ". Run `dbt-anonymize search`, or write them into the spec, and generate again."
        ) }}
    {%- endif -%}
{%- endmacro %}
