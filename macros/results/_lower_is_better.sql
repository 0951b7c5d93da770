{# The measures that count errors. #}
{% macro _lower_is_better() -%}
    {{ return(["brier_score", "log_loss", "mae", "rmse"]) }}
{%- endmacro %}
