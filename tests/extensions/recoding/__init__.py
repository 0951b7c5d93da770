"""Recodings whose levels differ per record."""
