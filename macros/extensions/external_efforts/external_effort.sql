{% macro external_effort(given=none) -%}
{%- set given = dbt_anonymize._declared(given, kwargs, [
    "anonymization", "effort", "name", "relation", "microdata", "quasi_identifiers", "kept_columns",
]) -%}
{{ config(materialized="view") }}
{%- set quasi_identifiers, types = [], {} -%}
{%- do dbt_anonymize._check_stored(given.anonymization, [given.relation]) -%}
{%- if dbt_anonymize._is_building() -%}
    {%- for column in adapter.get_columns_in_relation(given.microdata) -%}
        {%- do types.update({column.name: column.dtype}) -%}
    {%- endfor -%}
    {%- set levels = dbt_anonymize._checked_external(given, types) -%}
{%- elif execute and model.resource_type != "unit_test" -%}
    {#- SQL that is only shown must run as well: where a text stands for numbers, its level has labels. -#}
    {%- set levels = {} -%}
    {%- for column in adapter.get_columns_in_relation(given.relation) -%}
        {%- do levels.update({column.name: 1 if dbt_anonymize._kind_of_type(column.dtype) == "text" else 0}) -%}
    {%- endfor -%}
{%- endif -%}
{%- for quasi_identifier in given.quasi_identifiers -%}
    {%- do quasi_identifiers.append(
        dict(quasi_identifier, level=levels.get(quasi_identifier.name, 0) if levels else 0)
    ) -%}
{%- endfor -%}
with

foreign_rows as (

    select * from {{ given.relation }}

),
{#- One leaf stands for each label: labels and bounds are then those of the level. #}
{%- for quasi_identifier in quasi_identifiers %}
{%- if quasi_identifier.level > 0 %}

leaves_{{ loop.index }} as (

    select
        {{ dbt_anonymize._as_text("level_" ~ quasi_identifier.level) }} as label,
        min({{ dbt_anonymize._leaf_of(quasi_identifier) }}) as leaf
    from {{ quasi_identifier.hierarchy }}
    group by {{ dbt_anonymize._as_text("level_" ~ quasi_identifier.level) }}

),
{%- endif %}
{%- endfor %}

read_rows as (

    select
        {%- for quasi_identifier in quasi_identifiers %}
        {%- set name = quasi_identifier.name %}
        {%- set value = dbt_anonymize._quote(name, "foreign_rows") %}
        {%- if quasi_identifier.level > 0 %}
        {%- set label = "nullif(" ~ dbt_anonymize._as_text(value) ~ ", '*')" %}
        {{ label }} as {{ dbt_anonymize._quote(name) }},
        leaves_{{ loop.index }}.leaf as {{ dbt_anonymize._quote(name ~ "_leaf") }},
        {%- else %}
        {{ dbt_anonymize._cast_alike(
            "nullif(" ~ dbt_anonymize._as_text(value) ~ ", '*')" if quasi_identifier.kind == "categorical" else value,
            none if quasi_identifier.kind == "categorical" else types.get(name)
        ) }} as {{ dbt_anonymize._quote(name) }},
        {%- endif %}
        {%- endfor %}
        {%- for column in given.kept_columns %}
        {{ dbt_anonymize._cast_alike(dbt_anonymize._quote(column, "foreign_rows"), types.get(column)) }} as {{
            dbt_anonymize._quote(column)
        }}{{ "," if not loop.last }}
        {%- endfor %}
    from foreign_rows
    {%- for quasi_identifier in quasi_identifiers %}
    {%- if quasi_identifier.level > 0 %}
    left join leaves_{{ loop.index }}
        on
            {{ dbt_anonymize._as_text(dbt_anonymize._quote(quasi_identifier.name, "foreign_rows")) }}
            = leaves_{{ loop.index }}.label
    {%- endif %}
    {%- endfor %}

),
{{- dbt_anonymize.generalize("read_rows", quasi_identifiers, given.kept_columns) }}

{#- Whose rows they are is not known: each counts once. #}

classes as (

    select
        *,
        {{ dbt_anonymize.equivalence_class(quasi_identifiers) }} as equivalence_class
    from generalized

)

select
    {%- for quasi_identifier in quasi_identifiers %}
    {%- for column in dbt_anonymize._label_columns(quasi_identifier) %}
    {{ dbt_anonymize._quote(column) }},
    {%- endfor %}
    {{ quasi_identifier.level }} as {{ dbt_anonymize._quote(quasi_identifier.name ~ "_level") }},
    {%- endfor %}
    {%- for column in given.kept_columns %}
    {{ dbt_anonymize._quote(column) }},
    {%- endfor %}
    equivalence_class,
    count(*) over (partition by equivalence_class) as class_size,
    false as is_suppressed
from classes
{%- endmacro %}


{% macro _leaf_of(quasi_identifier) -%}
    {{ return("lower_bound" if quasi_identifier.kind == "interval" else dbt_anonymize._as_text("value")) }}
{%- endmacro %}


{# A value with the type that it has in the release. #}
{% macro _cast_alike(value, type) -%}
    {{ return("cast(" ~ value ~ " as " ~ type ~ ")" if type else value) }}
{%- endmacro %}


{#
  The level of each quasi-identifier in the relation of another tool, 0 for values; stops where it cannot be read as a
  release, with all that is wrong. No value is shown.
#}
{% macro _checked_external(given, types) -%}
    {%- set relation, who = given.relation, "effort " ~ given.effort ~ " (" ~ given.name ~ "): " -%}
    {%- set remedy = " Correct it in the model " ~ relation.identifier ~ "." -%}
    {%- do dbt_anonymize._check_external_engine(given) -%}
    {%- set found, errors, levels = {}, [], {} -%}
    {%- for column in adapter.get_columns_in_relation(relation) -%}
        {%- do found.update({column.name: column.dtype}) -%}
    {%- endfor -%}
    {%- set expected = given.quasi_identifiers | map(attribute="name") | list + given.kept_columns -%}
    {%- set missing = expected | reject("in", found) | list -%}
    {%- set additional = found.keys() | reject("in", expected) | list -%}
    {%- if missing -%}
        {%- do errors.append(who ~ "columns are missing: " ~ missing | join(", ") ~ "." ~ remedy) -%}
    {%- endif -%}
    {%- if additional -%}
        {%- do errors.append(
            who ~ "columns must be those of the release, without record key; these are additional: "
            ~ additional | join(", ") ~ "." ~ remedy
        ) -%}
    {%- endif -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, errors) -%}
    {%- if run_query("select count(*) from " ~ relation).rows[0][0] == 0 -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            who ~ "there must be rows; got none. Let the other tool write them, or remove the effort."
        ]) -%}
    {%- endif -%}
    {%- for column in given.kept_columns -%}
        {%- do errors.extend(dbt_anonymize._external_type_errors(relation, column, found[column], types[column])) -%}
    {%- endfor -%}
    {%- for quasi_identifier in given.quasi_identifiers -%}
        {%- set name = quasi_identifier.name -%}
        {%- if quasi_identifier.kind == "categorical" or dbt_anonymize._kind_of_type(found[name]) == "text" -%}
            {%- set level = dbt_anonymize._external_level(relation, quasi_identifier) -%}
            {%- if level is string -%}{%- do errors.append(level) -%}{%- endif -%}
            {%- do levels.update({name: level}) -%}
        {%- else -%}
            {%- set problems = dbt_anonymize._external_type_errors(relation, name, found[name], types[name]) -%}
            {%- do errors.extend(problems or dbt_anonymize._external_value_errors(relation, quasi_identifier)) -%}
            {%- do levels.update({name: 0}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set told = [] -%}
    {%- for error in errors -%}{%- do told.append(who ~ error ~ remedy) -%}{%- endfor -%}
    {%- do dbt_anonymize._raise_errors(given.anonymization, told) -%}
    {{ return(levels) }}
{%- endmacro %}


{% macro _check_external_engine(given) -%}
    {%- if target.type != "duckdb" or not dbt_anonymize._has_python() -%}
        {%- do dbt_anonymize._raise_errors(given.anonymization, [
            "effort " ~ given.effort ~ " is a relation of another tool, which is measured by Python models on DuckDB"
            ~ " alone; got " ~ target.type
            ~ ("" if dbt_anonymize._has_python() else " with dbt_anonymize_python: false")
            ~ ". Remove the effort, or build on such a target."
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{# What a type holds: numbers, dates, times, truth values, or texts. #}
{% macro _kind_of_type(type) -%}
    {%- set type = type | lower -%}
    {%- if modules.re.match("u?(tiny|small|big|huge)?int|float|real|double|decimal|numeric", type) -%}
        {{ return("number") }}
    {%- elif type == "date" or type.startswith("timestamp") -%}
        {{ return("date") }}
    {%- elif type.startswith("bool") -%}
        {{ return("boolean") }}
    {%- endif -%}
    {{ return("text" if modules.re.match("varchar|text|string|char", type) else type) }}
{%- endmacro %}


{# Why a column has not the type of the release, or cannot be given it without a loss. #}
{% macro _external_type_errors(relation, name, found, type) -%}
    {%- if dbt_anonymize._kind_of_type(found) != dbt_anonymize._kind_of_type(type) -%}
        {{ return([
            "column " ~ name ~ " must be " ~ (type | lower) ~ ", as in the release; got " ~ (found | lower) ~ "."
        ]) }}
    {%- endif -%}
    {%- if found | lower == type | lower -%}{{ return([]) }}{%- endif -%}
    {%- set value = dbt_anonymize._quote(name) -%}
    {%- set lost = run_query(
        "select count(*) from " ~ relation ~ " where cast(try_cast(" ~ value ~ " as " ~ type ~ ") as " ~ found
        ~ ") is distinct from " ~ value
    ).rows[0][0] -%}
    {%- if lost > 0 -%}
        {{ return([
            "column " ~ name ~ " must hold values of the type " ~ (type | lower) ~ ", as in the release; " ~ lost
            ~ " rows have others."
        ]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro %}


{# Why numbers or dates are not in their hierarchy. #}
{% macro _external_value_errors(relation, quasi_identifier) -%}
    {%- set value = dbt_anonymize._quote(quasi_identifier.name, "foreign_rows") -%}
    {%- set strange = run_query(
        "select count(*) from " ~ relation ~ " as foreign_rows where " ~ value ~ " is not null and not exists"
        ~ " (select 1 from " ~ quasi_identifier.hierarchy ~ " as tree where " ~ value ~ " >= tree.lower_bound and "
        ~ value ~ " < tree.upper_bound)"
    ).rows[0][0] -%}
    {%- if strange > 0 -%}
        {{ return([
            "column " ~ quasi_identifier.name ~ " must hold values of its hierarchy "
            ~ quasi_identifier.hierarchy.identifier ~ "; " ~ strange ~ " rows have others."
        ]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro %}


{# The lowest level of a hierarchy that has all labels of a column, or why there is none; `*` is the root. #}
{% macro _external_level(relation, quasi_identifier) -%}
    {%- set value = dbt_anonymize._as_text(dbt_anonymize._quote(quasi_identifier.name)) -%}
    {%- set lowest = 1 if quasi_identifier.kind == "interval" else 0 -%}
    {%- set strange, conditions = {}, [] -%}
    {%- for level in range(lowest, quasi_identifier.levels + 1) -%}
        {%- set label = dbt_anonymize._as_text("level_" ~ level if level else "value") -%}
        {%- do conditions.append(
            "label not in (select " ~ label ~ " from " ~ quasi_identifier.hierarchy ~ " where " ~ label
            ~ " is not null)"
        ) -%}
    {%- endfor -%}
    {%- set counts = run_query(
        "select sum(case when " ~ conditions | join(" and ") ~ " then records else 0 end), sum(case when "
        ~ conditions | join(" then records else 0 end), sum(case when ") ~ " then records else 0 end) from (select "
        ~ value ~ " as label, count(*) as records from " ~ relation ~ " where " ~ value
        ~ " <> '*' group by 1) as labels"
    ).rows[0] -%}
    {%- for level in range(lowest, quasi_identifier.levels + 1) -%}
        {%- if not counts[loop.index] -%}{{ return(level) }}{%- endif -%}
    {%- endfor -%}
    {%- set tree = " its hierarchy " ~ quasi_identifier.hierarchy.identifier -%}
    {%- if counts[0] -%}
        {{ return(
            "column " ~ quasi_identifier.name ~ " must hold values or labels of" ~ tree ~ "; " ~ counts[0]
            ~ " rows have labels that no level has."
        ) }}
    {%- endif -%}
    {{ return(
        "column " ~ quasi_identifier.name ~ " must hold labels of one level of" ~ tree ~ "; "
        ~ (counts.values() | list)[1:] | min ~ " rows or more have those of another."
    ) }}
{%- endmacro %}


{# Stops where the rows of another tool are not those that were evaluated and attacked. #}
{% macro _check_external_release(given, chosen) -%}
    {%- set effort, name = given.efforts[chosen], given.anonymization -%}
    {%- set evaluated = run_query(
        "select name from " ~ ref(name ~ "_evaluation") ~ " where kind = 'rows' and effort = " ~ chosen
    ).columns[0].values() -%}
    {%- set attacked = run_query(
        "select distinct rows_digest from " ~ ref(name ~ "_measured_privacy") ~ " where effort = " ~ chosen
    ).columns[0].values() -%}
    {%- set row = "md5(cast(foreign_rows as varchar))" -%}
    {%- set now = run_query(
        "select md5(string_agg(" ~ row ~ ", '' order by " ~ row ~ ")) from " ~ effort ~ " as foreign_rows"
    ).rows[0][0] -%}
    {%- if evaluated | list != [now] or attacked | list != [now] -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "effort " ~ chosen ~ " must have the rows that were evaluated and attacked; its relation has changed since."
            ~ " Run `dbt build -s +" ~ model.name ~ "`, and let the relation stay as it is meanwhile."
        ]) -%}
    {%- endif -%}
{%- endmacro %}
