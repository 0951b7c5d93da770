{#
  `dbt_anonymize_budget` in the vault: what every differentially private release of a source has cost. It is written
  before publishing, so that a build that stops in between has paid. Costs add up because each mechanism has draws of
  its own. The same mechanism gives the same rows of the same data for nothing, as long as no other release took their
  place; of other data it gives none, since both would be of the same draws.
#}
{% macro _cost_of_release(candidate, is_locked=false) -%}
    {%- set declaration = model.config.meta.dbt_anonymize -%}
    {%- set budget = declaration.budget -%}
    {%- do dbt_anonymize._check_draws(candidate, declaration) -%}
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
        "mechanism": budget.mechanism,
        "data": run_query(dbt_anonymize._digest_of_rows(microdata, columns)).rows[0][0],
        "content": dbt_anonymize._content_of(candidate, declaration),
    } -%}
    {%- if not is_locked and load_relation(cost.relation) is none -%}{{ return(cost) }}{%- endif -%}
    {%- if dbt_anonymize._is_paid(cost, budget.draw) -%}{{ return(none) }}{%- endif -%}
    {%- set spent = run_query(
        "select coalesce(sum(epsilon), 0), coalesce(sum(delta), 0), count(*) from " ~ cost.relation
        ~ " where source = " ~ dbt_anonymize._literal(cost.source)
    ).rows[0] -%}
    {%- set spent = {"epsilon": spent[0] | float, "delta": spent[1] | float, "releases": spent[2] | int} -%}
    {#- Sums of decimals in double precision. -#}
    {%- set tolerance = 1.000000001 -%}
    {%- if spent.epsilon + cost.epsilon > budget.total_epsilon * tolerance
        or spent.delta + cost.delta > budget.total_delta * tolerance -%}
        {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
            "all differentially private releases of " ~ cost.source ~ " together may cost epsilon "
            ~ budget.total_epsilon ~ " and delta " ~ budget.total_delta ~ "; " ~ spent.releases ~ " paid for have cost "
            ~ spent.epsilon ~ " and " ~ spent.delta ~ ", and this one, with draws of its own, adds "
            ~ cost.epsilon ~ " and " ~ cost.delta ~ ". Keep the earlier release, or raise total_epsilon and total_delta"
            ~ " of differential_privacy if the people of the source can bear it."
        ]) -%}
    {%- endif -%}
    {{ return(cost) }}
{%- endmacro %}


