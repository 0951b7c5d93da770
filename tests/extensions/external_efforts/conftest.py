"""Without the builders of hierarchies there is no table of a case study to compare tools on."""

from __future__ import annotations

from tests.extensions import has

collect_ignore = [] if has("hierarchy_builders") else ["study.py", "test_study.py"]
