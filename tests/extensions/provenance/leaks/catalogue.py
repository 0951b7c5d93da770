"""The catalogue of planted leaks: which check finds each, or why none has to."""

from __future__ import annotations

from tests.extensions.provenance.leaks.in_release import IN_RELEASE
from tests.extensions.provenance.leaks.in_source import IN_SOURCE

LEAKS = (*IN_RELEASE, *IN_SOURCE)
