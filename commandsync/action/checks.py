"""Checks of the files beside a manifest: its sources, and the documents with command lists."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

from commandsync.diagnostics import Location
from commandsync.errors import UsageError
from commandsync.manifest import Manifest
from commandsync.sources.merge import Import
from commandsync.sync.files import read_file
from commandsync.sync.imports import plan_import
from commandsync.sync.settings import Settings

_LARGEST_DOCUMENT = 32 * 1024 * 1024  # bytes


def imports_of(manifests: Sequence[Manifest], settings: Settings) -> list[Import]:
    """Return what an import of each manifest would change."""
    return [
        plan_import(replace(settings, files=(each.path,)), [], registered=_refuse_requests)
        for each in manifests
    ]


def outdated_lists(manifests: Sequence[Manifest], paths: Sequence[str]) -> list[Location]:
    """Return the places of command lists in documents that are not those of the manifest."""
    if not (manifests and paths):
        return []
    if len(manifests) != 1:
        raise UsageError("docs-check takes one manifest", hint="use one job for each")
    from commandsync.report.markdownfile import State, with_lists  # noqa: PLC0415 - parses Markdown

    commands = manifests[0].snapshot.commands
    texts = {path: read_file(path, most=_LARGEST_DOCUMENT) for path in paths}
    files = [
        with_lists(text.decode("utf-8", "replace"), commands, path=path)
        for path, text in texts.items()
    ]
    return [at for file in files for at, state in file.lists if state is not State.CURRENT]


def _refuse_requests(_: str) -> NoReturn:
    """Refuse to read what is registered with Discord: a check needs no token of its own."""
    raise UsageError(
        "import-check reads files and code, not what is registered with Discord",
        hint="remove discord from import: of the manifest, or the input import-check",
    )
