"""The sources of a bot's commands, read as values: code, lists in files, and Discord's own list.

`reading` finds the kind of a file or folder and reads its commands as entries (`entry`); no code of
a bot is run. `merge` compares them with the last import (`imported`) and with the manifest; the
result is a `changeset`.
"""
