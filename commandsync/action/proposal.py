"""A proposal: its files beside the manifests, the service that it names, and its news for users.

`outdated_files` compares an imported file with its sources, and lists of commands in documents with
the manifest. `base_manifests` loads the manifests of the base branch: anybody who may push a branch
can write another service into a manifest, so no token is sent to a service that only the proposal
names. The verdict of the proposal then begins with these findings (`with_outdated`,
`with_user_changes`, `with_destinations`).
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple, NoReturn

from commandsync.action.step import Context, GitHubEvent, say
from commandsync.action.verdict import Verdict, failed
from commandsync.diagnostics import Location
from commandsync.errors import CommandsyncError, RefusedError, UsageError
from commandsync.manifest import Manifest
from commandsync.records.texts import counted
from commandsync.report import render_import
from commandsync.report.github import Annotation
from commandsync.report.lines import Screen, code, visible
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.files import MOST_BYTES, read_file
from commandsync.sync.history import version_before
from commandsync.sync.settings import TOKEN_VARIABLE

_MOST_SENTENCES = 10
_KEYS = ("base_url", "bot", "token_env")
_GIVE = "give the input base-url, or set the variable COMMANDSYNC_BASE_URL for the job"


class DestinationChange(NamedTuple):
    """A key of the manifest that decides where the token goes, and its values; empty for none."""

    key: str
    old: str
    new: str
    path: str  # the manifest


class Outdated(NamedTuple):
    """Files that are not up to date, as the log, the summary and the annotations show them."""

    text: Sequence[str]
    markdown: Sequence[str]
    notes: Sequence[Annotation]


def outdated_files(context: Context, manifests: Sequence[Manifest]) -> list[Outdated]:
    """Return the files beside manifests that are not up to date, of those to check.

    A check for drift has none. Raises `UsageError` for an input that does not fit the manifests.
    """
    if context.mode == "drift":
        return []
    checks = (_outdated_imports(context, manifests), _outdated_lists(context, manifests))
    return [outdated for outdated in checks if outdated]


def _outdated_imports(context: Context, manifests: Sequence[Manifest]) -> Outdated | None:
    """Return the imported files that are not up to date with their sources."""
    if not context.inputs.import_check:
        return None
    # Only this check loads the readers of code.
    from commandsync.report.imports import import_annotations  # noqa: PLC0415 - as above
    from commandsync.sync.importplan import plan_import  # noqa: PLC0415 - as above

    def refuse_requests(_: str) -> NoReturn:  # a check needs no token of its own
        raise UsageError(
            "import-check reads files and code, not the commands that are registered at Discord",
            hint="remove discord from import: of the manifest, or the input import-check",
        )

    imports = [
        plan_import(
            replace(context.settings, files=(manifest.path,)), [], registered=refuse_requests
        )
        for manifest in manifests
    ]
    outdated = [result for result in imports if result.files or result.fails_check]
    if not outdated:
        return None
    heading = "**The imported file is not up to date with the code**: run `commandsync import`.\n"
    pages = [render_import(each, format="markdown", screen=context.screen) for each in outdated]
    return Outdated(
        text=[render_import(result, screen=context.screen) for result in outdated],
        markdown=[heading, *pages],
        notes=[note for result in outdated for note in import_annotations(result)],
    )


def _outdated_lists(context: Context, manifests: Sequence[Manifest]) -> Outdated | None:
    """Return the command lists in documents that differ from the manifest.

    The lock of the Action has no templates: it cannot draw a page to compare one with.
    """
    paths = context.inputs.docs_check
    if not (manifests and paths):
        return None
    if len(manifests) != 1:
        raise UsageError("docs-check takes one manifest", hint="use one job for each")
    from commandsync.document.schemas import command_list_document  # noqa: PLC0415 - loads pydantic
    from commandsync.report import commandlist  # noqa: PLC0415 - seldom needed
    from commandsync.report.json import dumped  # noqa: PLC0415 - as above
    from commandsync.sync.commands import commands_of  # noqa: PLC0415 - as above

    commands = commands_of(manifests[0])
    lists: list[tuple[Location, commandlist.ListState]] = []
    for path in paths:
        suffix = PurePath(path).suffix.lower()
        if suffix == ".html":
            message = f"docs-check compares Markdown and JSON files, and {path} is a page"
            hint = "check it in a step of its own: commandsync docs needs the extra [html] there"
            raise UsageError(message, hint=hint)
        text = read_file(path, most=MOST_BYTES).decode("utf-8", "replace")
        if suffix == ".json":
            document = dumped(command_list_document(commands))
            lists.append((Location(path), commandlist.state_of(text, document)))
        else:
            lists += commandlist.with_lists(text, commands, path=path).lists
    outdated = [at for at, state in lists if state is not commandlist.ListState.CURRENT]
    if not outdated:
        return None
    message, hint = "the list of commands is not up to date", "run commandsync docs"
    count, advice = counted(len(outdated), "list"), f"{hint.capitalize()}.\n"
    return Outdated(
        text=[*(f"{visible(str(at))}: {message}" for at in outdated), advice],
        markdown=[f"**Not up to date with the manifest: {count} of commands**. {advice}"],
        notes=[Annotation("error", "Command list", message, hint, at) for at in outdated],
    )


def with_outdated(verdict: Verdict, outdated: Sequence[Outdated]) -> Verdict:
    """Return a verdict that also fails for files that are not up to date."""
    for text, markdown, notes in outdated:
        verdict = failed(verdict, notes, text=text, markdown=markdown)
    return verdict


def base_manifests(
    manifests: Sequence[Manifest], event: GitHubEvent, *, base_url: str
) -> dict[str, EarlierVersion]:
    """Load the manifests of a proposal as they are in its base branch, by their paths.

    A manifest that the base branch does not have is empty, with no paths. If one cannot be read,
    there are none, and the log has the reason. A run that is not for a proposal has none.

    Raises `RefusedError` if a token would be sent to a service that only the proposal names:
    without a `base_url` that overrides it.
    """
    if not event.proposes:
        return {}
    guarded = not base_url and any(map(_has_token, manifests))
    bases = {}
    try:
        if not event.base_sha:
            raise UsageError("the event does not name its commit")
        for manifest in manifests:
            base = version_before(event.base_sha, manifest)
            base = base or EarlierVersion("", Manifest(manifest.path))
            bases[manifest.path] = base._replace(name=event.base_sha[:7])
    except CommandsyncError as error:
        message = f"the manifest of the base branch cannot be read: {error.message}"
        if guarded:
            why = "; without it the manifest's base_url must not decide where the token goes"
            raise RefusedError(message + why, hint=_GIVE) from error
        say(f"{message} ({error.hint})" if error.hint else message)
        return {}
    if guarded:
        _refuse_another_service(_destination_changes(manifests, bases))
    return bases


def _has_token(manifest: Manifest) -> bool:
    return bool(os.environ.get(manifest.token_env or TOKEN_VARIABLE, "").strip())


def _refuse_another_service(changes: Iterable[DestinationChange]) -> None:
    for change in changes:
        if change.key == "base_url" and change.new:
            was = f"{change.old} in the base branch" if change.old else "not set in the base branch"
            message = f"this pull request sets base_url to {change.new}, and it is {was}"
            raise RefusedError(f"{message}: the token is not sent", hint=_GIVE)


def _destination_changes(
    manifests: Sequence[Manifest], bases: Mapping[str, EarlierVersion]
) -> list[DestinationChange]:
    """Return the changes of a proposal that decide where the token goes."""
    changes = []
    for manifest in manifests:
        for key in _KEYS if manifest.path in bases else ():
            old, new = getattr(bases[manifest.path].manifest, key), getattr(manifest, key)
            if old != new:
                changes.append(DestinationChange(key, old, new, manifest.path))
    return changes


def with_user_changes(
    verdict: Verdict,
    bases: Mapping[str, EarlierVersion],
    manifests: Sequence[Manifest],
    screen: Screen,
) -> Verdict:
    """Return a verdict that begins with the changes for users of each manifest.

    The manifests of the base branch are by the same paths, if they are known.
    """
    if not bases:
        return verdict
    from commandsync.plan.differences import user_changes  # noqa: PLC0415 - proposals alone have it
    from commandsync.report import usersentences  # noqa: PLC0415 - as above, and loads pydantic

    compared = {
        each.path: user_changes(old=bases[each.path].manifest.snapshot, new=each.snapshot)
        for each in manifests
        if each.path in bases
    }
    noticed = [(path, changes) for path, changes in compared.items() if changes.count]
    texts, pages = [], []
    for path, changes in noticed:
        of_several = f" of {code(path)}" if len(noticed) > 1 else ""
        texts.append(usersentences.text(changes, screen=screen))
        page = usersentences.sentence_list(changes, most=_MOST_SENTENCES)
        pages.append(f"**Changes for users{of_several}**\n\n{page}")
    return verdict.after(texts, pages)


def with_destinations(
    verdict: Verdict,
    manifests: Sequence[Manifest],
    bases: Mapping[str, EarlierVersion],
    *,
    overridden: Mapping[str, str],
) -> Verdict:
    """Return a verdict that begins with the changed destinations of the token.

    A key that is `overridden` by a setting does not count, nor does a first manifest.
    """
    known = {path: base for path, base in bases.items() if base.manifest.paths}
    changes = [
        change
        for change in _destination_changes(manifests, known)
        if not overridden.get(change.key)
    ]
    if not changes:
        return verdict
    keys = ", ".join(dict.fromkeys(f"`{change.key}`" for change in changes))
    notes = [f"`{each.key}` was {_shown(each.old)} and is {_shown(each.new)}." for each in changes]
    warnings = (
        Annotation(
            "warning",
            "Changed destination",
            f"{change.key} was {change.old or 'not set'} and is {change.new or 'not set'}",
            "the token goes there after the merge",
            Location(change.path),
        )
        for change in changes
    )
    behind = verdict.after([*notes, ""], [*notes, ""], warnings)
    return replace(behind, title=f"this pull request changes {keys}")


def _shown(value: str) -> str:
    return code(value) if value else "not set"
