"""Plans and results as JSON: written, described by a schema, and read back."""
