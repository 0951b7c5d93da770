{#
  Groups of similar records, each released with the mean (or median) of its numbers and the lowest common ancestor (or
  the mode) of its categories. Without `groups` they are those of Mondrian. `<n>_classes` judges them anew, as groups
  that look the same become one class.
#}
{% macro grouped_recoding(
    microdata, quasi_identifiers, record_key, guarantees, groups=none, numbers="mean", p_percent=10, sensitive=[],
    k=none, has_subject=false, population=none, population_size=none, sensitive_hierarchies={}, categories="ancestor"
) -%}
{{ config(
    materialized="table",
    meta=dbt_anonymize._recoding_meta(quasi_identifiers, by_class=true),
    post_hook=[
        "{{ dbt_anonymize._check_recoding() }}",
        "{{ dbt_anonymize._forget_recoding(" ~ quasi_identifiers | length ~ ") }}",
    ] + dbt_anonymize._analyzed(),
) }}
{%- do dbt_anonymize._check_nested(quasi_identifiers) -%}
{%- do dbt_anonymize._check_grouped(numbers, p_percent, categories) -%}
{%- set plan = dbt_anonymize._mondrian_plan(
    quasi_identifiers, record_key, guarantees, not groups, k, has_subject, population_size, sensitive_hierarchies
) -%}
{%- if not dbt_anonymize._is_building() -%}
{{ dbt_anonymize._at_root(microdata, plan) }}
{%- else -%}
{%- if groups -%}
    {%- do dbt_anonymize._run_statements(dbt_anonymize._grouped_setup(microdata, groups, plan)) -%}
{%- else -%}
    {%- do dbt_anonymize._run_mondrian(microdata, plan) -%}
{%- endif -%}
{{ dbt_anonymize._grouped_result(microdata, plan, numbers, p_percent, categories) }}
{%- endif -%}
{%- endmacro %}


{% macro _check_grouped(numbers, p_percent, categories) -%}
    {%- if numbers not in ["mean", "median", "interval"] -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": `numbers` must be mean, median or interval; got: " ~ numbers ~ "."
            ~ " Correct the spec and generate again."
        ) }}
    {%- endif -%}
    {%- if categories not in ["ancestor", "mode"] -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": `categories` must be ancestor or mode; got: " ~ categories ~ "."
            ~ " Correct the spec and generate again."
        ) }}
    {%- endif -%}
    {%- if p_percent is not number or p_percent <= 0 or p_percent > 100 -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": `p_percent` must be a number above 0, at most 100; got: " ~ p_percent ~ "."
            ~ " Correct the spec and generate again."
        ) }}
    {%- endif -%}
{%- endmacro %}
