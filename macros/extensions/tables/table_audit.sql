{% macro table_audit(given=none) -%}
{%- set given = dbt_anonymize._declared(
    given, kwargs, ["table_cells", "table_efforts", "dimensions", "sums"], {"levels": []}
) -%}
{{ config(materialized="table") }}
select
    efforts.effort,
    {%- for name in given.dimensions + given.levels %}
    {{ dbt_anonymize._quote(name, "efforts") }},
    {%- endfor %}
    efforts.measure,
    case efforts.measure
        {%- for name in ["people"] + given.sums %}
        when {{ dbt_anonymize._literal(name) }} then {{ dbt_anonymize._quote(name, "cells") }}
        {%- endfor %}
    end as value,
    efforts.lowest,
    efforts.highest,
    efforts.demanded
from {{ given.table_efforts }} as efforts
inner join {{ given.table_cells }} as cells
    on
        efforts.effort = cells.effort
        and efforts.cell = cells.cell
where efforts.kind = 'small'
{%- endmacro %}
