"""Attack a release as somebody who reads it would, and report what that gives as numbers.

Each module is one attacker; ``known`` is what all of them know beforehand, ``released`` what they
read. Importing this package is cheap: dbt, pandas and scikit-learn are imported when needed.
"""

from dbt_anonymize.verify.attacks.result import AttackResult, findings
from dbt_anonymize.verify.attacks.running import run_attacks
from dbt_anonymize.verify.attacks.writing import write_attacks

__all__ = ["AttackResult", "findings", "run_attacks", "write_attacks"]
