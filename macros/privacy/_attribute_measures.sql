{#
  What is measured of one sensitive attribute in every class, as the models of the guarantees say it. A measure is
    kind        its name; with `parameter` where it depends on one (numbered from the second parameter on)
    source      CTE that computes it from `compared`: `measured`, or a distance that has CTEs of its own
    sql         aggregate over the rows of `compared`, one per class and value (source `measured`)
    of          kind of the measure from which it is derived by `class_sql`, where that is <value>, the columns of
                `sizes` are known, and <subjects> is the number of subjects in the whole table
    needs       columns of `compared` that only some measures read: `class_size`, `position_by_frequency`
    breaks      comparison with `limit` by which a class breaks the guarantee; none where another measure decides
    is_rounded  whether it is met with a tolerance
    is_infinite_if_null
                whether NULL breaks every limit
    worst       the worst of several classes, `min` or `max`
  and, when found here, `alias`, its name in its CTE, and `column`, its name in the classes: `<attribute>_<alias>`.
  highest_share and limited_share are shares of the subjects; in the others a person counts once for each value it has.
#}
{% macro _attribute_measures(attribute, guarantees, has_all_measures=false) -%}
    {%- set measures, parameters = [], {} -%}
    {%- set by_default = dbt_anonymize._measured_by_default(attribute) if has_all_measures else [] -%}
    {%- for guarantee in by_default + guarantees if guarantee.attribute == attribute -%}
        {%- for measure in dbt_anonymize._privacy_model(guarantee).measures -%}
            {%- set known = parameters.setdefault(measure.kind, []) -%}
            {%- if measure.parameter not in known -%}
                {%- do known.append(measure.parameter) -%}
                {%- set alias = measure.kind ~ ("_" ~ known | length if known | length > 1 else "") -%}
                {%- do measures.append(dict(measure, alias=alias, column=attribute ~ "_" ~ alias)) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(measures) }}
{%- endmacro %}


{# A measure, with what most have in common. #}
{% macro _measure(kind, breaks, limit, sql=none, parameter=none, source="measured", needs=[]) -%}
    {{ return({
        "kind": kind,
        "breaks": breaks,
        "limit": limit,
        "sql": sql,
        "of": none,
        "class_sql": "<value>",
        "parameter": parameter,
        "source": source,
        "needs": needs,
        "is_rounded": false,
        "is_infinite_if_null": false,
        "worst": "max",
    }) }}
{%- endmacro %}
