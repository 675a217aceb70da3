"""The command line: options -> core -> render; one file per command."""
