"""A preview: the bot's page as an apply would leave it, from a service in memory.

It is applied by the same core as on the real service. `cli` shows it while a manifest is edited,
and the Action writes it as files.
"""
