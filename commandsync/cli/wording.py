"""What can be done about a problem, in options and commands of the command line."""

import shlex
from collections.abc import Iterable

from commandsync.diagnostics import Do

OPTIONS = {
    Do.ALLOW_DELETES: "if that is meant, allow it with --max-deletes {limit}",
    Do.ALLOW_DELETES_OF_NEW_PLAN: "if that is meant, make a new plan with --max-deletes {limit}",
    Do.ANNOUNCE_UNRELEASED: "--{kind} announces it",
    Do.APPLY_ALL: "{first}, or apply without --owned",
    Do.APPLY_PLAN: "apply --plan applies it; -f names a manifest",
    Do.DELETE_ALONE: "{mend}; or make the deletes alone, with apply --only NAMES",
    Do.GIVE_BASE_URL: (
        "give --base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest"
    ),
    Do.GIVE_BOT: (
        "give --bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token from the "
        "bot's page, which contains the id"
    ),
    Do.GIVE_PREFIX: 'give the prefix: --prefix "!"',
    Do.GIVE_SOURCE: "give --changelog, --event, --notes-file or --since",
    Do.GIVE_TOKEN: (
        "give the bot's token: COMMANDSYNC_TOKEN (or the variable in token_env), or --token-file"
    ),
    Do.KEEP_LIMITS: (
        "leave out --file, --max-deletes, --no-prune, --only, --owned and --strict, or make a "
        "new plan"
    ),
    Do.KEEP_TARGET: "leave out --bot and --base-url (and their variables), or make a new plan",
    Do.MAKE_PLAN: "make the plan again with plan --out{then}",
    Do.MERGE_LISTED: "commandsync pull --merge adds what is listed already",
    Do.NAME_MANIFEST: "name its file with -f",
    Do.POST_LATER: "without --post it is added to the manifest, and posted by the next apply",
    Do.RENEW_TOKEN: (
        "copy the bot's token again from the service's page into the variable or file"
    ),
    Do.REPLACE_FILE: "--force replaces it",
    Do.REPLACE_UNSEEN: (
        "if that is meant, allow it with --unseen, or compare with what was sent last: --since REF"
    ),
    Do.SHOW_WHOLE: "--full also shows {columns}",
    Do.SET_TOKEN: "set {variable}, or give --token-file",
    Do.UNSET_BOT: "unset {variable}, or choose the bot with --bot",
    Do.USE_HTTPS: "use https://, or --insecure-http if you are certain",
    Do.WRITE_STARTER: "commandsync init writes a starter; -f names another file",
}


def command_line(command: str, *words: str, files: Iterable[str] = ()) -> str:
    """Return the line that runs a command of this program on some manifests."""
    named = (word for file in files for word in ("-f", file))
    return shlex.join(["commandsync", command, *named, *words])
