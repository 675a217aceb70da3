"""The beginning: the first manifest of a bot, made of answers and of the commands in its code.

`Answers` says where the bot is listed, and where its commands are. `begin` writes the head of the
manifest, with the losses that each service is known for, and imports the commands into it: those
that a page lists stay, and the code is merged with them. The result is a set of files, which are
valid together. The workflow for GitHub calls the Action's own one.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from commandsync.diagnostics import Do
from commandsync.errors import UsageError
from commandsync.manifest.dump import starter
from commandsync.manifest.fileedits import with_key
from commandsync.records.texts import Resource
from commandsync.services.catalogue import LISTS
from commandsync.services.service import ListService
from commandsync.sources.changeset import FileEdit, Import
from commandsync.sources.entry import SourceReading
from commandsync.sync import DEFAULT_MANIFESTS, SCHEMA
from commandsync.sync.files import relative
from commandsync.sync.importplan import EXAMPLES, import_key, plan_import
from commandsync.sync.importsource import Recorded
from commandsync.sync.settings import TOKEN_VARIABLE, Settings, repository_root

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
    branches: [main]
  schedule:
    - cron: "17 3 * * *"
  workflow_dispatch:
    inputs:
      apply: {{description: "What may be deleted", type: choice, options: [reviewed, current]}}
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
    """What a user wants; the page is an address, and what is listed there stays."""

    services: Sequence[str] = ()  # the names of the listings
    base_url: str = ""
    bot: str = ""
    sources: Sequence[str] = ()  # the code, relative to the working folder
    recorded: Recorded | None = None
    prefix: str = ""
    listed: str = ""  # a manifest of the commands on the page; empty if it lists nothing
    program: str = ""  # the command line that registers the commands, to be recorded later
    workflow: bool = False

    @property
    def has_examples(self) -> bool:
        """Whether nothing says the commands, so that the manifest begins with examples."""
        return not (self.sources or self.recorded or self.listed)


class Beginning(NamedTuple):
    """The files of a first manifest; `result` is the import of its commands, if there is one."""

    edits: tuple[FileEdit, ...]
    result: Import | None


def services_of(names: Sequence[str]) -> list[ListService]:
    """Return known services by their names; raises `UsageError` for another one."""
    for name in names:
        if name not in LISTS:
            known = ", ".join(LISTS)
            hint = f"known services are {known}; a page is named by its address"
            raise UsageError(f'"{name}" is not a known service', hint=hint)
    return [LISTS[name] for name in dict.fromkeys(names)]


def recommended_lossy(service: ListService) -> list[str]:
    """Return the fields that a service is known not to show."""
    kind = Resource.COMMAND
    return [name for name in (kind.group, kind.usage) if not service.facts.takes(name)]


def begin(settings: Settings, path: str, answers: Answers) -> Beginning:
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
        return Beginning((FileEdit(path, None, text),), None)
    result = plan_import(
        replace(settings, files=(path,)),
        (),
        registered=_not_registered,
        recorded=answers.recorded,
        begun={path: text.encode()},
    )
    if all(edit.path != path for edit in result.edits):  # nothing is added
        result = replace(result, edits=(FileEdit(path, None, text), *result.edits))
    return Beginning(result.files, result)


def _not_registered(_locale: str) -> SourceReading:
    raise AssertionError("a first manifest does not name Discord as a source")


def _text(answers: Answers, services: Sequence[ListService], path: str) -> str:
    """Return the manifest before its commands are imported."""
    if answers.has_examples and not (services or answers.prefix):
        return starter(f"./{SCHEMA}", bot=answers.bot, base_url=answers.base_url)
    keys = [*_keys(answers, services, Path(path).parent.as_posix())]
    if answers.listed:
        text = answers.listed
        for key in reversed(keys):
            text = with_key(text, key, path=path)
        return text
    target = {"bot": answers.bot, "base_url": answers.base_url}
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in target.items() if value)
    commands = _EXAMPLES if answers.has_examples else "commands: []\n"
    return "\n".join([_HEAD.format(schema=SCHEMA), f"version: 1\n{head}", *keys, commands])


def _keys(answers: Answers, services: Sequence[ListService], near: str) -> Iterator[str]:
    """Yield the keys of a manifest beside its target and its commands."""
    if answers.prefix:
        yield f"prefix: {json.dumps(answers.prefix, ensure_ascii=False)}\n"
    if services:
        yield "".join(["listings:\n", *chain.from_iterable(map(_listing, services))])
    if answers.sources or answers.recorded:
        program = answers.recorded.program if answers.recorded else ""
        yield import_key([relative(source, near) for source in answers.sources], "", program)


def _listing(service: ListService) -> Iterator[str]:
    yield f"  - service: {service.name}\n"
    if lossy := recommended_lossy(service):
        yield f"    lossy: [{', '.join(lossy)}] # not shown there\n"


def token_variables(answers: Answers) -> dict[str, tuple[str, ...]]:
    """Return the variables of the tokens of each listing, the one to set first."""
    page = {answers.base_url: (TOKEN_VARIABLE,)} if answers.base_url else {}
    return page | {each.name: each.variables for each in services_of(answers.services)}


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
    return _WORKFLOW.format(inputs=inputs, secrets=secrets)
