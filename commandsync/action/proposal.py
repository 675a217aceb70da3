"""A proposal beside its base branch: the changes that decide where the token goes, and its checks.

Anybody who may push a branch can write another service into the manifest. So the token of the input
is handed over for the manifests of the run, and where a proposal names another service than the
base branch does, nothing is sent. `with_destinations` shows the changed keys before all else.

`checks_of` runs the checks that the inputs ask for, and returns a function that adds their results
to a verdict: an imported file that is not up to date with the code, documents that are not up to
date with the manifest.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple, NoReturn

from commandsync.action.inputs import GitHubEvent, Inputs
from commandsync.action.runner import say
from commandsync.action.verdict import Verdict, failed
from commandsync.diagnostics import Location
from commandsync.document.schemas import command_list_document
from commandsync.errors import CommandsyncError, RefusedError, UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.report import render_import, summary
from commandsync.report.commandlist import ListState, state_of, with_lists
from commandsync.report.github import Annotation
from commandsync.report.imports import import_annotations
from commandsync.report.json import dumped
from commandsync.report.lines import Screen, code, visible
from commandsync.sources.changeset import Import
from commandsync.sync.commands import commands_of
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.files import MOST_BYTES, read_file
from commandsync.sync.history import version_before
from commandsync.sync.importplan import plan_import
from commandsync.sync.settings import TOKEN_VARIABLE, Settings

_KEYS = ("base_url", "bot", "token_env")
_GIVE = "give the input base-url, or set the variable COMMANDSYNC_BASE_URL for the job"


class DestinationChange(NamedTuple):
    """A key of the manifest that decides where the token goes, and its values; empty for none."""

    key: str
    old: str
    new: str
    path: str  # the manifest


def hand_over_token(manifests: Sequence[Manifest], token: str, *, writes: bool) -> None:
    """Put the token of the input into the variable of each manifest.

    Raises `WrongBotError` if a run that writes has one token for manifests of several bots.
    """
    manifests = [manifest for manifest in manifests if manifest.has_page]
    variables = [manifest.token_env or TOKEN_VARIABLE for manifest in manifests]
    shared = len(manifests) > 1 if token else len(set(variables)) < len(variables)
    if writes and shared:
        raise WrongBotError(
            f"there is one token for {len(manifests)} manifests, and a token belongs to one bot",
            hint="give each manifest its own token_env: and set these variables instead of the "
            "input token, or use one job for each bot",
        )
    if token:
        os.environ.update(dict.fromkeys(variables, token))


def base_manifests(
    manifests: Sequence[Manifest], event: GitHubEvent, *, base_url: str
) -> dict[str, EarlierVersion]:
    """Load the manifests of the base branch of a proposal from git, by the paths of its own.

    One that the base branch does not have is empty, with no paths. If one cannot be read, there are
    none, and the log has the reason.

    Raises `RefusedError` if a token would be sent to a service that only the proposal names:
    without a `base_url` that overrides it.
    """
    if not event.proposes:
        return {}
    guarded = not base_url and any(map(_has_token, manifests))
    try:
        if not event.base_sha:
            raise UsageError("the event does not name its commit")
        found = {
            each.path: (version_before(event.base_sha, each) or _nothing(each.path))._replace(
                name=event.base_sha[:7]
            )
            for each in manifests
        }
    except CommandsyncError as error:
        message = f"the manifest of the base branch cannot be read: {error.message}"
        if guarded:
            why = "; without it the manifest's base_url must not decide where the token goes"
            raise RefusedError(message + why, hint=_GIVE) from error
        say(f"{message} ({error.hint})" if error.hint else message)
        return {}
    if guarded:
        _refuse_another_service(destination_changes(manifests, found))
    return found


def _nothing(path: str) -> EarlierVersion:
    """Return the version before a manifest was there."""
    return EarlierVersion("", Manifest(path))


def _refuse_another_service(changes: Iterable[DestinationChange]) -> None:
    for change in changes:
        if change.key == "base_url" and change.new:
            was = f"{change.old} in the base branch" if change.old else "not set in the base branch"
            message = f"this pull request sets base_url to {change.new}, and it is {was}"
            raise RefusedError(f"{message}: the token is not sent", hint=_GIVE)


def destination_changes(
    manifests: Sequence[Manifest], bases: Mapping[str, EarlierVersion]
) -> Iterator[DestinationChange]:
    """Yield the changes of a proposal that decide where the token goes."""
    for manifest in manifests:
        for key in _KEYS if manifest.path in bases else ():
            old, new = getattr(bases[manifest.path].manifest, key), getattr(manifest, key)
            if old != new:
                yield DestinationChange(key, old, new, manifest.path)


def with_destinations(
    verdict: Verdict,
    manifests: Sequence[Manifest],
    bases: Mapping[str, EarlierVersion],
    *,
    overridden: Mapping[str, str],
) -> Verdict:
    """Return a verdict that begins with changes of where the token goes.

    Those of the keys that are `overridden` by a setting do not count, nor does a first manifest.
    """
    known = {path: base for path, base in bases.items() if base.manifest.paths}
    changes = [
        change for change in destination_changes(manifests, known) if not overridden.get(change.key)
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


def _has_token(manifest: Manifest) -> bool:
    return bool(os.environ.get(manifest.token_env or TOKEN_VARIABLE, "").strip())


def _shown(value: str) -> str:
    return code(value) if value else "not set"


def checks_of(
    manifests: Sequence[Manifest], settings: Settings, inputs: Inputs, screen: Screen
) -> Callable[[Verdict], Verdict]:
    """Check the files beside manifests; return a function that adds the results to a verdict."""
    imports = [
        plan_import(replace(settings, files=(each.path,)), [], registered=_refuse_requests)
        for each in manifests
        if inputs.import_check
    ]
    lists = _outdated_lists(manifests, inputs.docs_check)
    return lambda verdict: _with_lists(_with_imports(verdict, imports, screen), lists)


def _outdated_lists(manifests: Sequence[Manifest], paths: Sequence[str]) -> list[Location]:
    """Return the places of command lists in documents that differ from the manifest.

    The lock of the Action has no templates: it cannot draw a page to compare one with.
    """
    if not (manifests and paths):
        return []
    if len(manifests) != 1:
        raise UsageError("docs-check takes one manifest", hint="use one job for each")
    commands = commands_of(manifests[0])
    lists: list[tuple[Location, ListState]] = []
    for path in paths:
        suffix = PurePath(path).suffix.lower()
        if suffix == ".html":
            message = f"docs-check compares Markdown and JSON files, and {path} is a page"
            hint = "check it in a step of its own: commandsync docs needs the extra [html] there"
            raise UsageError(message, hint=hint)
        text = read_file(path, most=MOST_BYTES).decode("utf-8", "replace")
        if suffix == ".json":
            document = dumped(command_list_document(commands))
            lists.append((Location(path), state_of(text, document)))
        else:
            lists += with_lists(text, commands, path=path).lists
    return [at for at, state in lists if state is not ListState.CURRENT]


def _refuse_requests(_: str) -> NoReturn:
    """Refuse to read from Discord: a check needs no token of its own."""
    raise UsageError(
        "import-check reads files and code, not the commands that are registered at Discord",
        hint="remove discord from import: of the manifest, or the input import-check",
    )


def _with_imports(verdict: Verdict, imports: Sequence[Import], screen: Screen) -> Verdict:
    """Return a verdict that also fails if a manifest is not up to date with its sources."""
    outdated = [result for result in imports if result.files or result.fails_check]
    if not outdated:
        return verdict
    notes = [note for result in outdated for note in import_annotations(result)]
    texts = [render_import(result, screen=screen) for result in outdated]
    pages = [render_import(result, format="markdown", screen=screen) for result in outdated]
    heading = "**The imported file is not up to date with the code**: run `commandsync import`.\n"
    return failed(verdict, notes, text=texts, markdown=[heading, *pages])


def _with_lists(verdict: Verdict, outdated: Sequence[Location]) -> Verdict:
    """Return a verdict that also fails if lists of commands in documents are not up to date."""
    if not outdated:
        return verdict
    message, hint = "the list of commands is not up to date", "run commandsync docs"
    notes = [Annotation("error", "Command list", message, hint, at) for at in outdated]
    count, advice = summary.counted(len(outdated), "list"), f"{hint.capitalize()}.\n"
    texts = [*(f"{visible(str(at))}: {message}" for at in outdated), advice]
    page = f"**Not up to date with the manifest: {count} of commands**. {advice}"
    return failed(verdict, notes, text=texts, markdown=[page])
