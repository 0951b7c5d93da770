{# The flat list of guarantees, after all of its errors are raised at once. k_anonymity is always among them. #}
{% macro _checked_guarantees(guarantees) -%}
    {%- set errors = [] -%}
    {%- if guarantees is mapping or guarantees is string or guarantees is not iterable -%}
        {%- do errors.append("the guarantees must be a list with one entry per guarantee, [{'model': 'k_anonymity', 'k': 5}]; got: " ~ guarantees) -%}
    {%- else -%}
        {%- for guarantee in guarantees -%}
            {%- do errors.extend(dbt_anonymize._guarantee_errors(guarantee)) -%}
        {%- endfor -%}
        {%- if guarantees | selectattr("model", "equalto", "uniqueness") | list -%}
            {%- do errors.append("uniqueness must not be among the guarantees: it can never bind, since k_anonymity leaves nobody unique") -%}
        {%- endif -%}
        {%- if guarantees | selectattr("model", "equalto", "k_anonymity") | list | length == 0 -%}
            {%- do errors.append("the guarantees must have k_anonymity; got: " ~ (guarantees | map(attribute="model") | join(", ") or "none")) -%}
        {%- endif -%}
    {%- endif -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(
            model.name ~ ": " ~ errors | join("; ") ~ ". Correct guarantees in the spec and run `dbt-anonymize generate`."
        ) }}
    {%- endif -%}
    {{ return(guarantees) }}
{%- endmacro %}


