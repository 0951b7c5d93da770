"""Case studies build their hierarchies and recode: without these extensions none is collected."""

from tests.extensions import has

collect_ignore_glob = [] if has("hierarchy_builders") and has("recoding") else ["*.py"]
if not has("differential_privacy"):
    collect_ignore_glob += [
        "differential_privacy.py",
        "test_differential_privacy.py",
        "__main__.py",
    ]
if not has("payouts"):
    collect_ignore_glob += ["test_payouts.py"]
if not has("tables"):
    collect_ignore_glob += ["tables.py", "test_income_tables.py", "__main__.py"]
