"""Tests of the evaluation of models."""
