"""What the last build found, to look at: one HTML file, Markdown or JSON."""
