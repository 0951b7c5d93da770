"""The check of `verify`: a linked release computed and counted again, and attacked."""
