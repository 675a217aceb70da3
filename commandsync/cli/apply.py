"""`commandsync apply`: the listing is changed to match the manifest; see `application`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import option, options
from commandsync.cli.options import (
    EVERY_FORMAT,
    SERVICE,
    Run,
    RunCommand,
    force_option,
    manifest_arguments,
    source_of,
    yes_option,
)
from commandsync.sync import setting

if TYPE_CHECKING:
    from commandsync.plan.rules import DeleteLimit


@click.command("apply", cls=RunCommand, formats=EVERY_FORMAT)
@manifest_arguments
@option(setting.PLAN_FILE)
@option(setting.DRY_RUN)
@yes_option
@option(
    "--backup PATH",
    "If there are changes, first write the listed records, with ids, as a manifest.",
)
@options(setting.OWNED, setting.UNSEEN, setting.UNORDERED)
@force_option
@options(setting.FILES, setting.STRICT, setting.PRUNE, setting.MAX_DELETES, setting.ONLY)
@options(
    *SERVICE,
    setting.RETRIES,
    setting.CONCURRENCY,
    setting.LISTING,
    setting.GUILD,
    setting.SINCE,
    setting.STATE,
)
def apply_command(  # noqa: PLR0913 - its own options
    run: Run,
    /,
    *,
    plan_file: str,
    dry_run: bool,
    yes: bool,
    backup: str | None,
    owned: bool,
    unseen: bool,
    unordered: bool,
    force: bool,
    manifests: tuple[str, ...],
    files: tuple[str, ...],
    strict: bool,
    prune: bool,
    max_deletes: DeleteLimit | None,
    only: str,
    base_url: str,
    bot: str,
    token_file: str,
    env_file: Mapping[str, str] | None,
    timeout: float,
    insecure_http: bool,
    retries: int,
    concurrency: int,
    listing: tuple[str, ...],
    guild: str,
    since: str,
    state: str,
) -> int:
    """Make the listing match the manifest.

    Shows the plan and asks first. Whatever fails, run it again: it finishes the work, and does
    nothing twice.

    \b
    Example:
      commandsync apply                                # shows, asks, applies
      commandsync apply --yes --backup before.yaml     # in CI
      commandsync apply --plan plan.json --yes         # what was reviewed
    """
    from commandsync.cli.application import Choices, apply_plans

    settings = replace(
        run.settings,
        files=files + manifests,
        strict=strict,
        prune=prune,
        max_deletes=max_deletes,
        only=only,
        base_url=base_url,
        base_url_from=source_of(setting.BASE_URL),
        bot=bot,
        bot_from=source_of(setting.BOT),
        token_file=token_file,
        env_file=env_file,
        timeout=timeout,
        insecure_http=insecure_http,
        retries=retries,
        concurrency=concurrency,
        listing=listing,
        guild=guild,
        since=since,
        state=state,
        owned=owned,
        unseen=unseen,
    )
    choices = Choices(
        asks=not (yes or dry_run),
        plan_file=plan_file,
        dry_run=dry_run,
        backup=backup or "",
        unordered=unordered,
        force=force,
    )
    return apply_plans(run._replace(settings=settings), choices)
