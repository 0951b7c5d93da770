{# What keeps others out of the vault where an engine has grants: its schema and tables are for custodians alone. #}

{#
  SQL at the start of every command that writes, before a seed brings identifiers: nobody but custodians may enter the
  vault's schemas. Not a schema that holds more than the vault: `_check_vault_place` stops the build there.
#}
{% macro _closed_vault_schemas() -%}
    {{ return(adapter.dispatch("_closed_vault_schemas", "dbt_anonymize")()) }}
{%- endmacro %}

{% macro default___closed_vault_schemas() -%}{{ return("") }}{%- endmacro %}

{% macro postgres___closed_vault_schemas() -%}
    {%- set others = dbt_anonymize._schemas_of_others() -%}
    {%- set blocks = {} -%}
    {%- set of_vault = ["dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- for node in graph.nodes.values() if node.config.get("materialized") in of_vault -%}
        {%- if node.schema not in others -%}
            {%- do blocks.update({node.schema: dbt_anonymize._closed_schema(dbt_anonymize._quote(node.schema))}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(blocks.values() | join("\n")) }}
{%- endmacro %}


{# Schemas that analysts read, or that hold working tables. #}
{% macro _schemas_of_others() -%}
    {%- set found = [target.schema] -%}
    {%- for node in graph.nodes.values() if node.config.get("materialized") == "dbt_anonymize_release" -%}
        {%- do found.append(node.schema) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro %}


{# Nothing happens where there is no such schema yet. One that is somebody else's to close must be closed already. #}
{% macro _closed_schema(name) -%}
    {%- set custodians = dbt_anonymize._custodian_grants().select -%}
do $dbt_anonymize$
declare
    vault oid := to_regnamespace({{ dbt_anonymize._literal(name) }});
    other text;
begin
    if vault is null then
        return;
    end if;
    if not (select pg_has_role(nspowner, 'usage') from pg_namespace where oid = vault) then
        {{- dbt_anonymize._refused_open_schema(name, custodians) }}
        return;
    end if;
    for other in
        select distinct {{ dbt_anonymize._grantee() }}
        from pg_namespace
        cross join lateral aclexplode(nspacl) as granted
        where pg_namespace.oid = vault and granted.grantee <> nspowner
    loop
        execute format('revoke all on schema %s from %s cascade', {{ dbt_anonymize._literal(name) }}, other);
    end loop;
    {%- if custodians %}
    grant usage on schema {{ name }} to {{ custodians | join(", ") }};
    {%- endif %}
end
$dbt_anonymize$;
{%- endmacro %}


{# Before a seed brings identifiers. A custodian that is no role yet holds nothing: that of the owner takes its
   place. #}
{% macro _refused_open_schema(name, custodians) %}
        select string_agg(distinct {{ dbt_anonymize._grantee() }}, ', ')
        into other
        from pg_namespace
        cross join lateral aclexplode(nspacl) as granted
        where
            pg_namespace.oid = vault
            and granted.privilege_type = 'USAGE'
            and granted.grantee not in (
                nspowner,
                {%- for custodian in custodians %}
                coalesce(cast(to_regrole({{ dbt_anonymize._literal(custodian) }}) as oid), nspowner),
                {%- endfor %}
                cast(to_regrole(quote_ident(current_user)) as oid)
            );
        if other is not null then
            raise exception using message = 'dbt_anonymize: nobody but custodians may enter the schema of the vault, '
                || {{ dbt_anonymize._literal(name) }}
                || '; it belongs to somebody else than who runs dbt, and gives usage to '
                || other || '. Have its owner revoke it (revoke usage on schema ' || {{ dbt_anonymize._literal(name) }}
                || ' from '
                || other || '), name custodians in the variable dbt_anonymize_custodians, or choose another schema with'
                || ' dbt_anonymize_vault_schema.';
        end if;
{%- endmacro %}


{#
  Takes every privilege on a table from everybody but its owner, also what default privileges of the database give in
  the moment it is made: whoever runs it in the transaction of the table leaves no moment to read it.
#}
{% macro _closed_table(relation) -%}
do $dbt_anonymize$
declare
    other text;
begin
    for other in
        select distinct {{ dbt_anonymize._grantee() }}
        from pg_class
        cross join lateral (
            select grantee from aclexplode(relacl)
            union all
            select of_column.grantee
            from pg_attribute
            cross join lateral aclexplode(attacl) as of_column
            where attrelid = pg_class.oid
        ) as granted
        where pg_class.oid = cast({{ dbt_anonymize._literal(relation) }} as regclass) and granted.grantee <> relowner
    loop
        execute format('revoke all on table %s from %s cascade', {{ dbt_anonymize._literal(relation) }}, other);
    end loop;
end
$dbt_anonymize$;
{%- endmacro %}

{% macro _grantee() -%}
case when granted.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(granted.grantee)) end
{%- endmacro %}


{# A table of the vault is for custodians: in its transaction, before anybody else can see it. #}
{% macro _apply_vault_grants(relation, should_revoke) -%}
    {%- do adapter.dispatch("_apply_vault_grants", "dbt_anonymize")(relation, should_revoke) -%}
{%- endmacro %}

{% macro default___apply_vault_grants(relation, should_revoke) -%}
    {%- do apply_grants(relation, config.get("grants"), should_revoke=should_revoke) -%}
{%- endmacro %}

{#- dbt revokes nothing from a table that it made, and cannot revoke from everybody. -#}
{% macro postgres___apply_vault_grants(relation, should_revoke) -%}
    {% call statement("close_to_others") -%}
        {{ dbt_anonymize._closed_table(relation) }}
    {%- endcall %}
    {%- do apply_grants(relation, config.get("grants"), should_revoke=false) -%}
{%- endmacro %}


{#
  `<n>_relinkings` beside the vault, made by whoever builds: custodians may add attempts and read them, and neither
  change nor remove any. Without grants the first re-linking makes it.
#}
{% macro _prepare_relinkings(vault, anonymization) -%}
    {%- do adapter.dispatch("_prepare_relinkings", "dbt_anonymize")(vault, anonymization) -%}
{%- endmacro %}

{% macro default___prepare_relinkings(vault, anonymization) -%}{%- endmacro %}

{% macro postgres___prepare_relinkings(vault, anonymization) -%}
    {%- set relinkings = vault.incorporate(path={"identifier": anonymization ~ "_relinkings"}) -%}
    {% call statement("prepare_relinkings") -%}
        {{ dbt_anonymize._relinkings_table(relinkings) }};
        {{ dbt_anonymize._closed_to_others(relinkings, "select, insert") }}
    {%- endcall %}
{%- endmacro %}


{# Statements that leave a table of the vault to its owner and, with these rights, to custodians. #}
{% macro _closed_to_others(relation, rights) -%}
    {{ return(adapter.dispatch("_closed_to_others", "dbt_anonymize")(relation, rights)) }}
{%- endmacro %}

{% macro default___closed_to_others(relation, rights) -%}{{ return("") }}{%- endmacro %}

{% macro postgres___closed_to_others(relation, rights) -%}
    {%- set custodians = dbt_anonymize._custodian_grants().select -%}
    {{ dbt_anonymize._closed_table(relation) }}
    {%- if custodians %}
    grant {{ rights }} on {{ relation }} to {{ custodians | join(", ") }};
    {%- endif %}
{%- endmacro %}
