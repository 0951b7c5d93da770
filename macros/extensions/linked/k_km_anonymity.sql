{% test k_km_anonymity(
    model, key, quasi_identifiers, k, tables, known_records=2, known_count=false, sensitive=[], l=none
) %}
{{ dbt_anonymize._explain(
    "subjects whom their own values and some linked records tell from all but fewer than k, or of whom they tell a"
    ~ " sensitive value, by the number of records; and problems of keys. Generalize further, or leave records out"
) }}
select known_records, subjects_at_risk, subjects_not_diverse, problem
from (
    {{ dbt_anonymize.joined_risk(
        {"relation": model, "key": key, "quasi_identifiers": quasi_identifiers, "sensitive": sensitive},
        tables, k, known_records, known_count, l
    ) }}
) as risks
where subjects_at_risk > 0 or subjects_not_diverse > 0 or problem is not null
{% endtest %}
