{#
  What is measured of one sensitive attribute in every class, as a list of
    column           name in the classes, `<attribute>_<measure>`
    source, alias    the CTE (`measured`, `ordered`, `hierarchical`) that computes it and its name there
    sql              aggregate over the values of a class (source `measured`)
    is_by_frequency  whether it needs the values ordered by frequency
    is_of_people     whether it needs the people of the class
  Standard: distinct_l, entropy_l, highest_share, t, beta, delta. Where a guarantee needs it: grassberger_l, recursive_c,
  limited_share (highest share among the `values` of an alpha), enhanced_beta, ordered_t, hierarchical_t.
  highest_share and limited_share are shares of the people; in the others a person counts once for each value she has.
  NULL means infinite (recursive_c, delta; beta of a value that the whole table does not have).
#}
{% macro _attribute_measures(attribute, guarantees, has_all_measures=false) -%}
    {%- set kinds = ["distinct_l", "entropy_l", "highest_share", "t", "beta", "delta"] if has_all_measures else [] -%}
    {%- set needed = [] -%}
    {%- for guarantee in guarantees if guarantee.attribute == attribute -%}
        {%- do needed.extend(dbt_anonymize._needed_measures(guarantee, guarantees)) -%}
    {%- endfor -%}
    {%- set measures = [] -%}
    {%- set columns = [] -%}
    {%- for kind in kinds -%}
        {%- do needed.insert(loop.index0, {"kind": kind, "parameter": none}) -%}
    {%- endfor -%}
    {%- for measure in needed -%}
        {%- set alias = dbt_anonymize._measure_alias(measure, needed) -%}
        {%- if alias not in columns -%}
            {%- do columns.append(alias) -%}
            {%- do measures.append({
                "column": attribute ~ "_" ~ alias,
                "alias": alias,
                "source": {"ordered_t": "ordered", "hierarchical_t": "hierarchical"}.get(measure.kind, "measured"),
                "sql": dbt_anonymize._measure_sql(measure.kind, measure.parameter),
                "is_by_frequency": measure.kind == "recursive_c",
                "is_of_people": measure.kind in ["highest_share", "limited_share"],
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(measures) }}
{%- endmacro %}


{# The measures that decide about one guarantee: kind and parameter. #}
{% macro _needed_measures(guarantee, guarantees) -%}
    {%- set attribute = guarantee.attribute -%}
    {%- if guarantee.model == "alpha_k_anonymity" -%}
        {{ return([{"kind": "limited_share", "parameter": guarantee["values"]} if "values" in guarantee else {"kind": "highest_share", "parameter": none}]) }}
    {%- elif guarantee.model == "l_diversity" -%}
        {%- set distinct_l = {"kind": "distinct_l", "parameter": none} -%}
        {%- set variant = guarantee.variant or "distinct" -%}
        {{ return({
            "distinct": [distinct_l],
            "entropy": [{"kind": "entropy_l", "parameter": none}],
            "grassberger": [distinct_l, {"kind": "grassberger_l", "parameter": none}],
            "recursive": [{"kind": "recursive_c", "parameter": guarantee.l}],
        }[variant]) }}
    {%- elif guarantee.model == "t_closeness" -%}
        {{ return([{"kind": {"equal": "t", "ordered": "ordered_t", "hierarchical": "hierarchical_t"}[guarantee.distance or "equal"], "parameter": none}]) }}
    {%- elif guarantee.model == "beta_likeness" -%}
        {%- if guarantee.variant == "basic" -%}{{ return([{"kind": "beta", "parameter": none}]) }}{%- endif -%}
        {{ return([{"kind": "enhanced_beta", "parameter": guarantee.beta}]) }}
    {%- elif guarantee.model == "delta_disclosure" -%}
        {{ return([{"kind": "delta", "parameter": none}]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro %}


{# The name of a measure; numbered from the second on where an attribute has several with different parameters. #}
{% macro _measure_alias(measure, needed) -%}
    {%- set parameters = [] -%}
    {%- for other in needed if other.kind == measure.kind and other.parameter not in parameters -%}
        {%- do parameters.append(other.parameter) -%}
    {%- endfor -%}
    {%- set number = parameters.index(measure.parameter) + 1 -%}
    {{ return(measure.kind ~ ("_" ~ number if number > 1 else "")) }}
{%- endmacro %}


{# The aggregate of one measure over the rows of `compared`: one per class and value. #}
{% macro _measure_sql(kind, parameter) -%}
    {%- set double = dbt_anonymize._type_double() -%}
    {#- share in the class / share in the table, as one division of exact numbers -#}
    {%- set ratio = "people * table_people / (class_people * table_value_people)" -%}
    {%- set gain = "(people * table_people - class_people * table_value_people) / (class_people * table_value_people)" -%}
    {%- if kind == "distinct_l" -%}
        {{ return("cast(count(*) as " ~ dbt.type_bigint() ~ ")") }}
    {%- elif kind == "entropy_l" -%}
        {{ return("exp(ln(max(class_people)) - sum(people * ln(people)) / max(class_people))") }}
    {%- elif kind == "grassberger_l" -%}
        {{ return(
            "exp(" ~ dbt_anonymize._grassberger("max(class_people)") ~ " - sum(people * " ~ dbt_anonymize._grassberger("people")
            ~ ") / max(class_people))"
        ) }}
    {%- elif kind == "recursive_c" -%}
        {{ return(
            "max(people) / nullif(sum(case when position_by_frequency >= " ~ parameter ~ " then people else 0 end), 0)"
        ) }}
    {%- elif kind == "highest_share" -%}
        {{ return("max(people) / max(class_size)") }}
    {%- elif kind == "limited_share" -%}
        {%- set limited = [] -%}
        {%- for value in parameter -%}
            {%- do limited.append(dbt_anonymize._literal(value | string | lower if value is boolean else value)) -%}
        {%- endfor -%}
        {{ return(
            "coalesce(max(case when " ~ dbt_anonymize._as_text("value") ~ " in (" ~ limited | join(", ") ~ ") then people end), 0) / max(class_size)"
        ) }}
    {%- elif kind == "t" -%}
        {{ return(
            "sum(case when people * table_people > class_people * table_value_people"
            ~ " then people * table_people - class_people * table_value_people else 0 end) / max(class_people * table_people)"
        ) }}
    {%- elif kind == "beta" -%}
        {{ return("case when min(table_value_people) > 0 then max(" ~ gain ~ ") end") }}
    {%- elif kind == "enhanced_beta" -%}
        {{ return(
            "case when min(table_value_people) > 0 then max(" ~ gain ~ " - least(cast(" ~ dbt_anonymize._number(parameter) ~ " as " ~ double
            ~ "), ln(table_people / table_value_people))) end"
        ) }}
    {%- elif kind == "delta" -%}
        {{ return(
            "case when min(table_value_people) > 0 and count(*) = max(number_of_values) then max(abs(ln(" ~ ratio ~ "))) / ln(2) end"
        ) }}
    {%- endif -%}
{%- endmacro %}


{#
  Grassberger's G(n), with which the entropy of few records is not underestimated so much: G(1) = -gamma - ln 2,
  G(2j) = G(2j + 1) = digamma(j + 1/2) + ln 2.
#}
{% macro _grassberger(count) -%}
    {{ return("(" ~ dbt_anonymize._digamma("(floor(" ~ count ~ " / 2) + 0.5)") ~ " + ln(2))") }}
{%- endmacro %}


{#
  digamma(x) for x > 0, exact to 1e-14: eight steps up by psi(x) = psi(x + 1) - 1/x, then the asymptotic expansion. The
  eight reciprocals are summed in pairs, 1/(x+i) + 1/(x+7-i) = (2x + 7) / ((x+i)(x+7-i)).
#}
{% macro _digamma(x) -%}
    {%- set y = "(" ~ x ~ " + 8)" -%}
    {%- set square = "(" ~ y ~ " * " ~ y ~ ")" -%}
    {{ return(
        "(ln(" ~ y ~ ") - 0.5 / " ~ y
        ~ " - (1.0 / 12 - (1.0 / 120 - (1.0 / 252 - (1.0 / 240 - (1.0 / 132 - 691.0 / 32760 / " ~ square ~ ") / " ~ square ~ ") / "
        ~ square ~ ") / " ~ square ~ ") / " ~ square ~ ") / " ~ square
        ~ " - (2 * " ~ x ~ " + 7) * (1 / (" ~ x ~ " * (" ~ x ~ " + 7)) + 1 / ((" ~ x ~ " + 1) * (" ~ x ~ " + 6))"
        ~ " + 1 / ((" ~ x ~ " + 2) * (" ~ x ~ " + 5)) + 1 / ((" ~ x ~ " + 3) * (" ~ x ~ " + 4))))"
    ) }}
{%- endmacro %}
