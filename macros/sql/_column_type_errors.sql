{# Why a column cannot be used as declared, as messages. Known plain types only: an enumeration shows all its values
   and a struct hides columns without a role. #}
{% macro _column_type_errors(column, use) -%}
    {%- if not column -%}{{ return([]) }}{%- endif -%}
    {%- set ordered = [
        "tinyint", "smallint", "integer", "int", "bigint", "hugeint",
        "utinyint", "usmallint", "uinteger", "ubigint", "uhugeint",
        "float", "real", "double", "double precision", "decimal", "numeric", "number",
        "date", "timestamp", "timestamp without time zone", "timestamp with time zone",
        "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp_ntz",
    ] -%}
    {%- set unordered = [
        "varchar", "text", "string", "char", "character", "character varying",
        "boolean", "bool", "uuid", "time", "time without time zone",
    ] -%}
    {%- set type = column.dtype | lower -%}
    {%- set base = modules.re.sub("\\s*\\([0-9, ]*\\)", "", type) -%}
    {%- set allowed = ordered if use == "interval" else ordered + unordered -%}
    {%- if base in allowed -%}{{ return([]) }}{%- endif -%}
    {%- set shown = dbt_anonymize._shown_type(type) -%}
    {%- if use == "interval" -%}
        {{ return([
            "column " ~ column.name ~ " must be a number or a date for an interval hierarchy; got " ~ shown
            ~ ". Cast it in a model before, or declare a categorical hierarchy."
        ]) }}
    {%- endif -%}
    {{ return([
        "column " ~ column.name ~ " must be a number, text, date or boolean; got " ~ shown ~ "."
        ~ " Cast it in a model before (an enumeration to text; a struct or list to columns, each with a role)."
    ]) }}
{%- endmacro %}


{# The name of a type for a message, with digits and precision alone: other parameters are values, or names. #}
{% macro _shown_type(type) -%}
    {{ return(modules.re.match("[a-z_ 0-9]*(\\([0-9, ]*\\)[a-z_ ]*)?", type | lower).group() | trim) }}
{%- endmacro %}
