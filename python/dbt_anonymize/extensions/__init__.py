"""Optional parts of an anonymization, each in a folder of its own."""
