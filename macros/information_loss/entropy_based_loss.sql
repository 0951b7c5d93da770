{# Select with one row per effort and its `entropy_based_loss`. #}
{% macro entropy_based_loss(covered_tuples, generalization_suppression_factor=0.5) -%}
{%- set factors = dbt_anonymize._loss_factors(generalization_suppression_factor) -%}
select
    effort,
    sum(case
        when is_suppressed then {{ dbt_anonymize._times(factors.suppression, "records") }}
        {#- A domain of one combination has nothing to lose. #}
        when domain > 1 then {{ dbt_anonymize._times(factors.generalization, "records * ln(covered)") }} / ln(domain)
        else 0
    end) as entropy_based_loss
from {{ covered_tuples }}
group by effort
{%- endmacro %}
