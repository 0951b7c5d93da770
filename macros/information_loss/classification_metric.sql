{# Select with one row per effort and its `classification_metric`. #}
{% macro classification_metric(classes, generalization_suppression_factor=0.5) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
select
    effort,
    sum(case
        when is_suppressed or not has_majority then {{ dbt_anonymize._times(factors.suppression, "records") }}
        else {{ dbt_anonymize._times(factors.generalization, "(records - majority_records)") }}
    end) / cast(sum(records) as {{ dbt_anonymize._type_double() }}) as classification_metric
from {{ classes }}
group by effort
{%- endmacro %}
