"""Bridges to bot frameworks; each is imported by its own name, and none by the package itself."""
