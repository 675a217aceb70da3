"""The sources of a bot's commands, read as values: code, lists in files, and Discord's own list.

`reading` finds the kind of a file or folder and reads its commands as entries (`entry`); no code of
a bot is run. `importing` compares them with the last imported file, and makes the next one; the
differences, and the tasks that are left, are a `changeset`.
"""
