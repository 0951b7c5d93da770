{% macro fidelity(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "efforts", "quasi_identifiers", "columns", "pairs",
], {
    "queries": 100, "random_state": 1, "sanity_bound": 0.001,
}) -%}
{{ config(materialized="table", post_hook=dbt_anonymize._after_steps() + dbt_anonymize._analyzed()) }}
{%- if given.queries is not number or given.queries < 1 or given.queries > 1000 -%}
    {{ exceptions.raise_compiler_error(
        model.name ~ ": `queries` must be an int from 1 to 1000; got: " ~ given.queries
        ~ ". Correct fidelity in the spec."
    ) }}
{%- endif -%}
{%- set attributes, views = given.quasi_identifiers | map(attribute="name") | list + given.columns, [] -%}
{%- for name in attributes -%}{%- do views.append([name]) -%}{%- endfor -%}
{%- do views.extend(given.pairs) -%}
{%- set has_modes = given.efforts.values() | selectattr("has_modes") | list | length > 0 -%}
{% call dbt_anonymize._in_steps(
    ["released", "spread", "coded", "compared", "distances", "correlations", "errors"]
) -%}
with

{{ dbt_anonymize._released_counts(given.efforts, given.quasi_identifiers, given.columns) }}
{%- for name in attributes %}
{{- dbt_anonymize._covered_leaves(loop.index, given.quasi_identifiers[loop.index0], has_modes) }}
{%- endfor %}
{{- dbt_anonymize._spread(attributes, given.quasi_identifiers) }}
{{- dbt_anonymize._views(views, attributes, given.quasi_identifiers) }}
{{- dbt_anonymize._cells(views, attributes, given.quasi_identifiers) }}
{{- dbt_anonymize._compared(given.efforts) }}
{{- dbt_anonymize._distances_of_cells() }}
{{- dbt_anonymize._correlations() }}
{{- dbt_anonymize._random_queries(given.queries, given.random_state) }}
{{- dbt_anonymize._query_errors(given.quasi_identifiers, given.sanity_bound) }}

{{ dbt_anonymize._statistic("distance", "distances.distance", "distances") }}

union all

{{ dbt_anonymize._statistic("pmse", "distances.pmse", "distances") }}

union all

{{ dbt_anonymize._statistic("pmse_ratio", "distances.pmse_ratio", "distances") }}

union all

{#- Without any pair of numbers there is no row: correlations of nothing are 0. #}

{{ dbt_anonymize._statistic(
    "correlation_difference", "coalesce(abs(correlations.released - correlations.original), 0)", "correlations",
    "views.other_attribute is not null"
) }}
{%- for statistic in ["count_error_median", "count_error_p95", "mean_error_median", "mean_error_p95"] %}

union all

{{ dbt_anonymize._statistic(statistic, "errors." ~ statistic, "errors", "views.is_queried") }}
{%- endfor %}
{%- endcall %}
{%- endmacro %}


{# One row per effort and view; nothing is known where nothing is released. #}
{% macro _statistic(name, value, relation, condition=none) -%}
select
    totals.effort,
    '{{ name }}' as statistic,
    views.attribute,
    views.other_attribute,
    case when totals.records > 0 then {{ value }} end as value
from totals
cross join views
left join {{ relation }}
    on
        totals.effort = {{ relation }}.effort
        and views.view_id = {{ relation }}.view_id
{%- if condition %}
where {{ condition }}
{%- endif %}
{%- endmacro %}
