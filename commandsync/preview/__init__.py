"""A preview: the bot's page as an apply would leave it, from values.

`cli` shows it while a manifest is edited, and the Action writes it as files.
"""
