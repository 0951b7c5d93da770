"""What an anonymization can do without, each in a folder of its own."""