{# The guarantee of a macro or test about one model, after its errors are raised. Parameters that are none are left out. #}
{% macro _checked_guarantee(name, parameters) -%}
    {%- set guarantee = {"model": name} -%}
    {%- for parameter, value in parameters.items() if value is not none -%}
        {%- do guarantee.update({parameter: value}) -%}
    {%- endfor -%}
    {%- set errors = dbt_anonymize._guarantee_errors(guarantee) -%}
    {%- if errors -%}
        {{ exceptions.raise_compiler_error(model.name ~ ": " ~ errors | join("; ") ~ ". Correct the arguments of " ~ name ~ ".") }}
    {%- endif -%}
    {{ return(guarantee) }}
{%- endmacro %}


{# What is wrong with one guarantee, as messages without a remedy. #}
{% macro _guarantee_errors(guarantee) -%}
    {%- set models = dbt_anonymize._guarantee_parameters() -%}
    {%- set name = guarantee.model if guarantee is mapping else none -%}
    {%- if name not in models -%}
        {%- set near = dbt_anonymize._nearest(name | string, models.keys() | list) -%}
        {{ return([
            "unknown guarantee " ~ name ~ "; known: " ~ models.keys() | join(", ")
            ~ ((". Did you mean " ~ near ~ "?") if near else "")
        ]) }}
    {%- endif -%}
    {%- set errors = [] -%}
    {%- set known = models[name] -%}
    {%- for parameter in guarantee if parameter != "model" and parameter not in known.required + known.optional -%}
        {%- do errors.append(name ~ " has no parameter " ~ parameter ~ "; it has: " ~ (known.required + known.optional) | join(", ")) -%}
    {%- endfor -%}
    {%- for parameter in known.required if parameter not in guarantee -%}
        {%- do errors.append("`" ~ parameter ~ "` of the guarantee " ~ name ~ " is missing; it " ~ dbt_anonymize._parameter_rule(name, parameter, guarantee).rule) -%}
    {%- endfor -%}
    {%- for parameter in known.required + known.optional if parameter in guarantee -%}
        {%- set checked = dbt_anonymize._parameter_rule(name, parameter, guarantee) -%}
        {%- if not checked.is_kept -%}
            {%- do errors.append("`" ~ parameter ~ "` of the guarantee " ~ name ~ " " ~ checked.rule ~ "; got: " ~ guarantee[parameter]) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(errors + dbt_anonymize._combination_errors(guarantee)) }}
{%- endmacro %}


{% macro _guarantee_parameters() -%}
    {{ return({
        "k_anonymity": {"required": ["k"], "optional": []},
        "k_map": {"required": ["k"], "optional": ["estimator", "significance"]},
        "alpha_k_anonymity": {"required": ["attribute", "alpha", "k"], "optional": ["values"]},
        "l_diversity": {"required": ["attribute", "l"], "optional": ["variant", "c"]},
        "t_closeness": {"required": ["attribute", "t"], "optional": ["distance"]},
        "beta_likeness": {"required": ["attribute", "beta"], "optional": ["variant"]},
        "delta_disclosure": {"required": ["attribute", "delta"], "optional": []},
        "delta_presence": {"required": ["minimum", "maximum"], "optional": []},
        "reidentification_risk": {"required": [], "optional": ["average", "highest"]},
        "uniqueness": {"required": [], "optional": ["sample", "population", "estimator"]},
    }) }}
{%- endmacro %}


{# What one parameter must be, and whether it is. #}
{% macro _parameter_rule(name, parameter, guarantee) -%}
    {%- set value = guarantee.get(parameter) -%}
    {%- set is_number = value is number and value is not boolean -%}
    {%- set choices = {
        "l_diversity variant": ["distinct", "entropy", "grassberger", "recursive"],
        "beta_likeness variant": ["basic", "enhanced"],
        "t_closeness distance": ["equal", "ordered", "hierarchical"],
        "k_map estimator": ["poisson", "zero_truncated_poisson"],
        "uniqueness estimator": ["zayatz", "pitman", "snb", "dankar"],
    }.get(name ~ " " ~ parameter) -%}
    {%- if choices -%}
        {{ return({"rule": "must be one of " ~ choices | join(", "), "is_kept": value in choices}) }}
    {%- elif parameter == "attribute" -%}
        {{ return({"rule": "must be the name of a column", "is_kept": value is string and value != ""}) }}
    {%- elif parameter == "values" -%}
        {{ return({
            "rule": "must be a list of at least one value",
            "is_kept": value is iterable and value is not string and value is not mapping and value | list | length > 0,
        }) }}
    {%- elif parameter == "k" -%}
        {{ return({"rule": "must be an integer >= 2", "is_kept": is_number and value is integer and value >= 2}) }}
    {%- elif parameter == "l" and guarantee.get("variant", "distinct") in ["distinct", "recursive"] -%}
        {{ return({
            "rule": "must be an integer >= 2 where the variant is " ~ guarantee.get("variant", "distinct"),
            "is_kept": is_number and value == value | int and value >= 2,
        }) }}
    {%- elif parameter == "l" -%}
        {{ return({"rule": "must be a number > 1", "is_kept": is_number and value > 1}) }}
    {%- elif parameter in ["alpha", "significance"] -%}
        {{ return({"rule": "must be a number between 0 and 1, both excluded", "is_kept": is_number and 0 < value and value < 1}) }}
    {%- elif parameter in ["t", "average", "highest"] -%}
        {{ return({"rule": "must be a number > 0 and <= 1", "is_kept": is_number and 0 < value and value <= 1}) }}
    {%- elif parameter in ["minimum", "maximum"] -%}
        {{ return({"rule": "must be a number >= 0 and <= 1", "is_kept": is_number and 0 <= value and value <= 1}) }}
    {%- elif parameter in ["sample", "population"] -%}
        {{ return({"rule": "must be a number >= 0 and < 1", "is_kept": is_number and 0 <= value and value < 1}) }}
    {%- endif -%}
    {{ return({"rule": "must be a number > 0", "is_kept": is_number and value > 0}) }}
{%- endmacro %}


{# What is wrong with parameters together. #}
{% macro _combination_errors(guarantee) -%}
    {%- set name = guarantee.model -%}
    {%- set given = guarantee.keys() | list -%}
    {%- if name == "l_diversity" and (guarantee.variant == "recursive") != ("c" in given) -%}
        {{ return(["l_diversity must have `c` if and only if the variant is recursive; got: " ~ given | join(", ")]) }}
    {%- elif name == "k_map" and ("estimator" in given) != ("significance" in given) -%}
        {{ return(["k_map must have `estimator` and `significance` together or neither; got: " ~ given | join(", ")]) }}
    {%- elif name == "delta_presence" and guarantee.minimum is number and guarantee.maximum is number and guarantee.minimum > guarantee.maximum -%}
        {{ return(["delta_presence must have `minimum` <= `maximum`; got: " ~ guarantee.minimum ~ " and " ~ guarantee.maximum]) }}
    {%- elif name == "reidentification_risk" and "average" not in given and "highest" not in given -%}
        {{ return(["reidentification_risk must limit `average` or `highest`; got neither"]) }}
    {%- elif name == "uniqueness" and ("sample" in given) == ("population" in given) -%}
        {{ return(["uniqueness must limit exactly one of `sample` and `population`; got: " ~ given | reject("equalto", "model") | join(", ")]) }}
    {%- elif name == "uniqueness" and "estimator" in given and "sample" in given -%}
        {{ return(["uniqueness has an `estimator` only where `population` is limited; got: " ~ given | reject("equalto", "model") | join(", ")]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro %}


{# The name that shares most pairs of neighbouring letters with a text, if it shares at least half of them; else none. #}
{% macro _nearest(text, names) -%}
    {%- set best = {"name": none, "share": 0.5} -%}
    {%- set pairs = dbt_anonymize._letter_pairs(text) -%}
    {%- for name in names -%}
        {%- set others = dbt_anonymize._letter_pairs(name) -%}
        {%- set share = 2 * (pairs | select("in", others) | list | length) / ([pairs | length + others | length, 1] | max) -%}
        {%- if share >= best.share -%}{%- do best.update({"name": name, "share": share}) -%}{%- endif -%}
    {%- endfor -%}
    {{ return(best.name) }}
{%- endmacro %}


{% macro _letter_pairs(text) -%}
    {%- set pairs = [] -%}
    {%- set letters = text | lower | replace("-", "_") | replace(" ", "_") -%}
    {%- for position in range(letters | length - 1) -%}
        {%- do pairs.append(letters[position:position + 2]) -%}
    {%- endfor -%}
    {{ return(pairs | unique(case_sensitive=true) | list) }}
{%- endmacro %}
