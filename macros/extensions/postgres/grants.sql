{# Roles: who may read releases, and that nobody but custodians may read the vault. #}

{# Whoever is granted a release or the vault must be there: a grant comes last. #}
{% macro postgres___check_engine() -%}
    {%- do dbt_anonymize._refuse_python_models() -%}
    {%- set of_vault = ["dbt_anonymize_vault", "dbt_anonymize_tokens"] -%}
    {%- set roles = [] -%}
    {%- for node in graph.nodes.values() if node.unique_id in selected_resources
        and (node.config.get("materialized") in of_vault or dbt_anonymize._is_release(node)) -%}
        {%- for granted in (node.config.get("grants") or {}).values() -%}
            {%- do roles.extend([granted] if granted is string else granted) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set unknown = dbt_anonymize._roles_where(roles, "to_regrole(role) is null") -%}
    {%- if unknown -%}
        {{ exceptions.raise_compiler_error(
            "dbt_anonymize: whoever is granted a release or the vault must be a role of the server; "
            ~ unknown | join(", ") ~ (" is none" if unknown | length == 1 else " are none")
            ~ ". Correct +grants or dbt_anonymize_custodians in dbt_project.yml, or create the role."
        ) }}
    {%- endif -%}
{%- endmacro %}


{# The roles that meet a condition. #}
{% macro _roles_where(roles, condition) -%}
    {%- set listed = [] -%}
    {%- for role in roles | unique(case_sensitive=true)
        if role | lower not in ["public", "current_role", "current_user", "session_user"] -%}
        {%- do listed.append("(" ~ dbt_anonymize._literal(role) ~ ")") -%}
    {%- endfor -%}
    {%- if not listed -%}{{ return([]) }}{%- endif -%}
    {{ return(run_query(
        "select role from (values " ~ listed | join(", ") ~ ") as listed (role) where " ~ condition
    ).columns[0].values() | list) }}
{%- endmacro %}


{# dbt grants a table and not its schema, so that whom it is for may not get in. #}
{% macro _warn_of_closed_schema(release) -%}
    {%- set roles = [] -%}
    {%- for granted in (config.get("grants") or {}).values() -%}
        {%- do roles.extend([granted] if granted is string else granted) -%}
    {%- endfor -%}
    {%- set schema = dbt_anonymize._quote(release.schema) -%}
    {%- set outside = dbt_anonymize._roles_where(
        roles, "not has_schema_privilege(to_regrole(role), to_regnamespace(" ~ dbt_anonymize._literal(schema)
        ~ "), 'usage')"
    ) -%}
    {%- if outside -%}
        {%- do exceptions.warn(
            "WARNING: " ~ release ~ ": whoever is granted it must be able to enter its schema; "
            ~ outside | join(", ") ~ " cannot. Have its owner run once: grant usage on schema " ~ schema ~ " to "
            ~ outside | join(", ")
        ) -%}
    {%- endif -%}
{%- endmacro %}


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


{#- dbt revokes nothing from a table that it made, and cannot revoke from everybody. -#}
{% macro postgres___apply_vault_grants(relation, should_revoke) -%}
    {% call statement("close_to_others") -%}
        {{ dbt_anonymize._closed_table(relation) }}
    {%- endcall %}
    {%- do apply_grants(relation, config.get("grants"), should_revoke=false) -%}
{%- endmacro %}


{% macro postgres___prepare_relinkings(vault, anonymization) -%}
    {%- set relinkings = vault.incorporate(path={"identifier": anonymization ~ "_relinkings"}) -%}
    {% call statement("prepare_relinkings") -%}
        {{ dbt_anonymize._relinkings_table(relinkings) }};
        {{ dbt_anonymize._closed_to_others(relinkings, "select, insert") }}
    {%- endcall %}
{%- endmacro %}


{% macro postgres___closed_to_others(relation, rights) -%}
    {%- set custodians = dbt_anonymize._custodian_grants().select -%}
    {{ dbt_anonymize._closed_table(relation) }}
    {%- if custodians %}
    grant {{ rights }} on {{ relation }} to {{ custodians | join(", ") }};
    {%- endif %}
{%- endmacro %}


{# The vault's schema is closed to all but custodians, so nobody else may need what is in it. #}
{% macro postgres___vault_place_error(place) -%}
    {{ return(
        "the vault must be a schema of its own; got " ~ place.schema ~ ", which is also that of the target or of a"
        ~ " release. Choose another with the variable dbt_anonymize_vault_schema, and let no generate_schema_name"
        ~ " of your project take it away."
        if place.schema in dbt_anonymize._schemas_of_others() else ""
    ) }}
{%- endmacro %}


{# Who logged in, whatever role the profile takes on. #}
{% macro postgres___database_user() -%}{{ return("select session_user") }}{%- endmacro %}
