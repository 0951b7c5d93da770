"""Specs of which the models have keys that other specs do not give."""

from tests.extensions.recoding import wages

SPECS = wages.SPECS
