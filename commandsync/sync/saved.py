"""A saved plan: read from its file, bound to its listing, and compared with it before use."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.errors import FileError, StalePlanError, UsageError
from commandsync.sync.files import read_file
from commandsync.sync.job import Planned, connected
from commandsync.sync.progress import FilesRead
from commandsync.sync.settings import Settings, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.client.connection import Connection
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Snapshot
    from commandsync.sync.site import Site


@contextmanager
def saved_plan(settings: Settings, path: str, *, writes: bool) -> Iterator[Planned]:
    """Read a saved plan, and what is listed now; a run that writes needs this bot's token.

    Raises:
        FileError: The file cannot be read, or is not a saved plan.
        RefusedError: The plan is of another version, or for another listing than that of the flags.
        UsageError: A flag changes a setting that is saved in the plan.
        ListingError: The listing cannot be read.
    """
    from commandsync.document.saved import LARGEST_PLAN, load_plan  # noqa: PLC0415 - loads pydantic

    limited = settings.max_deletes is not None or not settings.prune
    if settings.files or limited or settings.only or settings.strict:
        raise UsageError(
            "a saved plan is applied as it is: it cannot be combined with a manifest or limits",
            hint="leave out --file, --max-deletes, --no-prune, --only and --strict, "
            "or make a new plan",
        )
    if path == "-":
        raise UsageError(
            "a saved plan is a file, and is not read from standard input",
            hint="save it with plan --out, and name that file",
        )
    start = monotonic()
    try:
        text = read_file(path, most=LARGEST_PLAN).decode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path} is not a saved plan: it is not text in UTF-8", hint="make one with plan --out"
        ) from error
    plan = replace(load_plan(text, path), saved=True, applied=settings.now)
    settings.on_progress(FilesRead([path], plan, monotonic() - start))
    site = _site(settings, plan)
    if writes:
        site.check_token()
    with connected(settings, [site]) as (connection,):
        yield _planned(plan, site, connection)


def _planned(plan: Plan, site: Site, connection: Connection) -> Planned:
    from commandsync.client.driver import SnapshotReading  # noqa: PLC0415 - loads requests

    listed = SnapshotReading(connection, plan.target.bot, plan.scope).result()
    return Planned(
        site=site,
        connection=connection,
        listed=listed,
        plan=_with_progress(plan, listed),
        again=lambda: _planned(plan, site, connection),
    )


def _with_progress(plan: Plan, listed: Snapshot) -> Plan:
    """Return the plan with a notice of the changes that are done already."""
    from commandsync.apply.ledger import State  # noqa: PLC0415 - loads with the plan
    from commandsync.apply.resume import progress_of  # noqa: PLC0415 - as above

    try:
        done = progress_of(plan, listed).count(State.DONE)
    except StalePlanError:
        return plan  # applying it is refused with this error
    if not done:
        return plan
    notice = Notice(
        f"{done} of its {len(plan.changes)} changes are done already and are not made again"
    )
    return replace(plan, notices=(*plan.notices, notice))


def _site(settings: Settings, plan: Plan) -> Site:
    """Return the plan's own listing; flags must not name another one."""
    bound = replace(
        settings,
        base_url=settings.base_url or plan.target.base_url,
        bot=settings.bot or plan.target.bot,
    )
    site = site_of(bound, None)
    if (site.address.base_url, site.bot) != (plan.target.base_url, plan.target.bot):
        raise StalePlanError(
            f"the plan is for bot {plan.target.bot} at {plan.target.base_url}, "
            f"not for bot {site.bot} at {site.address}",
            hint="leave out --bot and --base-url (and their variables), or make a new plan",
        )
    return site
