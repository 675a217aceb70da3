"""What `init` writes: a manifest that is valid as it stands and explains itself."""

from __future__ import annotations

from commandsync.manifest.dump import target_lines

_STARTER = """\
# yaml-language-server: $schema={schema}
#
# Your bot's public commands. Check this file with `commandsync validate`, see what would change
# with `commandsync plan`, and make the listing match with `commandsync apply`.

version: 1

# Which bot, and on which listing service. --bot and --base-url, or COMMANDSYNC_BOT and
# COMMANDSYNC_BASE_URL, do as well. The token never stands here: it comes from COMMANDSYNC_TOKEN.
{target}

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


_EXAMPLE = {
    "bot": '# bot: "779641401482805289"',
    "base_url": "# base_url: https://listing.example",
}


def starter(schema: str = "./commands.schema.json", *, bot: str = "", base_url: str = "") -> str:
    """Return the text of a starter manifest.

    Args:
        schema: Where the editor finds the JSON Schema, relative to the manifest.
        bot: The bot's id; an example in a comment when empty.
        base_url: The service's base URL; as above.

    Raises:
        FileError: The bot's id is nothing that a file can hold.
    """
    known = {line.partition(":")[0]: line for line in target_lines(bot=bot, base_url=base_url)}
    return _STARTER.replace("{schema}", schema).replace(
        "{target}", "\n".join((_EXAMPLE | known).values())
    )
