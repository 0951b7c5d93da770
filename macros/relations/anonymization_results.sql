{% macro anonymization_results(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, ["results"]) -%}
{{ config(
    materialized="incremental",
    incremental_strategy="append",
    full_refresh=false,
    on_schema_change="append_new_columns",
) }}
{#- Only what this run has computed: a history must not repeat results that were merely there. A retry names nothing,
    and computes what the failed run did not record. -#}
{%- set computed = [] -%}
{%- for name, relation in given.results.items() -%}
    {%- if not selected_resources or ("model." ~ model.package_name ~ "." ~ name ~ "_results") in selected_resources -%}
        {%- do computed.append(name) -%}
    {%- endif -%}
{%- endfor -%}
{%- set columns = [
    "effort", "levels_in_words", "k", "records", "suppressed_records", "violating_records", "target", "measure",
    "repetitions", "qf_mean", "qf_sd", "qf_low", "qf_high", "qf_difference", "qf_difference_low",
    "qf_difference_high", "is_non_inferior", "zero_rule", "beats_zero_rule", "qnf", "alpha", "q", "is_on_frontier",
    "alpha_from", "alpha_to", "qualifies", "is_chosen", "choice_share", "runner_up", "q_difference_to_runner_up",
    "q_difference_to_runner_up_low", "q_difference_to_runner_up_high", "coarser_features", "choose", "reason",
    "fingerprint",
] -%}
with

{% for name, relation in given.results.items() -%}
results_{{ loop.index }} as (

    select
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(invocation_id)) }} as run_id,
        cast({{ dbt_anonymize._literal(run_started_at.strftime("%Y-%m-%d %H:%M:%S.%f")) }} as timestamp) as run_at,
        {{ dbt_anonymize._as_text(dbt_anonymize._literal(name)) }} as name,
        {{ columns | join(",\n        ") }}
    from {{ relation }}
    where {{ "true" if name in computed else "false" }}

){{ ",\n" if not loop.last }}
{% endfor %}
{%- for name in given.results %}
select * from results_{{ loop.index }}
{{- "\nunion all" if not loop.last }}
{%- endfor %}
{%- endmacro %}
