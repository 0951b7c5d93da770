{#
  `<n>_about` beside the release, where the spec asks for it: what the release is, a row per fact. On DuckDB it is
  committed before it is published. It counts nobody below k, and under differential privacy nobody at all.
#}
{% macro _write_about(candidate, declaration) -%}
    {%- set about = dbt_anonymize._about_relation(declaration) -%}
    {%- if not declaration.about -%}
        {%- do dbt_anonymize._withdraw_about(about) -%}
        {{ return("") }}
    {%- endif -%}
    {%- set rows = [] -%}
    {%- for fact in dbt_anonymize._facts_of_release(candidate, declaration) -%}
        {%- do rows.append(
            "(" ~ loop.index ~ ", " ~ dbt_anonymize._literal(fact[0]) ~ ", " ~ dbt_anonymize._literal(fact[1]) ~ ", "
            ~ ("null" if fact[2] is none else fact[2]) ~ ")"
        ) -%}
    {%- endfor -%}
    {%- set facts %}
        select
            cast(place as integer) as place,
            cast(fact as {{ dbt.type_string() }}) as fact,
            cast(value as {{ dbt.type_string() }}) as value,
            cast(number as {{ dbt_anonymize._type_double() }}) as number
        from (values {{ rows | join(", ") }}) as facts (place, fact, value, number)
        order by place
    {%- endset -%}
    {%- do adapter.dispatch("_publish_about", "dbt_anonymize")(about, facts) -%}
{%- endmacro %}

{% macro default___publish_about(about, facts) -%}
    {% call statement("about") -%}
        create or replace table {{ about }} as
        {{- facts }}
    {%- endcall %}
{%- endmacro %}


{# What an earlier build said goes once the spec asks for nothing; a table of somebody else stays. #}
{% macro _withdraw_about(about) -%}
    {%- set relation = load_relation(about) -%}
    {%- if relation is not none -%}
        {%- set columns = adapter.get_columns_in_relation(relation) | map(attribute="name") | list -%}
        {%- if columns == ["place", "fact", "value", "number"] -%}
            {%- do adapter.drop_relation(relation) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}


{% macro _about_relation(declaration) -%}
    {{ return(this.incorporate(path={"identifier": declaration.anonymization ~ "_about"}, type="table")) }}
{%- endmacro %}


{# The facts in order, each with its text and its number, or none. #}
{% macro _facts_of_release(candidate, declaration) -%}
    {%- set facts = [] -%}
    {%- set is_external = dbt_anonymize._is_external(declaration) -%}
    {%- for fact, value in declaration.about.said -%}
        {%- do facts.append([
            fact, "none: another tool made the rows, and their privacy was measured"
                if is_external and fact == "guarantees" else value, none,
        ]) -%}
    {%- endfor -%}
    {%- set results = ref(declaration.anonymization ~ "_results") -%}
    {%- set chosen = run_query(
        "select effort, levels_in_words, suppressed_records, k, qf_mean, zero_rule, (select max(qf_mean) from "
        ~ results ~ " where effort = 0) from " ~ results ~ " where is_chosen"
    ).rows[0] -%}
    {%- do facts.append(["date", run_started_at.strftime("%Y-%m-%d"), none]) -%}
    {%- do facts.append(["levels", chosen[1], none]) -%}
    {%- if declaration.budget -%}{{ return(facts) }}{%- endif -%}
    {%- set released = dbt_anonymize._rows_and_stars(candidate, declaration) -%}
    {%- do facts.append(["effort", chosen[0] | int | string, chosen[0] | int]) -%}
    {%- do facts.append(["records", released.records | string, released.records]) -%}
    {%- if released.starred -%}{%- do facts.append(["only *", released.starred | join(", "), none]) -%}{%- endif -%}
    {%- if not declaration.waits and not declaration.has_subject and not is_external -%}
        {%- set gone, least = chosen[2] | int, dbt_anonymize._least_records(declaration) -%}
        {%- set is_few = 0 < gone and gone < least -%}
        {%- do facts.append([
            "records left out", "fewer than " ~ least if is_few else gone | string, none if is_few else gone
        ]) -%}
    {%- endif -%}
    {%- if chosen[3] is not none and not declaration.waits and not is_external -%}
        {%- do facts.append(["k", chosen[3] | int | string, chosen[3] | int]) -%}
    {%- endif -%}
    {%- for fact, score in [("QF", chosen[4]), ("QF, original", chosen[6]), ("QF, zero rule", chosen[5])] -%}
        {%- if score is not none -%}
            {%- set shown = "%.3f" | format(score | float) -%}
            {%- do facts.append([fact, shown, shown]) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(facts) }}
{%- endmacro %}


{# How many rows the candidate has, and its quasi-identifiers that are * in all of them. #}
{% macro _rows_and_stars(candidate, declaration) -%}
    {%- set counted = dbt_anonymize._counts_of(candidate) if declaration.is_counted else candidate -%}
    {%- set names = declaration.quasi_identifiers | map(attribute="name") | list -%}
    {%- set counts = ["sum(records)" if declaration.is_counted else "count(*)"] -%}
    {%- for name in names -%}
        {%- do counts.append(
            "count(case when " ~ dbt_anonymize._quote(name) ~ " = '*' then null else 1 end)"
            if name in declaration.columns else "0"
        ) -%}
    {%- endfor -%}
    {%- set row = run_query("select " ~ counts | join(", ") ~ " from " ~ counted).rows[0] -%}
    {%- set starred = [] -%}
    {%- for name in names -%}
        {%- if row[loop.index] == 0 -%}{%- do starred.append(name) -%}{%- endif -%}
    {%- endfor -%}
    {{ return({"records": row[0] | int, "starred": starred}) }}
{%- endmacro %}


{# What the properties of the model say of each released column. #}
{% macro _comments_on_columns(declaration) -%}
    {%- set comments = {} -%}
    {%- for name in declaration.columns -%}
        {%- set described = model.columns.get(name, {}).get("description") -%}
        {%- if described -%}{%- do comments.update({name: described}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(comments) }}
{%- endmacro %}
