{#
  `dbt_anonymize_budget` in the vault: what every differentially private release of a source has cost. It is written
  before publishing, so that a build that stops in between has paid. The same rows made in the same way of the same data
  and the same sample cost nothing again; whatever else is released adds its epsilon and delta.
#}
{% macro _cost_of_release(candidate) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set budget = declaration.budget -%}
    {%- if not budget -%}{{ return(none) }}{%- endif -%}
    {%- set microdata = ref(declaration.anonymization ~ "_microdata") -%}
    {%- set columns = [declaration.record_key, "sample_share"] + declaration.quasi_identifiers | map(attribute="name")
        | list -%}
    {%- set cost = {
        "relation": dbt_anonymize._budget_relation(declaration.anonymization),
        "source": budget.source,
        "anonymization": declaration.anonymization,
        "spent_at": run_started_at.strftime("%Y-%m-%d %H:%M:%S"),
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "data": run_query(dbt_anonymize._digest_of_rows(microdata, columns)).rows[0][0],
        "content": budget.mechanism ~ " effort " ~ dbt_anonymize._released_effort(declaration) ~ " " ~ run_query(
            dbt_anonymize._digest_of_rows(candidate, declaration.columns)
        ).rows[0][0],
    } -%}
    {%- if load_relation(cost.relation) is none -%}{{ return(cost) }}{%- endif -%}
    {%- set of_source = " from " ~ cost.relation ~ " where source = " ~ dbt_anonymize._literal(cost.source) -%}
    {%- set known = run_query(
        "select count(*)" ~ of_source ~ " and data = " ~ dbt_anonymize._literal(cost.data) ~ " and content = "
        ~ dbt_anonymize._literal(cost.content)
    ).rows[0][0] -%}
    {%- if known > 0 -%}{{ return(none) }}{%- endif -%}
    {%- set spent = run_query(
        "select coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), count(*)" ~ of_source
    ).rows[0] -%}
    {%- set spent = {"epsilon": spent[0] | float, "delta": spent[1] | float, "releases": spent[2] | int} -%}
    {#- Sums of decimals in double precision. -#}
    {%- set tolerance = 1.000000001 -%}
    {%- if spent.epsilon + cost.epsilon > budget.total_epsilon * tolerance
        or spent.delta + cost.delta > budget.total_delta * tolerance -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "all differentially private releases of " ~ cost.source ~ " together may cost epsilon "
            ~ budget.total_epsilon ~ " and delta " ~ budget.total_delta ~ "; " ~ spent.releases ~ " paid for have cost "
            ~ spent.epsilon ~ " and " ~ spent.delta ~ ", and this one, of other data or of another kind, adds "
            ~ cost.epsilon ~ " and " ~ cost.delta ~ ". Keep the earlier release, or raise total_epsilon and total_delta"
            ~ " of differential_privacy if the people of the source can bear it."
        ]) -%}
    {%- endif -%}
    {{ return(cost) }}
{%- endmacro %}


{# Pays for a release; on DuckDB in a transaction of its own, which writes one database at a time. #}
{% macro _spend_budget(cost) -%}
    {%- do dbt_anonymize._create_schema_of(cost.relation) -%}
    {% call statement("spend_budget") -%}
        {{ dbt_anonymize._budget_table(cost.relation) }};
        {{ dbt_anonymize._closed_to_others(cost.relation, "select") }}
        insert into {{ cost.relation }} (source, anonymization, spent_at, epsilon, delta, data, content)
        values (
            {{ dbt_anonymize._literal(cost.source) }},
            {{ dbt_anonymize._literal(cost.anonymization) }},
            cast({{ dbt_anonymize._literal(cost.spent_at) }} as {{ dbt.type_timestamp() }}),
            {{ dbt_anonymize._number(cost.epsilon) }},
            {{ dbt_anonymize._number(cost.delta) }},
            {{ dbt_anonymize._literal(cost.data) }},
            {{ dbt_anonymize._literal(cost.content) }}
        )
    {%- endcall %}
    {%- do dbt_anonymize._commit_step() -%}
{%- endmacro %}


{% macro _budget_table(budget) -%}
create table if not exists {{ budget }} (
    source {{ dbt.type_string() }},
    anonymization {{ dbt.type_string() }},
    spent_at {{ dbt.type_timestamp() }},
    epsilon {{ dbt_anonymize._type_double() }},
    delta {{ dbt_anonymize._type_double() }},
    data {{ dbt.type_string() }},
    content {{ dbt.type_string() }}
)
{%- endmacro %}


{# Beside `<n>_sample`. #}
{% macro _budget_relation(anonymization, beside=none) -%}
    {%- set sample = beside or ref(anonymization ~ "_sample") -%}
    {{ return(api.Relation.create(
        database=sample.database, schema=sample.schema, identifier="dbt_anonymize_budget", type="table"
    )) }}
{%- endmacro %}


{# Query of a text that differs where the rows differ in a value, whatever their order: sums of digests. #}
{% macro _digest_of_rows(relation, columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set value = dbt_anonymize._as_text(dbt_anonymize._quote(column)) -%}
        {%- do parts.append(
            "coalesce(" ~ dbt_anonymize._as_text("length(" ~ value ~ ")") ~ " || ':' || " ~ value ~ ", '-')"
        ) -%}
    {%- endfor -%}
    {%- set sums = [] -%}
    {%- for first in [1, 13] -%}
        {%- do sums.append("coalesce(sum(" ~ dbt_anonymize._number_of_digest("digest", first) ~ "), 0)") -%}
    {%- endfor -%}
    {%- set number = dbt_anonymize._as_text("count(*)") -%}
    {{ return(
        "select " ~ number ~ " || '-' || " ~ dbt_anonymize._as_text(sums[0]) ~ " || '-' || "
        ~ dbt_anonymize._as_text(sums[1]) ~ " from (select md5(" ~ parts | join(" || ") ~ ") as digest from "
        ~ relation ~ ") as digests"
    ) }}
{%- endmacro %}


{# SQL of 48 bits of a digest in hexadecimal digits, as a whole number. #}
{% macro _number_of_digest(digest, first) -%}
    {{ return(adapter.dispatch("_number_of_digest", "dbt_anonymize")(digest, first)) }}
{%- endmacro %}

{% macro default___number_of_digest(digest, first) -%}
    {{ exceptions.raise_compiler_error(
        "dbt_anonymize: differential_privacy needs DuckDB or Postgres, since it draws a sample with a generator made"
        ~ " for secrets; the adapter is " ~ target.type ~ "."
    ) }}
{%- endmacro %}

{% macro duckdb___number_of_digest(digest, first) -%}
    {{ return("cast('0x' || substr(" ~ digest ~ ", " ~ first ~ ", 12) as bigint)") }}
{%- endmacro %}

{% macro postgres___number_of_digest(digest, first) -%}
    {{ return("cast(cast('x' || substr(" ~ digest ~ ", " ~ first ~ ", 12) as bit(48)) as bigint)") }}
{%- endmacro %}
