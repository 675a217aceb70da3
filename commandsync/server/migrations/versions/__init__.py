"""The versions of the schema, one file each."""
