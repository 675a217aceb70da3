"""The checks of the files beside manifests, for a proposal that asks for them.

`checks_of` returns a function that adds their results to a verdict: an imported file that is not up
to date with the code, documents that are not up to date with the manifest. It is a module of its
own, since a run without them loads none of the readers of code.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NoReturn

from commandsync.action.step import Inputs
from commandsync.action.verdict import Verdict, failed
from commandsync.diagnostics import Location
from commandsync.document.schemas import command_list_document
from commandsync.errors import UsageError
from commandsync.manifest import Manifest
from commandsync.report import render_import, summary
from commandsync.report.commandlist import ListState, state_of, with_lists
from commandsync.report.github import Annotation
from commandsync.report.imports import import_annotations
from commandsync.report.json import dumped
from commandsync.report.lines import Screen, visible
from commandsync.sources.changeset import Import
from commandsync.sync.commands import commands_of
from commandsync.sync.files import MOST_BYTES, read_file
from commandsync.sync.importplan import plan_import
from commandsync.sync.settings import Settings


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
