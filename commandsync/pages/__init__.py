"""The pages for people, from values: a bot, the list of bots, voters, the commands of a manifest.

The embedded service shows what is listed, and `docs` the commands of a manifest (extra `[html]`).
"""
