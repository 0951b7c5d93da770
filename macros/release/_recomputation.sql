{# The step that computes the candidate again and stops where it differs; none where the spec does not ask for it. #}
{% macro _recomputation(candidate, declaration) -%}
    {%- if not declaration.recompute -%}{{ return(none) }}{%- endif -%}
    {{ return(adapter.dispatch("_recomputation", "dbt_anonymize")(candidate, declaration)) }}
{%- endmacro %}

{% macro default___recomputation(candidate, declaration) -%}
    {%- do dbt_anonymize._raise_errors(declaration.anonymization, [
        "release.recompute needs DuckDB; the adapter is " ~ target.type ~ ". Set it to false and generate again."
    ]) -%}
{%- endmacro %}

{% macro duckdb___recomputation(candidate, declaration) -%}
{%- set name = declaration.anonymization -%}
{%- set relations = dbt_anonymize._recomputed_from(declaration.recompute) -%}
{%- set effort = run_query("select effort from " ~ ref(name ~ "_results") ~ " where is_chosen").rows[0][0] | int -%}
{%- if dbt_anonymize._withheld_relation(name) -%}
    {%- do relations.update({
        "source": "(" ~ dbt_anonymize._taking_part(relations.source, name, declaration.record_key) ~ ")"
    }) -%}
{%- endif -%}
{%- do relations.update({
    "microdata": ref(name ~ "_microdata"), "effort": ref(name ~ "_effort_" ~ effort), "anonymized": candidate
}) -%}
{%- if declaration.mapping == "token" -%}
    {%- do relations.update({"identifiers": ref(name ~ "_identifiers"), "tokens": ref(name ~ "_tokens")}) -%}
{%- endif -%}
{%- if declaration.waits -%}
    {%- set membership = ref(name ~ "_membership") -%}
    {%- do relations.update({
        "membership": membership, "members": membership.incorporate(path={"identifier": name ~ "_members"})
    }) -%}
    {%- if declaration.mapping == "token" -%}{%- do relations.update({"tokens": ref(name ~ "_tokens")}) -%}{%- endif -%}
{%- endif -%}
{%- if declaration.sample_shares -%}
    {%- do relations.update({"sample": ref(name ~ "_sample")}) -%}
{%- endif -%}
{%- set hierarchies = {} -%}
{%- for column, relation in relations.hierarchies.items() -%}
    {%- do hierarchies.update({column: relation | string}) -%}
{%- endfor -%}
{%- set names = {} -%}
{%- for role, relation in relations.items() if role != "hierarchies" -%}
    {%- do names.update({role: relation | string}) -%}
{%- endfor -%}
{{ return(dbt_anonymize._python_step("dbt_anonymize.verify.recomputation.build", "require_recomputed", {
    "folder": dbt_anonymize._project_folder(),
    "name": name,
    "effort": effort,
    "relations": names,
    "hierarchies": hierarchies,
})) }}
{% endmacro %}


{# The relations behind the names in `recompute`. While a model is parsed, this is what makes it depend on them. #}
{% macro _recomputed_from(recompute) -%}
    {%- if not recompute -%}{{ return({}) }}{%- endif -%}
    {%- set relations = {"hierarchies": {}} -%}
    {%- for role in ["source", "population", "mask_keys", "frozen"] if recompute.get(role) -%}
        {%- set names = recompute[role] -%}
        {%- do relations.update({role: ref(names[0]) if names | length == 1 else source(names[0], names[1])}) -%}
    {%- endfor -%}
    {%- for column, hierarchy in recompute.hierarchies.items() -%}
        {%- do relations.hierarchies.update({column: ref(hierarchy)}) -%}
    {%- endfor -%}
    {{ return(relations) }}
{%- endmacro %}
