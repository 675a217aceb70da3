"""What can be done about a problem, in inputs of the Action."""

from commandsync.diagnostics import Do

_BY_HAND = "run the workflow by hand (event workflow_dispatch)"
_EMPTY = (
    "the input token and the variable {variable} are empty: is the secret defined under the name "
    "that the workflow uses, and does the job name its environment? Forks and Dependabot get no "
    "secrets"
)

INPUTS = {
    Do.ALLOW_DELETES: (
        "if that is meant, write max_deletes: {limit} below sync: of the manifest in this change, "
        f"or allow it once after the merge: {_BY_HAND} on the default branch, with the input "
        "max-deletes: {limit}"
    ),
    Do.ALLOW_DELETES_OF_NEW_PLAN: (
        "if that is meant, make a new plan with the input max-deletes: {limit}"
    ),
    Do.APPLY_ALL: "{first}, or " + _BY_HAND + " with the input apply: current",
    Do.APPLY_PLAN: "the input plan-file applies it; the input file names a manifest",
    Do.DELETE_ALONE: "{mend}",
    Do.GIVE_BASE_URL: (
        "give the input base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest"
    ),
    Do.GIVE_BOT: (
        "give the input bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token "
        "from the bot's page, which contains the id"
    ),
    Do.GIVE_TOKEN: "give the bot's token: the input token",
    Do.KEEP_LIMITS: "remove the inputs file, max-deletes and prune, or make a new plan",
    Do.KEEP_TARGET: "remove the inputs bot and base-url (and their variables), or make a new plan",
    Do.LOWER_CONCURRENCY: "run again later",
    Do.MAKE_PLAN: "make the plan again in the mode plan{then}",
    Do.NAME_MANIFEST: "name its file with the input file",
    Do.RAISE_TIMEOUT: "run again later",
    Do.RENEW_TOKEN: "copy the bot's token again from the service's page into the secret",
    Do.REPLACE_UNSEEN: f"if that is meant, {_BY_HAND} with the input apply: current",
    Do.SET_TOKEN: _EMPTY,
    Do.SET_VARIABLE: (
        "set {variable} below env: of the step (with sync.yml, below secrets:); is the secret "
        "defined, and does the job name its environment?"
    ),
    Do.UNSET_BOT: "unset {variable}, or choose the bot with the input bot",
    Do.USE_HTTPS: "use https://",
    Do.WRITE_STARTER: "commandsync init writes a starter; the input file names another file",
}
