"""The job, as values in and values out: settings, reading, planning, applying, exit codes."""

DEFAULT_MANIFEST = "commands.yaml"
