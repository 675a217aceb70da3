"""What `init` writes: a manifest that is valid as it stands and explains itself."""

from __future__ import annotations

_STARTER = """\
# yaml-language-server: $schema={schema}
#
# Your bot's public commands. Check this file with `commandsync validate`, see what would change
# with `commandsync plan`, and make the listing match with `commandsync apply`.

version: 1

# Which bot, and on which listing service. --bot and --base-url, or COMMANDSYNC_BOT and
# COMMANDSYNC_BASE_URL, do as well. The token never stands here: it comes from COMMANDSYNC_TOKEN.
# bot: "779641401482805289"
# base_url: https://listing.example

# What {prefix} in a syntax stands for.
prefix: "/"

defaults:
  category: General

sync:
  prune: true # delete listed commands that are not in this file
  # max_deletes: 10% # what one run may delete; when left out 30 %, and always 3

commands:
  - name: help
    description: Shows what the bot can do.
    syntax: "{prefix}help [command]"

  - name: ping
    description: Says how quickly the bot answers.
    syntax: "{prefix}ping"
    category: Tools
    # formerly: [latency] # a rename keeps the command's id and uses

# Announcements are managed only when the key is there.
# announcements:
#   - title: v2.0 is out
#     description: Slash commands everywhere.
"""


def starter(schema: str = "./commands.schema.json") -> str:
    """Return the text of a starter manifest.

    Args:
        schema: Where the editor finds the JSON Schema, relative to the manifest.
    """
    return _STARTER.replace("{schema}", schema)
