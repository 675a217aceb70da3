"""The manifests of a run, and what only a workflow can get wrong about them."""

import os
from collections.abc import Sequence

from commandsync.errors import UsageError, WrongBotError
from commandsync.manifest import Manifest
from commandsync.sync.loading import load
from commandsync.sync.settings import TOKEN_VARIABLE, Settings


def enter_workspace(folder: str) -> None:
    """Make the workspace the current folder; raises `UsageError` if that is not possible."""
    try:
        os.chdir(folder)
    except OSError as error:
        message = f"GITHUB_WORKSPACE cannot be entered: {error.strerror}"
        raise UsageError(message, hint="it is the folder with the checkout") from error


def load_from_workspace(settings: Settings) -> tuple[Manifest, ...]:
    """Load the manifests that the input file names; raises `UsageError` in an empty workspace."""
    if not all(map(os.path.isabs, settings.files)) and not os.listdir():  # noqa: PTH208 - a question
        raise UsageError(
            "the workspace is empty: the repository was not checked out",
            hint="add a step with actions/checkout before this one",
        )
    return load(settings)


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
