"""Attack a release as its reader would, each module in one way; what that gives are numbers.

All know what ``known`` holds and read what ``released`` holds. Importing this package is cheap:
dbt, pandas and scikit-learn are imported when needed.
"""

from dbt_anonymize.verify.attacks.result import AttackResult, findings
from dbt_anonymize.verify.attacks.running import run_attacks

__all__ = ["AttackResult", "findings", "run_attacks"]