{# Digest of the released rows, with what is `*` in every effort: other efforts decide whether that has columns. #}
{% macro _content_of(candidate, declaration) -%}
    {%- set columns, starred = [], [] -%}
    {%- for quasi_identifier in declaration.quasi_identifiers -%}
        {%- set midpoint = quasi_identifier.name ~ "_midpoint" -%}
        {%- for column in dbt_anonymize._label_columns(quasi_identifier) -%}
            {%- do columns.append(column) -%}
            {%- if column not in declaration.columns -%}
                {%- do starred.append(dbt_anonymize._quote(column)) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- if midpoint in declaration.columns -%}{%- do columns.append(midpoint) -%}{%- endif -%}
    {%- endfor -%}
    {%- do columns.extend(declaration.columns | reject("in", columns)) -%}
    {%- if not starred -%}
        {{ return(run_query(dbt_anonymize._digest_of_rows(candidate, columns)).rows[0][0]) }}
    {%- endif -%}
    {%- set effort = ref(declaration.anonymization ~ "_effort_" ~ dbt_anonymize._released_effort(declaration)) -%}
    {%- set rows = "(select * from " ~ candidate ~ " as released cross join (select distinct " ~ starred | join(", ")
        ~ " from " ~ effort ~ ") as starred) as shown" -%}
    {{ return(run_query(dbt_anonymize._digest_of_rows(rows, columns)).rows[0][0]) }}
{%- endmacro %}


{# Whether this release is the one that was paid for last. Stops where its mechanism was paid for and would give
   something else: what is published then stays, as it does where it is published again. #}
{% macro _is_paid(cost, draw) -%}
    {%- if "mechanism" not in adapter.get_columns_in_relation(cost.relation) | map(attribute="name") -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set mechanism = dbt_anonymize._literal(cost.mechanism) -%}
    {%- set paid -%}
        select
            paid.data,
            paid.content,
            (
                select count(*) from {{ cost.relation }} as later
                where
                    later.anonymization = paid.anonymization
                    and later.mechanism <> paid.mechanism
                    and later.spent_at > paid.spent_at
            ) as others_since
        from {{ cost.relation }} as paid
        where
            paid.source = {{ dbt_anonymize._literal(cost.source) }}
            and paid.anonymization = {{ dbt_anonymize._literal(cost.anonymization) }}
            and paid.mechanism = {{ mechanism }}
    {%- endset -%}
    {%- set rows = run_query(paid).rows -%}
    {%- if not rows -%}{{ return(false) }}{%- endif -%}
    {%- set paid = rows[0] -%}
    {%- if paid[2] == 0 and paid[0] == cost.data and paid[1] == cost.content -%}{{ return(true) }}{%- endif -%}
    {%- do dbt_anonymize._raise_errors(cost.anonymization, [
        "draw " ~ draw ~ " of this differentially private release is paid for and " ~ (
            "another release took its place" if paid[2] > 0 else "was of other records, draws or labels"
        ) ~ ". Two releases of the same draws would show by whom they differ, so what is published stays. For a new"
        ~ " one, drawn and paid for by itself, write `draw: " ~ (draw + 1)
        ~ "` under differential_privacy in anonymizations/"
        ~ cost.anonymization ~ ".yml, run `dbt-anonymize generate " ~ cost.anonymization ~ "`, and build."
    ]) -%}
{%- endmacro %}


{# Stops unless the candidate is what the draws of its mechanism make of the records: tables between may be of an
   earlier build, with other draws. #}
{% macro _check_draws(candidate, declaration) -%}
    {%- set name, budget = declaration.anonymization, declaration.budget -%}
    {%- set microdata, sample = ref(name ~ "_microdata"), ref(name ~ "_sample") -%}
    {%- set effort = ref(name ~ "_effort_" ~ dbt_anonymize._released_effort(declaration)) -%}
    {%- set share = "cast(" ~ dbt_anonymize._number(budget.share) ~ " as " ~ dbt_anonymize._type_double() ~ ")" -%}
    {%- set counts -%}
        select
            (
                select count(*)
                from {{ microdata }} as microdata
                {{ dbt_anonymize._join_draws(
                    sample, dbt_anonymize._quote(declaration.record_key, "microdata"), budget.mechanism
                ) }}
                where drawn.draw is null or (drawn.draw < {{ share }}) <> (microdata.sample_share <= {{ share }})
            ) as drawn_otherwise,
            (select count(*) from {{ candidate }}) as released,
            (
                select coalesce(sum(records), 0)
                from (
                    select count(*) as records
                    from {{ effort }}
                    where equivalence_class is not null
                    group by equivalence_class
                    having count(*) >= {{ budget.k }}
                ) as large_classes
            ) as expected
    {%- endset -%}
    {%- set row = run_query(counts).rows[0] -%}
    {%- if row[0] > 0 or row[1] != row[2] -%}
        {%- do dbt_anonymize._raise_errors(name, [
            "a differentially private release must be all classes of at least " ~ budget.k ~ " of the people who were"
            ~ " drawn for it; " ~ (
                row[0] ~ " records were drawn for another one" if row[0] > 0
                else row[1] ~ " records would be released, and " ~ row[2] ~ " are in such classes"
            ) ~ ". Tables are of an earlier build; run `dbt build -s +" ~ model.name ~ "`."
        ]) -%}
    {%- endif -%}
{%- endmacro %}


{# Pays for a release; on DuckDB in a transaction of its own, which writes one database at a time. #}
{% macro _spend_budget(cost) -%}
    {%- do dbt_anonymize._create_schema_of(cost.relation) -%}
    {% call statement("spend_budget") -%}
        {{ dbt_anonymize._budget_table(cost.relation) }};
        {{ dbt_anonymize._closed_to_others(cost.relation, "select") }}
        insert into {{ cost.relation }} (source, anonymization, spent_at, epsilon, delta, data, content, mechanism)
        values (
            {{ dbt_anonymize._literal(cost.source) }},
            {{ dbt_anonymize._literal(cost.anonymization) }},
            cast({{ dbt_anonymize._literal(cost.spent_at) }} as {{ dbt.type_timestamp() }}),
            {{ dbt_anonymize._number(cost.epsilon) }},
            {{ dbt_anonymize._number(cost.delta) }},
            {{ dbt_anonymize._literal(cost.data) }},
            {{ dbt_anonymize._literal(cost.content) }},
            {{ dbt_anonymize._literal(cost.mechanism) }}
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
    content {{ dbt.type_string() }},
    mechanism {{ dbt.type_string() }}
);
alter table {{ budget }} add column if not exists mechanism {{ dbt.type_string() }}
{%- endmacro %}


{# Beside `<n>_sample`. #}
{% macro _budget_relation(anonymization, beside=none) -%}
    {%- set sample = beside or ref(anonymization ~ "_sample") -%}
    {{ return(api.Relation.create(
        database=sample.database, schema=sample.schema, identifier="dbt_anonymize_budget", type="table"
    )) }}
{%- endmacro %}
