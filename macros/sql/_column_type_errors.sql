{# Why a quasi-identifier has no labels of its own, as messages: those of a point in time with a time zone depend on the
   zone of whoever asks, so that a release and its recomputation differ. #}
{% macro _zone_errors(column) -%}
    {%- if not column or not modules.re.match(dbt_anonymize._zoned_types(), column.dtype | lower) -%}
        {{ return([]) }}
    {%- endif -%}
    {{ return([
        "the quasi-identifier " ~ column.name ~ " must have no time zone, or its labels follow the zone of each session; got "
        ~ (column.dtype | lower) ~ ". Cast it in a model before, with the zone that is meant: "
        ~ dbt_anonymize._without_zone(column.name) ~ "."
    ]) }}
{%- endmacro %}


{# The types of points in time with a time zone, and what makes one a time of the clock there. #}
{% macro _zoned_types() -%}{{ return(adapter.dispatch("_zoned_types", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___zoned_types() -%}{{ return("timestamp.*with time zone|timestamptz") }}{%- endmacro %}

{% macro _without_zone(name) -%}{{ return(adapter.dispatch("_without_zone", "dbt_anonymize")(name)) }}{%- endmacro %}

{% macro default___without_zone(name) -%}{{ return(name ~ " at time zone 'UTC'") }}{%- endmacro %}


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
    {%- if "collate" in type -%}
        {{ return([
            "column " ~ column.name ~ " must be compared by its bytes; it has a collation, which may take different texts"
            ~ " for equal. Cast it in a model before: " ~ dbt_anonymize._by_bytes(column.name) ~ "."
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
