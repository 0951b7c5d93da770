{#
  Why the bounds of an interval hierarchy cannot be compared with a column, as messages. The database would cast its
  values to a common type, and where one does not fit, the database's own message shows it.
#}
{% macro _bound_type_errors(quasi_identifier, column) -%}
    {%- if quasi_identifier.kind != "interval" or not column -%}{{ return([]) }}{%- endif -%}
    {%- set errors = [] -%}
    {#- A tenth in four bytes is not that of a bound: .7 is less than .7, and one leaf off the value that is shown. -#}
    {%- set singles = ["float", "real"] -%}
    {%- for bound in dbt_anonymize._bound_columns(quasi_identifier.hierarchy) -%}
        {%- if column.dtype | lower in singles and bound.dtype | lower not in singles -%}
            {%- do errors.append(
                quasi_identifier.name ~ " must be a number of eight bytes, or an exact one, to be compared with "
                ~ bound.name ~ " of hierarchy " ~ quasi_identifier.hierarchy ~ "; got " ~ (column.dtype | lower)
                ~ ", in which .7 is .699999988 and falls below a bound of .7. Cast its text in a model before: cast("
                ~ dbt_anonymize._as_text(quasi_identifier.name) ~ " as " ~ dbt_anonymize._type_double() ~ ")."
            ) -%}
        {%- elif not dbt_anonymize._fits_in(column.dtype | lower, bound.dtype | lower) -%}
            {%- do errors.append(
                bound.name ~ " of hierarchy " ~ quasi_identifier.hierarchy
                ~ " must have a type that holds every value of " ~ quasi_identifier.name ~ ", which is "
                ~ dbt_anonymize._shown_type(column.dtype) ~ "; got " ~ dbt_anonymize._shown_type(bound.dtype)
                ~ ". Set column_types of the seed, or cast " ~ quasi_identifier.name ~ " in a model before."
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors) }}
{%- endmacro %}


{# The bounds of an interval hierarchy as columns with types; none while a project is read. #}
{% macro _bound_columns(hierarchy) -%}
    {%- set bounds = [] -%}
    {%- for column in (adapter.get_columns_in_relation(hierarchy) if execute else []) -%}
        {%- if column.name | lower in ["lower_bound", "upper_bound"] -%}{%- do bounds.append(column) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(bounds) }}
{%- endmacro %}


{# Whether every value of one plain type can be compared with the other without a cast that may fail. #}
{% macro _fits_in(values, bounds) -%}
    {%- set widest = 38 -%}
    {%- set digits = {
        "tinyint": 3, "smallint": 5, "integer": 10, "int": 10, "bigint": 19, "hugeint": 39,
        "utinyint": 3, "usmallint": 5, "uinteger": 10, "ubigint": 20, "uhugeint": 39,
    } -%}
    {%- set shapes = [] -%}
    {%- for type in [values, bounds] -%}
        {%- set base = modules.re.sub("\\s*\\(.*", "", type) -%}
        {%- set numbers = modules.re.findall("[0-9]+", type) if base in ["decimal", "numeric", "number"] else [] -%}
        {%- set scale = numbers[1] | int if numbers | length > 1 else 0 -%}
        {%- do shapes.append({
            "base": base,
            "is_time": base.startswith("date") or base.startswith("timestamp"),
            "is_float": base in ["float", "real", "double", "double precision"],
            "is_decimal": numbers | length > 0,
            "scale": scale,
            "digits": (numbers[0] | int) - scale if numbers else digits.get(base, 0),
        }) -%}
    {%- endfor -%}
    {%- set one, other = shapes[0], shapes[1] -%}
    {%- if one.base == other.base and not one.is_decimal -%}{{ return(true) }}{%- endif -%}
    {%- if one.is_time or other.is_time -%}
        {#- Nanoseconds reach from 1677 to 2262 only. -#}
        {{ return(one.is_time and other.is_time and "timestamp_ns" not in [one.base, other.base]) }}
    {%- endif -%}
    {%- if one.is_float or other.is_float -%}{{ return(true) }}{%- endif -%}
    {%- if one.is_decimal or other.is_decimal -%}
        {{ return([one.digits, other.digits] | max + [one.scale, other.scale] | max <= widest) }}
    {%- endif -%}
    {{ return("uhugeint" not in [one.base, other.base]) }}
{%- endmacro %}
