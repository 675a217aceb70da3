"""The outputs of a process without the tokens of its run, whatever prints.

It loads little until there is a token: `--version` and `--help` pass through it too.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO, cast

from commandsync.api.redaction import Tokens, contains_token, keep_secret, redacted, redacting

SECRET_VARIABLE = re.compile(
    r"COMMANDSYNC_TOKEN(_\w+)?|INPUT_(GITHUB_)?TOKEN|"
    r"(DISCORD|TOPGG|DISCORDBOTLIST|DBL|TELEGRAM(_BOT)?)_TOKEN"
)
"""The variables that contain a token, whatever the settings name."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')  # of JSON
_OPTION = "--token-file"


class RedactedStream:
    """A text stream that shows no token; the other attributes are those of the stream.

    It has no `buffer`: what writes bytes there would go past it.
    """

    def __init__(self, stream: TextIO, tokens: Tokens) -> None:
        self.unredacted = stream
        self._tokens = tokens

    def write(self, text: str | bytes) -> int:
        """Write a text without the tokens; a JSON document in one piece stays one.

        click writes what completes a word as bytes.
        """
        if isinstance(text, bytes):
            text = text.decode()
        if contains_token(text, self._tokens):
            text = _redacted(text, self._tokens)
        return self.unredacted.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the stream's own
        """Return an attribute of the stream."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unredacted, name)


@contextmanager
def redacted_outputs(environ: Mapping[str, str], arguments: Sequence[str] = ()) -> Iterator[None]:
    """Show no token on the standard streams until the block ends; nor write one into a file.

    The tokens are those in the environment and in the file that the arguments name, and those that
    the run reads later. They are known before anything is shown: an error may quote any argument.
    """
    with redacting() as tokens:
        secrets = (value for name, value in environ.items() if SECRET_VARIABLE.fullmatch(name))
        for secret in (*secrets, *_in_files(arguments)):
            from commandsync.api.credentials import Token  # noqa: PLC0415 - as late as there is one
            from commandsync.errors import CommandsyncError  # noqa: PLC0415 - as above

            with suppress(CommandsyncError):  # one that is not valid is refused where it is needed
                keep_secret(Token(secret))
        streams = (RedactedStream(stream, tokens) for stream in (sys.stdout, sys.stderr))
        stdout, stderr = (cast("TextIO", stream) for stream in streams)
        with redirect_stdout(stdout), redirect_stderr(stderr):
            yield


def _in_files(arguments: Sequence[str]) -> Iterator[str]:
    """Return what the token files contain; a pipe can be read only once, by who needs it."""
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        name, equals, value = argument.partition("=")
        path = value if equals else following
        if name == _OPTION and os.path.isfile(path):  # noqa: PTH113 - without pathlib
            from commandsync.errors import FileError  # noqa: PLC0415 - seldom needed
            from commandsync.sync.files import read_token  # noqa: PLC0415 - as above

            with suppress(FileError):
                yield read_token(path)


def _redacted(text: str, tokens: Tokens) -> str:
    """Hide tokens in a text: in the strings of JSON, since a quote must not lose its backslash."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return redacted(text, tokens)

    def hidden(string: re.Match[str]) -> str:
        dumped = json.dumps(redacted(json.loads(string[0]), tokens))
        for mark in ("::", "##"):  # a CI runner would obey it; JSON itself has neither
            dumped = dumped.replace(mark, "".join(f"\\u{ord(sign):04x}" for sign in mark))
        return dumped

    return _STRING.sub(hidden, text)
