"""The Action's inputs, read from the step's environment and validated, and its secrets to mask."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, get_args, get_type_hints

from commandsync.api.credentials import bare
from commandsync.errors import UsageError
from commandsync.plan.rules import DeleteLimit, parse_delete_limit
from commandsync.sync.files import relative
from commandsync.sync.loading import default_manifest
from commandsync.sync.redaction import SECRET_VARIABLE
from commandsync.sync.settings import BASE_URL_VARIABLE, BOT_VARIABLE, Settings, read_clock

Mode = Literal["validate", "plan", "apply", "drift"]

_SHORTEST = 6  # characters: masking a shorter text would make the log unreadable


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs, as action.yml describes them.

    Paths are relative to the workspace, with `/` between folders. An empty `fail_on` is the default
    of the mode.
    """

    mode: Literal["auto", Mode] = "auto"
    files: tuple[str, ...] = ("commands.yaml",)
    base_url: str = ""
    bot: str = ""
    token: str = field(default="", repr=False)
    github_token: str = field(default="", repr=False)
    comment: Literal["auto", "always", "never"] = "auto"
    hosts: str = ""
    label: str = ""
    summary: bool = True
    annotations: bool = True
    fail_on: Literal["", "error", "changes"] = ""
    prune: bool = True
    max_deletes: DeleteLimit | None = None
    import_check: bool = False
    docs_check: tuple[str, ...] = ()
    apply: Literal["reviewed", "current"] = "reviewed"
    plan_file: str = ""
    issue: Literal["auto", "never"] = "auto"
    preview: bool = False

    @property
    def key(self) -> str:
        """The key of a run's comment and issue: of its label, or of the manifests and the listing.

        The listing is the one that the inputs name: what a manifest names goes with its file.
        """
        named = self.label or "\n".join((*self.files, self.base_url, self.bot))
        return sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:20]


_READ_BY_TYPE = {
    name: kind
    for name, kind in get_type_hints(Inputs).items()
    if name not in {"files", "max_deletes", "docs_check", "plan_file"}
}


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs from the step's environment; raises `UsageError` if one is not valid."""
    get = _Getter(environ)
    folder = get("working-directory") or "."
    return Inputs(
        **{name: get.typed(name, kind) for name, kind in _READ_BY_TYPE.items()},
        files=_files(get, folder),
        max_deletes=_limit(get("max-deletes")),
        docs_check=_paths(get, "docs-check", folder),
        plan_file=_plan_file(get),
    )


def settings_of(inputs: Inputs, environ: Mapping[str, str], mode: Mode) -> Settings:
    """Return the settings of a run in a mode."""
    reviewed = inputs.apply == "reviewed" and not inputs.plan_file
    return Settings(
        now=read_clock(),
        files=inputs.files,
        base_url=inputs.base_url or environ.get(BASE_URL_VARIABLE, ""),
        base_url_from="the input base-url" if inputs.base_url else BASE_URL_VARIABLE,
        bot=inputs.bot or environ.get(BOT_VARIABLE, ""),
        bot_from="the input bot" if inputs.bot else BOT_VARIABLE,
        prune=inputs.prune,
        max_deletes=inputs.max_deletes,
        owned=reviewed and mode in {"plan", "apply"},
    )


def _plan_file(get: "_Getter") -> str:
    path = get("plan-file")
    if path and (get("max-deletes") or get("prune") != "true"):
        raise UsageError(
            "the input plan-file applies a saved plan as it is, with its own limits",
            hint="remove the inputs max-deletes and prune, or make a new plan with them",
        )
    return path and os.path.join(".", path)  # noqa: PTH118 - "-" is a file here, and none is empty


@dataclass(frozen=True, slots=True)
class _Getter:
    environ: Mapping[str, str]

    def __call__(self, name: str) -> str:
        return self.environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip()

    def typed(self, field: str, kind: object) -> Any:  # noqa: ANN401 - of that type
        """Return an input by the type of its field: a text, a boolean, or one of some words."""
        name = field.replace("_", "-")
        value = self(name)
        choices = ("true", "false") if kind is bool else get_args(kind)
        if kind is not str and value not in choices:
            valid = ", ".join(filter(None, choices))
            raise UsageError(f"the input {name} is {value!r}", hint=f"use one of: {valid}")
        return value == "true" if kind is bool else value


def _files(get: _Getter, folder: str) -> tuple[str, ...]:
    if not os.path.isdir(folder):  # noqa: PTH112 - the runner's paths are strings
        raise UsageError(
            f"the input working-directory is not a folder: {folder!r}",
            hint="it is relative to the workspace; does an earlier step check out the repository?",
        )
    return _paths(get, "file", folder) or (_in_workspace(default_manifest(folder)),)


def _paths(get: _Getter, name: str, folder: str) -> tuple[str, ...]:
    given = [line.strip() for line in get(name).splitlines() if line.strip()]
    return tuple(_in_workspace(os.path.join(folder, path)) for path in given)  # noqa: PTH118 - as above


def _in_workspace(path: str) -> str:
    """Return a path relative to the workspace, where GitHub looks for annotated files."""
    path = relative(path)
    if path == "-":
        raise UsageError("the input file is '-'", hint="a workflow has no standard input")
    return path


def _limit(text: str) -> DeleteLimit | None:
    try:
        return parse_delete_limit(text) if text else None
    except ValueError as error:
        message = f"the input max-deletes is {text!r}: {error}"
        raise UsageError(message, hint="use a number, a percentage, or all") from error


def secrets_of(environ: Mapping[str, str], *, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return every text that the log must not show, without duplicates.

    These are the tokens in the inputs and in the variables that begin with `COMMANDSYNC_TOKEN` or
    are of known services, or else those in the variables `named`. The runner that gets them also
    hides their lines, and their usual encodings.
    """
    variables = set(named)
    secrets = (
        value.strip()
        for name, value in sorted(environ.items())
        if (name in variables if variables else SECRET_VARIABLE.fullmatch(name))
    )
    texts = dict.fromkeys(text for secret in secrets for text in (secret, bare(secret)))
    return tuple(text for text in texts if len(text) >= _SHORTEST)
