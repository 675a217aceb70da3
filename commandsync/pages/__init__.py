"""The pages for people, from values: a bot, the list of bots, voters, the commands of a manifest.

The embedded service gives it what is listed, and a preview what an apply would leave (extra
`[preview]`).
"""
