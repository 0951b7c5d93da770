"""Case studies build their hierarchies: without the extension for that they are not looked at."""

from tests.extensions import has

collect_ignore = [] if has("hierarchy_builders") else ["test_case_studies.py"]
