{% test k_anonymity(model, k, quasi_identifiers) %}
{{ config(store_failures=false) }}
{#- Class sizes only: a failing test must not copy anybody's quasi-identifiers into a log or a table. NULL is a value of its own. -#}
select count(*) as class_size
from {{ model }}
group by
    {%- for column in quasi_identifiers %}
    {{ dbt_anonymize._quote(column) }}{{ "," if not loop.last }}
    {%- endfor %}
having count(*) < {{ k }}
{% endtest %}
