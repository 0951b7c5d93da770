{#
  CTEs about efforts with levels: `efforts`, one row each, with `level_<i>` of the i-th quasi-identifier and, where one
  is released from a sample, its `share`;
  `hierarchy_<i>`, one row per leaf, with `label_<l>` and `share_<l>` (of the domain that the label covers) of each
  level l above 0 that an effort has; `leaf_<i>`, one row: the share of one leaf, where a category may stay as it is;
  `codes_<i>`, one row per value in `relations`: its `number`, labels and shares, `label_0` where it may stay as it is,
  and `code_<l>`, the number of the first value with the same label, 0 for `*`. So classes are told apart by small
  numbers, and a label is looked up once per class, as that of the value with the number of the code.
#}
{% macro _levels_of_efforts(efforts, quasi_identifiers, relations) %}

efforts as (

    {%- for number, effort in efforts.items() %}
    select
        {{ number }} as effort,
        {%- if dbt_anonymize._are_sampled(efforts) %}
        cast({{ dbt_anonymize._number(effort.get("share", 1)) }} as {{ dbt_anonymize._type_double() }}) as share,
        {%- endif %}
        {%- for quasi_identifier in quasi_identifiers %}
        {{ effort.levels[quasi_identifier.name] }} as level_{{ loop.index }}{{ "," if not loop.last }}
        {%- endfor %}
    {{- "\n    union all" if not loop.last }}
    {%- endfor %}

),
{%- for quasi_identifier in quasi_identifiers %}
{%- set number = loop.index %}
{%- set levels = dbt_anonymize._used_levels(efforts, quasi_identifier) %}
{%- if levels[0] == 0 and quasi_identifier.kind != "interval" %}

leaf_{{ number }} as (

    select cast(1 as {{ dbt_anonymize._type_double() }}) / count(*) as share
    from {{ quasi_identifier.hierarchy }}

),
{%- endif %}
{%- if levels[-1] > 0 %}

hierarchy_{{ number }} as (

    select
        leaf,
        {%- for level in levels if level > 0 %}
        min(label_{{ level }}) as label_{{ level }},
        max(case when label_{{ level }} = '*' then 1 else share_{{ level }} end) as share_{{ level }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from (
        select
            {{ "lower_bound" if quasi_identifier.kind == "interval" else dbt_anonymize._as_text("value") }} as leaf,
            {%- for level in levels if level > 0 %}
            {{ dbt_anonymize._as_text("level_" ~ level) }} as label_{{ level }},
            {{ dbt_anonymize._share_of_label(quasi_identifier, level) }} as share_{{ level }}{{ "," if not loop.last }}
            {%- endfor %}
        from {{ quasi_identifier.hierarchy }}
    ) as leaves
    group by leaf

),
{%- endif %}
{{- dbt_anonymize._values_with_codes(quasi_identifier, number, levels, relations) }}
{%- endfor %}
{%- endmacro %}


{# CTEs `found_<i>` and `codes_<i>` of one quasi-identifier. #}
{% macro _values_with_codes(quasi_identifier, number, levels, relations) -%}
{%- set raw = dbt_anonymize._quote(quasi_identifier.name) %}
{#- Equal values of two types are one, and have the text that the first relation, which is labelled, gives them. -#}
{%- set has_texts = levels[0] == 0 and relations | length > 1 %}

found_{{ number }} as (

    select
        value,
        min(leaf) as leaf,
        {%- if has_texts %}
        min(text) as text,
        {%- endif %}
        cast(row_number() over (order by value) as {{ dbt.type_int() }}) as number
    from (
        {%- for relation in relations %}
        select
            {{ raw }} as value,
            {{ dbt_anonymize._quote(quasi_identifier.name ~ "_leaf") }} as leaf
            {%- if has_texts %},
            {{ dbt_anonymize._as_text(raw if loop.first else "null") }} as text
            {%- endif %}
        from {{ relation }}
        where {{ raw }} is not null
        {{- "\n        union all" if not loop.last }}
        {%- endfor %}
    ) as found
    group by value

),

codes_{{ number }} as (

    select
        found_{{ number }}.value,
        {%- if levels[0] == 0 %}
        {%- set own = "found_" ~ number %}
        {{ own ~ ".text" if has_texts else dbt_anonymize._as_text(own ~ ".value") }} as label_0,
        {%- endif %}
        found_{{ number }}.number
        {%- for level in levels if level > 0 %},
        {%- set label = "hierarchy_" ~ number ~ ".label_" ~ level %}
        {{ label }},
        hierarchy_{{ number }}.share_{{ level }},
        case
            when {{ label }} = '*' then 0
            else min(found_{{ number }}.number) over (partition by {{ label }})
        end as code_{{ level }}
        {%- endfor %}
    from found_{{ number }}
    {%- if levels[-1] > 0 %}
    left join hierarchy_{{ number }} on found_{{ number }}.leaf = hierarchy_{{ number }}.leaf
    {%- endif %}

),
{%- endmacro %}


{# The share of the domain that a label covers: of its width, or of its leaves. #}
{% macro _share_of_label(quasi_identifier, level) -%}
    {%- set by_label, hierarchy = "over (partition by level_" ~ level ~ ")", quasi_identifier.hierarchy -%}
    {%- if quasi_identifier.kind != "interval" -%}
        {{ return("cast(count(*) " ~ by_label ~ " as " ~ dbt_anonymize._type_double() ~ ") / count(*) over ()") }}
    {%- endif -%}
    {%- set width = dbt_anonymize._width("min(lower_bound) " ~ by_label, "max(upper_bound) " ~ by_label, hierarchy) -%}
    {%- set whole = dbt_anonymize._width("min(lower_bound) over ()", "max(upper_bound) over ()", hierarchy) -%}
    {{ return(width ~ "\n            / " ~ whole) }}
{%- endmacro %}


{# The levels that efforts have of a quasi-identifier, ascending. #}
{% macro _used_levels(efforts, quasi_identifier) -%}
    {%- set levels = [] -%}
    {%- for effort in efforts.values() -%}{%- do levels.append(effort.levels[quasi_identifier.name]) -%}{%- endfor -%}
    {{ return(levels | unique | sort) }}
{%- endmacro %}


{#
  Select of every row of `rows` in each of the efforts, all with levels: `effort`, the columns, and the code of each
  quasi-identifier. With `of_sample` an effort has the rows of its sample only.
#}
{% macro _codes_of_efforts(rows, quasi_identifiers, columns, efforts, of_sample=false) -%}
    {{ return(adapter.dispatch("_codes_of_efforts", "dbt_anonymize")(
        rows, quasi_identifiers, columns, efforts, of_sample
    )) }}
{%- endmacro %}

{% macro default___codes_of_efforts(rows, quasi_identifiers, columns, efforts, of_sample) %}
    select
        efforts.effort,
        {%- for column in columns %}
        {{ dbt_anonymize._quote(column, rows) }},
        {%- endfor %}
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set values = "codes_" ~ loop.index %}
        case
            when {{ dbt_anonymize._quote(quasi_identifier.name, rows) }} is null then 0
            {%- set level = "efforts.level_" ~ loop.index %}
            {%- for used in dbt_anonymize._used_levels(efforts, quasi_identifier) %}
            when {{ level }} = {{ used }} then {{ values }}.{{ "code_" ~ used if used else "number" }}
            {%- endfor %}
        end as {{ dbt_anonymize._code(loop.index) }}{{ "," if not loop.last }}
        {%- endfor %}
    {{- dbt_anonymize._from_rows_with_codes(rows, quasi_identifiers) }}
    inner join efforts on efforts.effort in ({{ efforts | join(", ") }})
    {%- if of_sample and dbt_anonymize._are_sampled(efforts) %}
    where {{ rows }}.sample_share <= efforts.share
    {%- endif %}
{%- endmacro %}


{# CTE `coded_<rows>`: every row with the codes of all levels, where efforts read them there. #}
{% macro _coded_rows(rows, quasi_identifiers, columns, efforts) -%}
    {{ return(adapter.dispatch("_coded_rows", "dbt_anonymize")(rows, quasi_identifiers, columns, efforts)) }}
{%- endmacro %}

{% macro default___coded_rows(rows, quasi_identifiers, columns, efforts) -%}{{ return("") }}{%- endmacro %}


{# From rows, each with the codes of its values. #}
{% macro _from_rows_with_codes(rows, quasi_identifiers) %}
    from {{ rows }}
    {%- for quasi_identifier in quasi_identifiers %}
    left join codes_{{ loop.index }}
        on {{ dbt_anonymize._quote(quasi_identifier.name, rows) }} = codes_{{ loop.index }}.value
    {%- endfor %}
{%- endmacro %}


{# The name of the code of a quasi-identifier, which no column of the table has. #}
{% macro _code(number) -%}{{ return("dbt_anonymize_code_" ~ number) }}{%- endmacro %}


{# The columns that tell classes apart. #}
{% macro _class_keys(quasi_identifiers) -%}
    {%- set keys = ["effort"] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- do keys.append(dbt_anonymize._code(loop.index)) -%}
    {%- endfor -%}
    {{ return(keys) }}
{%- endmacro %}


{#
  Select of the rows of the CTE `rows`, which are classes by `effort` and codes, of the efforts with levels: with each
  quasi-identifier's label, the share of the domain that the label covers, and its level. No label is NULL; NULL itself
  is `*`.
#}
{% macro _labels_of_efforts(rows, quasi_identifiers, efforts) -%}
    {{ return(adapter.dispatch("_labels_of_efforts", "dbt_anonymize")(rows, quasi_identifiers, efforts)) }}
{%- endmacro %}

{% macro default___labels_of_efforts(rows, quasi_identifiers, efforts) %}
    select
        {{ rows }}.*,
        {%- for quasi_identifier in quasi_identifiers %}
        {{ dbt_anonymize._label_of_effort(
            quasi_identifier, loop.index, dbt_anonymize._used_levels(efforts, quasi_identifier),
            "efforts.level_" ~ loop.index
        ) }}{{ "," if not loop.last }}
        {%- endfor %}
    from {{ rows }}
    inner join efforts on {{ rows }}.effort = efforts.effort
    {%- for quasi_identifier in quasi_identifiers %}
    left join codes_{{ loop.index }}
        on {{ rows }}.{{ dbt_anonymize._code(loop.index) }} = codes_{{ loop.index }}.number
    {%- if dbt_anonymize._used_levels(efforts, quasi_identifier)[0] == 0 and quasi_identifier.kind != "interval" %}
    cross join leaf_{{ loop.index }}
    {%- endif %}
    {%- endfor %}
{%- endmacro %}


{# Whether one of the efforts is released from a sample. #}
{% macro _are_sampled(efforts) -%}
    {%- for effort in efforts.values() if effort.share -%}{{ return(true) }}{%- endfor -%}
    {{ return(false) }}
{%- endmacro %}


{# Label, share and level of one quasi-identifier. #}
{% macro _label_of_effort(quasi_identifier, number, levels, level) -%}
        {%- set raw = "codes_" ~ number ~ ".value" -%}
        {%- set hierarchy = "codes_" ~ number -%}
        {%- set smallest = "0" if quasi_identifier.kind == "interval" else "leaf_" ~ number ~ ".share" -%}
        case
            when {{ raw }} is null then '*'
            {%- for used in levels %}
            {%- if used == 0 %}
            when {{ level }} = 0 then {{ hierarchy }}.label_0
            {%- else %}
            when {{ level }} = {{ used }} and {{ hierarchy }}.label_{{ used }} is not null
                then {{ hierarchy }}.label_{{ used }}
            {%- endif %}
            {%- endfor %}
            {%- if levels[-1] > 0 %}
            else {{ dbt_anonymize._raise_in_sql(
                model.name ~ ": a value of " ~ quasi_identifier.name ~ " is not in the hierarchy "
                ~ quasi_identifier.hierarchy.identifier ~ ". Build again from the microdata on.",
                hierarchy ~ ".label_" ~ levels[-1]
            ) }}
            {%- endif %}
        end as {{ dbt_anonymize._quote(quasi_identifier.name) }},
        case
            when {{ raw }} is null then 1
            {%- for used in levels %}
            when {{ level }} = {{ used }} then {{ smallest if used == 0 else hierarchy ~ ".share_" ~ used }}
            {%- endfor %}
        end as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_share") }},
        {{ level }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }}
{%- endmacro %}
