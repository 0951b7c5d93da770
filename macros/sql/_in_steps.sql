{#
  A select whose CTEs `names` are read often, or are small and joined with many rows. An engine that computes a CTE
  again for each mention, and joins it as if it were large, keeps them in scratch tables, one after the other, which
  `_after_steps` drops as a post-hook.
#}
{% macro _in_steps(names) -%}
    {{ return(adapter.dispatch("_in_steps", "dbt_anonymize")(names, caller())) }}
{%- endmacro %}

{% macro default___in_steps(names, sql) -%}{{ return(sql) }}{%- endmacro %}


{# Keeps the CTEs `names` of a select in scratch tables, and returns a select that reads them. #}
{% macro _kept_steps(names, sql) -%}
    {%- set known, kept = [], [] -%}
    {%- set ctes, main = sql.removeprefix("with\n\n").split("\n\n)\n\n", 1) -%}
    {%- for cte in ctes.split("\n\n),\n\n") -%}
        {%- set head = modules.re.match("\\s*(\\w+) as (not materialized )?[(]", cte) -%}
        {%- set name, rows = head.group(1), cte[head.end():] -%}
        {%- if name in names -%}
            {%- set select = dbt_anonymize._with_ctes(known, "select * from (" ~ rows ~ "\n\n) as kept") -%}
            {%- do dbt_anonymize._run_statements(dbt_anonymize._keep_scratch(name, select)) -%}
            {%- set rows = "select * from " ~ dbt_anonymize._scratch(name) -%}
            {%- do kept.append(name) -%}
        {%- endif -%}
        {%- set hint = dbt_anonymize._not_materialized() if name in kept else head.group(2) or "" -%}
        {%- do known.append([name, rows, hint]) -%}
    {%- endfor -%}
    {%- if kept != names -%}
        {{ exceptions.raise_compiler_error(model.name ~ ": must have the CTEs " ~ names ~ "; got " ~ kept) }}
    {%- endif -%}
    {{ return(dbt_anonymize._with_ctes(known, main)) }}
{%- endmacro %}


{# A select with those CTEs that it mentions, and those that these mention. #}
{% macro _with_ctes(ctes, select) -%}
    {%- set needed = namespace(ctes=[], text=select) -%}
    {%- for name, rows, hint in ctes | reverse if modules.re.search("\\b" ~ name ~ "\\b", needed.text) -%}
        {%- set needed.ctes = [name ~ " as " ~ hint ~ "(" ~ rows ~ "\n\n)"] + needed.ctes -%}
        {%- set needed.text = needed.text ~ rows -%}
    {%- endfor -%}
    {{ return("with\n\n" ~ needed.ctes | join(",\n\n") ~ "\n\n" ~ select if needed.ctes else select) }}
{%- endmacro %}


{% macro _after_steps() -%}{{ return(adapter.dispatch("_after_steps", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___after_steps() -%}{{ return([]) }}{%- endmacro %}
