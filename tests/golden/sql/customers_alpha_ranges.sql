select
    alpha_from,
    alpha_to,
    effort,
    (alpha_from > 0 and alpha_to is not null) or (alpha_from = 0 and alpha_to is null) as is_usable
from "shop"."main"."customers_results"
where alpha_from is not null
order by alpha_from
