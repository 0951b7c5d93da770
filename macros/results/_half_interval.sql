{#
  Half of the confidence interval of a mean over `splits`, of which `sd` is the standard deviation. Splits share
  records, so the plain standard error is too small (Nadeau and Bengio 2003). NULL where splits are too few to tell how
  much they vary. One-sided: how far below or above the mean the limit is. `evaluation` has the
  quantiles; `splits` is a column with its table.
#}
{% macro _half_interval(sd, splits, test_share, folds, confidence, evaluation, two_sided=true) -%}
{%- set number = splits.split(".") | last -%}
{%- set double = dbt_anonymize._type_double() -%}
case
    when {{ number }} >= {{ dbt_anonymize._fewest_splits() }}
        then
            {{ sd }} * sqrt(
                cast(1.0 as {{ double }}) / {{ number }}
                {%- if folds is none %} + cast({{ test_share }} as {{ double }}) / (1 - {{ test_share }})
                {%- else %} + cast(1.0 as {{ double }}) / ({{ folds }} - 1)
                {%- endif %}
            ) * (
                select max(cast(quantiles.value as {{ double }}))
                from {{ evaluation }} as quantiles
                where
                    quantiles.kind = 'quantile'
                    and quantiles.name = '{{ "two_sided" if two_sided else "one_sided" }}'
                    and quantiles.other = '{{ confidence }}'
                    and quantiles.bin = {{ splits }}
            )
end
{%- endmacro %}


{# Two splits that agree would have an interval without width, and two that do not one wider than the scale. #}
{% macro _fewest_splits() -%}
    {{ return(5) }}
{%- endmacro %}
