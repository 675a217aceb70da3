"""The first manifest of a bot, made of answers and of the commands in its code.

`Answers` says where the bot is listed, and where its commands are. `begin` writes the head of the
manifest, with the losses that each service is known for, and imports the commands beside it: where
a page lists a command with another text, an entry of the manifest has that text. The result is a
set of files, which are valid together. The workflow for GitHub calls the Action's own one.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.diagnostics import Do
from commandsync.errors import CommandsyncError, UsageError
from commandsync.manifest.checks import with_prefix
from commandsync.manifest.dump import Shared, fields_of, starter
from commandsync.manifest.source import MOST_BYTES
from commandsync.manifest.yamltext import entry_lines
from commandsync.records.rewrites import folded
from commandsync.records.snapshot import ImportedFile, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import LISTS
from commandsync.services.service import ListService
from commandsync.sources.changeset import FileEdit, Import
from commandsync.sources.entry import SourceReading
from commandsync.sync import DEFAULT_MANIFESTS, SCHEMA
from commandsync.sync.earlier import git
from commandsync.sync.files import read_text, relative
from commandsync.sync.importplan import EXAMPLES, import_key, plan_import, prefix_key
from commandsync.sync.importsource import RecordedCommands
from commandsync.sync.settings import (
    DISCORD_VARIABLE,
    TOKEN_VARIABLE,
    Settings,
    repository_root,
)

DISCORD = "discord"
_ATTRIBUTE = "*.imported.yaml linguist-generated=true"
_WORKFLOWS = ".github/workflows"

_HEAD = """\
# yaml-language-server: $schema=./{schema}
#
# Your bot's public commands. Check this file with `commandsync validate`, see what would change
# with `commandsync plan`, and make the listings match with `commandsync apply`. Tokens are never in
# this file.
"""
_EXAMPLES = "commands:\n" + "\n".join(
    f"  - name: {name}\n    description: {text}\n    syntax: /{name}\n"
    for name, text in EXAMPLES.items()
)
_WORKFLOW = """\
name: Commands
on:
  pull_request:
  push:
    branches: [{branch}]
  schedule:
    - cron: "17 3 * * *"
  workflow_dispatch:
    inputs:
      apply: {{description: "The allowed deletes", type: choice, options: [reviewed, current]}}
      max-deletes: {{description: "The deletes that are allowed this time"}}

permissions: # the most that a job gets
  {{actions: read, contents: read, deployments: write, issues: write,
  pull-requests: write, statuses: write}}

