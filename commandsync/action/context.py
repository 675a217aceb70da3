"""The context of a run of the Action: its event, its inputs, and what follows from them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from commandsync.action.inputs import (
    GitHubEvent,
    Inputs,
    Mode,
    read_event,
    read_inputs,
    settings_of,
)
from commandsync.action.rest import GitHub, github_of
from commandsync.action.runner import INPUTS, Runner, say
from commandsync.errors import UsageError
from commandsync.report.lines import Screen, visible
from commandsync.sync.settings import LockProgress, Progress, Settings, read_clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a run is given, read once; with the event alone, no comment is written."""

    runner: Runner
    event: GitHubEvent
    mode: Mode
    settings: Settings
    inputs: Inputs
    screen: Screen  # how values are shown, with links to the files
    github: GitHub | None = None  # GitHub's API, if there is a token for it


def of_event(environ: Mapping[str, str]) -> Context:
    """Return the context of a run whose inputs are not known."""
    event = read_event(environ)
    return Context(
        runner=Runner(environ),
        event=event,
        mode=event.usual_mode,
        settings=Settings(now=read_clock()),
        inputs=Inputs(comment="never"),
        screen=Screen(words=INPUTS),
    )


def read(context: Context) -> Context:
    """Read the inputs of a run whose event is known; the workspace becomes the current folder.

    Raises `UsageError` if there is no such folder, or an input is not valid.
    """
    environ, event, files = context.runner.environ, context.event, ""
    if workspace := environ.get("GITHUB_WORKSPACE", ""):
        _enter(workspace)
        files = event.files_url if Path(".git").exists() else ""
    inputs = read_inputs(environ)
    mode = event.usual_mode if inputs.mode == "auto" else inputs.mode
    return replace(
        context,
        runner=replace(context.runner, annotates=inputs.annotations),
        inputs=inputs,
        mode=mode,
        settings=replace(settings_of(inputs, environ, mode), on_progress=_say_wait),
        screen=context.screen._replace(files=files),
        github=github_of(inputs.github_token, environ),
    )


def _say_wait(progress: Progress) -> None:
    """Say in the log that another apply is waited for."""
    if isinstance(progress, LockProgress):
        say(visible(progress.sentence))


def _enter(workspace: str) -> None:
    """Make the workspace the current folder; raises `UsageError` if that is not possible."""
    try:
        os.chdir(workspace)
    except OSError as error:
        message = f"GITHUB_WORKSPACE cannot be entered: {error.strerror}"
        raise UsageError(message, hint="it is the folder with the checkout") from error
