{# Classes of efforts with levels, one effort after the other. #}

{# From rows with the code of each level: choosing one for each row and effort costs more than reading them again. #}
{% macro postgres___codes_of_efforts(rows, quasi_identifiers, columns, efforts, of_sample) %}
    {%- for number, effort in efforts.items() %}
    select
        {{ number }} as effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column) }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set code = dbt_anonymize._code(loop.index) %}
        {{ code }}_{{ effort.levels[quasi_identifier.name] }} as {{ code }}{{ "," if not loop.last }}
        {%- endfor %}
    from coded_{{ rows }}
    {%- if of_sample and dbt_anonymize._are_sampled(efforts) %}
    where sample_share <= cast({{ dbt_anonymize._number(effort.get("share", 1)) }} as double precision)
    {%- endif %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}
{%- endmacro %}


{% macro postgres___coded_rows(rows, quasi_identifiers, columns, efforts) %}

coded_{{ rows }} as (

    select
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column, rows) }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set place = loop.index %}
        {%- for level in dbt_anonymize._used_levels(efforts, quasi_identifier) %}
        coalesce(codes_{{ place }}.{{ "code_" ~ level if level else "number" }}, 0)
            as {{ dbt_anonymize._code(place) }}_{{ level }}
        {{- "," if not loop.last }}
        {%- endfor %}
        {{- "," if not loop.last }}
        {%- endfor %}
    {{- dbt_anonymize._from_rows_with_codes(rows, quasi_identifiers) }}

),
{%- endmacro %}


{# One effort after the other: to choose a level for each class and effort costs more than to read them again. #}
{% macro postgres___labels_of_efforts(rows, quasi_identifiers, efforts) %}
    {%- for number, effort in efforts.items() %}
    select
        {{ rows }}.*,
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set level = effort.levels[quasi_identifier.name] %}
        {{ dbt_anonymize._label_of_effort(quasi_identifier, loop.index, [level], level) }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ rows }}
    {%- for quasi_identifier in quasi_identifiers %}
    left join codes_{{ loop.index }}
        on {{ rows }}.{{ dbt_anonymize._code(loop.index) }} = codes_{{ loop.index }}.number
    {%- if effort.levels[quasi_identifier.name] == 0 and quasi_identifier.kind != "interval" %}
    cross join leaf_{{ loop.index }}
    {%- endif %}
    {%- endfor %}
    where {{ rows }}.effort = {{ number }}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}
{%- endmacro %}