jobs:
  commands:
    # OWNER has the repository of the Action; COMMIT is the full id of a commit that you reviewed.
    uses: OWNER/commandsync/.github/workflows/sync.yml@COMMIT
    with:
      environment: listing
{inputs}    secrets:
{secrets}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of a user; the page is an address, whose listed commands stay."""

    services: Sequence[str] = ()  # the names of the services that take whole lists
    registers: bool = False  # whether commandsync registers the commands at Discord
    registered: bool = False  # whether the bot itself does: then Discord can be a source
    base_url: str = ""
    bot: str = ""
    sources: Sequence[str] = ()  # the code, relative to the working folder
    recorded: RecordedCommands | None = None
    listed: Snapshot | None = None  # the records on the page; None if it lists nothing
    adopted: str = ""  # a manifest of them
    prefix: str = ""
    program: str = ""  # the command line that registers the commands, to be recorded later
    workflow: bool = False

    @property
    def has_examples(self) -> bool:
        """Whether nothing says the commands, so that the manifest begins with examples."""
        return not (self.sources or self.recorded or self.listed)


class NewManifest(NamedTuple):
    """The files of a first manifest; `result` is the import of its commands, if there is one."""

    edits: tuple[FileEdit, ...]
    result: Import | None


def services_of(names: Sequence[str]) -> list[ListService]:
    """Return known services by their names; raises `UsageError` for another one."""
    for name in names:
        if name not in LISTS:
            known = ", ".join((DISCORD, *LISTS))
            hint = f"known services are {known}; a page is named by its address"
            raise UsageError(f'"{name}" is not a known service', hint=hint)
    return [LISTS[name] for name in dict.fromkeys(names)]


def recommended_lossy(service: ListService) -> list[str]:
    """Return the fields that a service is known not to show."""
    kind = Resource.COMMAND
    return [name for name in (kind.group, kind.usage) if not service.facts.takes(name)]


def begin(settings: Settings, path: str, answers: Answers) -> NewManifest:
    """Return the files of a first manifest at a path, which does not exist yet.

    Raises:
        UsageError: A service is not known, or needs a bot's id that is not given.
        CommandsyncError: As `plan_import`.
    """
    services = services_of(answers.services)
    needing = [service.name for service in services if service.names_bot]
    if needing and not answers.bot:
        raise UsageError(f"{needing[0]} needs the bot's id", hint=Do.GIVE_BOT())
    text = _text(answers, services, path)
    if not (answers.sources or answers.recorded):
        return NewManifest((FileEdit(path, None, text),), None)

    def imported(text: str) -> Import:
        return plan_import(
            replace(settings, files=(path,)),
            (),
            registered=_not_registered,
            recorded=answers.recorded,
            begun={path: text.encode()},
        )

    result = imported(text)
    if answers.listed:
        entries = _entries(answers.listed, result.after, answers.prefix)
        lines = [line for values in entries for line in entry_lines(dict(values))]
        result = imported("\n".join([text, "commands:", *lines, ""])) if lines else result
    return NewManifest((*result.files, *_attributes(path)), result)


def _entries(listed: Snapshot, imported: ImportedFile, prefix: str) -> Iterator[Mapping[str, Any]]:
    """Yield an entry for each listed command, with the texts that are imported otherwise."""
    names = {folded(command.name) for command in imported.public}
    by_name = {folded(command.name): command for command in reversed(imported.public)}
    for entry in listed.collections.get(Resource.COMMAND, ()):
        text = CommandText(*entry.text)
        own = fields_of(text, Shared(prefix), Resource.COMMAND)
        command = by_name.pop(folded(text.name), None)
        if command is None:
            yield own | ({"own": True} if folded(text.name) in names else {})
            continue
        theirs = {
            "description": command.description,
            "syntax": with_prefix(command.syntax, prefix),
            "category": command.category,
        }
        values = {key: own.get(key, "") for key in theirs if getattr(text, key) != theirs[key]}
        if values:
            yield {"name": command.name, **values}


def _attributes(path: str) -> Iterator[FileEdit]:
    """Yield the edit that lets GitHub fold the imported file in a pull request."""
    file = (Path(path).parent / ".gitattributes").as_posix()
    before = read_text(file, most=MOST_BYTES) if os.path.lexists(file) else None
    if _ATTRIBUTE not in (before or ""):
        start = f"{before.rstrip()}\n" if before and before.strip() else ""
        yield FileEdit(file, before, f"{start}{_ATTRIBUTE}\n")


def _not_registered(_locale: str) -> SourceReading:
    raise AssertionError("a first manifest does not name Discord as a source")


def _text(answers: Answers, services: Sequence[ListService], path: str) -> str:
    """Return the manifest before its commands are imported."""
    if answers.has_examples and not (services or answers.registers or answers.prefix):
        return starter(f"./{SCHEMA}", bot=answers.bot, base_url=answers.base_url)
    keys = [*_keys(answers, services, Path(path).parent.as_posix())]
    if answers.adopted and not (answers.sources or answers.recorded):
        return _with_keys(answers.adopted, keys)
    target = {"bot": answers.bot, "base_url": answers.base_url}
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in target.items() if value)
    commands = [_EXAMPLES] if answers.has_examples else []
    return "\n".join([_HEAD.format(schema=SCHEMA), f"version: 1\n{head}", *keys, *commands])


def _with_keys(adopted: str, keys: Iterable[str]) -> str:
    """Return a manifest of listed records with keys, unless it has the prefix of their syntaxes."""
    given = [key for key in keys if not (key.startswith("prefix:") and "\nprefix:" in adopted)]
    return adopted.replace("version: 1\n", "\n".join(["version: 1", *given]), 1)


def _keys(answers: Answers, services: Sequence[ListService], near: str) -> Iterator[str]:
    """Yield the keys of a manifest beside its target and its commands."""
    if answers.prefix:
        yield prefix_key(answers.prefix)
    if services or answers.registers:
        lines = [f"  - service: {DISCORD}\n"] if answers.registers else []
        for service in services:
            lines.append(f"  - service: {service.name}\n")
            if lossy := recommended_lossy(service):
                lines.append(f"    lossy: [{', '.join(lossy)}] # not shown there\n")
        yield "".join(["listings:\n", *lines])
    if answers.sources or answers.recorded:
        program = answers.recorded.program if answers.recorded else ""
        yield import_key([relative(source, near) for source in answers.sources], "", program)


def token_variables(answers: Answers) -> dict[str, tuple[str, ...]]:
    """Return the variables of the tokens of each listing, the one to set first."""
    page = {answers.base_url: (TOKEN_VARIABLE,)} if answers.base_url else {}
    own = {DISCORD: (DISCORD_VARIABLE,)} if answers.registers else {}
    return page | own | {each.name: each.variables for each in services_of(answers.services)}


def workflow_path() -> str:
    """Return the path of the workflow, in the root of the repository."""
    return (Path(repository_root() or "") / _WORKFLOWS / "commands.yml").as_posix()


def has_workflows() -> bool:
    """Whether the repository has workflows, and not this one."""
    path = Path(workflow_path())
    return path.parent.is_dir() and not path.exists()


def workflow_text(answers: Answers, manifest: str) -> str:
    """Return the workflow that plans pull requests and applies the default branch."""
    root = repository_root() or "."
    file = relative(manifest, root)
    given = {"base-url": answers.base_url, "file": "" if file in DEFAULT_MANIFESTS else file}
    inputs = "".join(f"      {key}: {json.dumps(value)}\n" for key, value in given.items() if value)
    variables = [names[0] for names in token_variables(answers).values()]
    secrets = "".join(f"      {name}: ${{{{ secrets.{name} }}}}\n" for name in variables)
    branch, _ = default_branch()
    branch = branch if branch.isalnum() else json.dumps(branch)
    return _WORKFLOW.format(branch=branch, inputs=inputs, secrets=secrets)


def default_branch() -> tuple[str, bool]:
    """Return the branch that the workflow applies, and whether it is known to be the default one.

    A clone knows the default branch of its remote repository. Otherwise it is the present branch.
    """
    root = repository_root() or "."
    for ref, prefix in (("refs/remotes/origin/HEAD", "origin/"), ("HEAD", "")):
        with suppress(CommandsyncError):
            name = git(root, "symbolic-ref", "--short", ref).decode(errors="replace").strip()
            return name.removeprefix(prefix), bool(prefix)
    return "main", False
