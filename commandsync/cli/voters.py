"""`commandsync voters`: who voted for the bot."""

import click

from commandsync.cli.help import Group
from commandsync.cli.options import Run, call_options, paging_options
from commandsync.errors import Exit


@click.group("voters", cls=Group)
def voters_command() -> None:
    """Show who voted for the bot.

    \b
    Example:
      commandsync voters list --all
      commandsync voters check 80351110224678912 && echo "voted"
    """


@voters_command.command("list")
@paging_options(limit=100)
@call_options
def list_command(run: Run, /, *, page: int, limit: int, every: bool) -> None:
    """List the bot's voters, a page of them or all.

    \b
    Example:
      commandsync voters list
      commandsync voters list --all --format json
    """
    from commandsync.cli.call import open_client, show_records

    with open_client(run.settings) as (client, site):
        if every:
            voters = tuple(client.iter_voters())
            show_records("voters", voters, site=site, output=run.output)
        else:
            answer = client.get_voters(page=page, limit=limit)
            show_records("voters", answer.voters, site=site, output=run.output, page=answer.queries)


@voters_command.command("check")
@click.argument("user", metavar="USER")
@call_options
def check_command(run: Run, /, *, user: str) -> int:
    """Show whether a user voted: exit 0 for yes, 3 for no.

    Only an answer of the service counts as a no; everything else is a failure.

    \b
    Example:
      commandsync voters check 80351110224678912
    """
    from commandsync.cli.call import open_client, quoted, show_call

    with open_client(run.settings) as (client, site):
        voted = client.check_vote(user)
    sentence = f"user {quoted('', user)} {'voted' if voted else 'has not voted'}"
    show_call(sentence, site=site, output=run.output, user=user, voted=voted)
    return Exit.DONE if voted else Exit.CHANGES
