"""An announcement on the command line: read, shown, approved, and written or posted."""

from functools import partial

from commandsync.cli.application import Choices, apply_planned
from commandsync.cli.approval import (
    changed_lines,
    check_terminal,
    confirm,
    decline,
    write_approved,
)
from commandsync.cli.options import Run
from commandsync.cli.output import command_line
from commandsync.diagnostics import Notice
from commandsync.errors import Exit, UsageError
from commandsync.records.texts import AnnouncementText
from commandsync.report.lines import visible
from commandsync.sources.notes import Notes, bare
from commandsync.sync.announcement import (
    AnnouncementPlan,
    Announcing,
    announcement_of,
    plan_announcement,
    posting,
    posting_whole,
    with_mentions,
)
from commandsync.sync.settings import load_to_edit

_NOTHING = "Nothing to announce."


def announce(run: Run, announcing: Announcing, *, posts: bool, asks: bool) -> int:
    """Add an announcement to the manifest, or post it; return the exit code."""
    output, settings = run.output, run.settings
    if settings.listing and not posts:
        raise UsageError("--listing needs --post", hint="only the page is synced: add --post")
    if asks:
        check_terminal("announce", "--yes writes without asking")
    announcement = announcement_of(
        announcing, changes=partial(_changes, run), mentioned=partial(with_mentions, settings)
    )
    if isinstance(announcement, Notice):
        output.notices([announcement])
        output.result(_NOTHING)
        return Exit.DONE
    if settings.listing:
        return _post(run, announcement.text, asks=asks)
    plan = plan_announcement(settings, announcement, posts=posts)
    if plan.difference:
        output.notices([plan.difference])
        output.result(_NOTHING)
        return Exit.DONE
    if not posts:
        return _add(run, plan, asks=asks)
    with posting(settings, plan, source=announcing.source) as planned:
        return apply_planned(planned, run, Choices(asks=asks))


def _post(run: Run, text: AnnouncementText, *, asks: bool) -> int:
    """Post an announcement at a service that does not return it; return the exit code."""
    from commandsync.cli.call import Writer

    output = run.output
    with posting_whole(run.settings, text) as (connection, site, operation):
        name = site.service.name
        lines = [text.title, "", *text.description.splitlines()]
        output.talk("\n".join(map(visible, lines)), at=-1 if asks else 0)
        if asks and not confirm(f"\nPost this at {name}?"):
            decline(output)
            return Exit.FAILED
        writer = Writer(connection, site, run, bot="", check=f"the bot's page at {name}")
        return writer.write(operation, f'posted "{visible(text.title)}" at {name}')


def _changes(run: Run, announcing: Announcing) -> Notes | Notice:
    """Return the changes for users since an earlier manifest; its notices are printed."""
    from commandsync.report.usersentences import NOTHING, sentence_list
    from commandsync.sync.earlier import changes_since

    changes = changes_since(announcing.since, load_to_edit(run.settings, {}, what="announce"))
    run.output.notices(changes.notices)
    text = sentence_list(changes)
    return (
        Notes(text=text, version=bare(announcing.version)) if text else Notice(NOTHING.rstrip("."))
    )


def _add(run: Run, plan: AnnouncementPlan, *, asks: bool) -> int:
    """Write the announcement into the manifest; return the exit code."""
    output = run.output
    if plan.file is None:
        where = f" at {visible(str(plan.own.location))}" if plan.own else ""
        output.result(f"Nothing to announce: the manifest has it{where}.")
        return Exit.DONE
    remarks = [plan.remark] if plan.remark else []
    shown = changed_lines([plan.file], "Announce: 1 to add.")
    if not write_approved(run, [plan.file], shown, notices=remarks, asks=asks):
        return Exit.FAILED
    output.talk(f"next: {command_line('apply', files=run.settings.files)} posts it")
    return Exit.DONE
