"""What declares a bot's commands already, read as values: files, and Discord's own list.

`reading` tells the kind of a file or folder by what it is. No code of a bot is run. `notes` has
what is written about a version.
"""
