{# Columns of microdata of which nine of ten records with a value have one of their own, or that of their subject alone:
   whoever has the values finds the records. Texts, whole numbers and dates are `single`, others `fractions`, which are
   measurements. #}
{% macro _own_values(relation, names, has_subject=false, records=none) -%}
    {%- set columns_of_kind = {"single": [], "fractions": []} -%}
    {%- set types = {} -%}
    {%- for column in adapter.get_columns_in_relation(relation)
        if column.name in names and "bool" not in column.dtype | lower -%}
        {%- do types.update({column.name: column.dtype | lower}) -%}
    {%- endfor -%}
    {%- for name, counted in dbt_anonymize._repetition(
        relation, types.keys() | list, has_subject, records
    ).items() -%}
        {%- if 10 * counted.own >= 9 * counted.known -%}
            {%- set quoted = dbt_anonymize._quote(name) -%}
            {#- A whole number may be stored as a fraction: where some are missing, for example. #}
            {%- set may_have = modules.re.match("float|real|double|decimal|numeric|number", types[name]) -%}
            {%- set is_fraction = may_have and run_query(
                "select 1 from " ~ relation ~ " where " ~ quoted ~ " <> floor(" ~ quoted ~ ") limit 1"
            ).rows | length > 0 -%}
            {%- do columns_of_kind["fractions" if is_fraction else "single"].append(name) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(columns_of_kind) }}
{%- endmacro %}


{# One warning of all kept columns that are keys. `released`: name in the spec by the name in the microdata. #}
{% macro _warn_of_own_values(anonymization, released, has_subject, records) -%}
    {%- set single = [] -%}
    {%- for name in dbt_anonymize._own_values(this, released.keys() | list, has_subject, records).single -%}
        {%- do single.append(released[name]) -%}
    {%- endfor -%}
    {%- if single -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ anonymization ~ ": nine of ten records or more have a value of their own in "
            ~ single | join(", ")
            ~ ", and are found by whoever has these values. Mask or drop them, make them quasi-identifiers, or declare"
            ~ " `unique: accepted` of each in anonymizations/" ~ anonymization ~ ".yml."
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# One warning of all identifiers that are in several records, where these may be of one person. #}
{% macro _warn_of_repeats(anonymization, relation, identifiers) -%}
    {%- set repeated = [] -%}
    {%- for name, counted in dbt_anonymize._repetition(relation, identifiers).items() -%}
        {%- if 20 * (counted.known - counted.different) >= counted.known -%}
            {%- do repeated.append(name ~ " (" ~ (counted.known / counted.different) | round(1) ~ " records each)") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if repeated -%}
        {%- do exceptions.warn(
            "WARNING: anonymization " ~ anonymization ~ ": k counts records, no subject is declared, and several"
            ~ " records have the same " ~ repeated | join(", ")
            ~ ": a class of k may be one person. Declare the column that"
            ~ " says who it is as `subject`, make one record per person in a model before, or, where several people"
            ~ " have the same, declare `repeats: accepted` of the column, in anonymizations/" ~ anonymization ~ ".yml."
        ) -%}
    {%- endif -%}
{%- endmacro %}


{# How often the values of columns occur, by name of the column: records with a value, different values, and records
   with a value of their own (of their subject alone, where microdata have one). NULL is none; a column of NULLs is left
   out. Of a large relation one of sixteen values is counted with all its records: shares are those of the whole. #}
{% macro _repetition(relation, names, has_subject=false, records=none) -%}
    {%- set statistics = {} -%}
    {%- set one = "min(subject) = max(subject)" if has_subject else "count(*) = 1" -%}
    {%- if not names -%}{{ return(statistics) }}{%- endif -%}
    {%- set rows = run_query("select count(*) from " ~ relation).rows[0][0] if records is none else records -%}
    {%- set is_large = rows > 100000 -%}
    {%- set queries = [] -%}
    {%- for name in names -%}
        {%- set quoted = dbt_anonymize._quote(name) -%}
        {%- set counted = quoted ~ " is not null"
            ~ (" and " ~ dbt_anonymize._is_sampled_value(quoted) if is_large else "") -%}
        {%- do queries.append(
            "select " ~ loop.index0 ~ " as place, sum(records) as known, count(*) as different,"
            ~ " sum(own_records) as own from (select count(*) as records, case when " ~ one
            ~ " then count(*) else 0 end as own_records from " ~ relation ~ " where " ~ counted
            ~ " group by " ~ quoted ~ ") as counted"
        ) -%}
    {%- endfor -%}
    {%- for row in run_query(queries | join(" union all ")).rows if row[1] -%}
        {%- do statistics.update({names[row[0] | int]: {
            "known": row[1] | int, "different": row[2] | int, "own": row[3] | int,
        }}) -%}
    {%- endfor -%}
    {{ return(statistics) }}
{%- endmacro %}


{# Whether a value is one of sixteen, the same for equal values. #}
{% macro _is_sampled_value(value) -%}
    {{ return(adapter.dispatch("_is_sampled_value", "dbt_anonymize")(value)) }}
{%- endmacro %}

{% macro default___is_sampled_value(value) -%}{{ return("true") }}{%- endmacro %}

{% macro duckdb___is_sampled_value(value) -%}{{ return("hash(" ~ value ~ ") % 16 = 0") }}{%- endmacro %}
