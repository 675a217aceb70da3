"""What declares a bot's commands already, read as values: files, and Discord's own list.

Each reader returns a `SourceReading`; nothing here runs a bot's code.
"""
