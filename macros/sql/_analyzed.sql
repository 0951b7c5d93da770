{# What a table is followed by, so that the engine knows how many rows it has before something reads it: without that
   Postgres chooses joins which take minutes. `verify` trusts a hook that only calls a macro of this package. #}
{% macro _analyzed() -%}{{ return(adapter.dispatch("_analyzed", "dbt_anonymize")()) }}{%- endmacro %}

{% macro default___analyzed() -%}{{ return([]) }}{%- endmacro %}

{% macro postgres___analyzed() -%}
    {{ return(["{{ dbt_anonymize._analyze(this) }}"]) }}
{%- endmacro %}


{% macro _analyze(relation) -%}analyze {{ relation }}{%- endmacro %}


{# Before hierarchies are joined: seeds and models of other packages are not analyzed by whoever builds them. #}
{% macro _analyze_hierarchies(quasi_identifiers) -%}
    {{ return(adapter.dispatch("_analyze_hierarchies", "dbt_anonymize")(quasi_identifiers)) }}
{%- endmacro %}

{% macro default___analyze_hierarchies(quasi_identifiers) -%}{%- endmacro %}

{#
  Only those that have no statistics and are the builder's own: others must not be analyzed. `pg_class` does not tell:
  its count of rows outlives a build that failed, which the statistics do not. In one order, since each stays locked
  against a second `analyze` until the model is built: two models that share them must not wait for each other.
#}
{% macro postgres___analyze_hierarchies(quasi_identifiers) -%}
    {%- set names = [] -%}
    {%- for quasi_identifier in quasi_identifiers -%}
        {%- set place = dbt_anonymize._literal(quasi_identifier.hierarchy.render()) -%}
        {%- set unknown = run_query(
            "select 1 from pg_class as found inner join pg_namespace as place on found.relnamespace = place.oid"
            ~ " where found.oid = to_regclass(" ~ place ~ ") and found.relkind in ('r', 'm')"
            ~ " and pg_has_role(found.relowner, 'usage') and not exists (select 1 from pg_stats as known"
            ~ " where known.schemaname = place.nspname and known.tablename = found.relname)"
        ).rows -%}
        {%- if unknown -%}{%- do names.append(quasi_identifier.hierarchy.render()) -%}{%- endif -%}
    {%- endfor -%}
    {%- for name in names | unique(case_sensitive=true) | sort(case_sensitive=true) -%}
        {%- do run_query(dbt_anonymize._analyze(name)) -%}
    {%- endfor -%}
{%- endmacro %}
