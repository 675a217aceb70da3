"""The process of a run: its signals, and its outputs without tokens.

From the start signals are only noted. `handled` then answers them, first by an interruption, and
while something is written by a call of the run. `redacted_outputs` shows no token on the standard
streams, whatever prints. It loads little until there is a token: `--version` and `--help` pass
through it too.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from types import FrameType
from typing import Any, TextIO, cast

from commandsync.api.credentials import (
    Token,
    Tokens,
    contains_token,
    keep_secret,
    redacted,
    redacting,
    secrets_in,
)

_HANDLED = (signal.SIGINT, signal.SIGTERM)
_STOPPING = b"\nstopping: requests in flight are finished first (again: stop at once)\n"


class Interruption(BaseException):
    """A signal, by its number, came while nothing was being written: the run ends here."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """Handles signals; `number` is the first one that came, 0 for none.

    A signal ends the run at once if `armed`; if not, `arm` starts that.
    """

    def __init__(self, *, armed: bool = True) -> None:
        self.number = 0
        self._armed = armed
        self._count = 0
        self._answer: Callable[[int], None] | None = None

    @property
    def writing(self) -> bool:
        """Whether a write may be in flight."""
        return self._answer is not None

    def code(self, otherwise: int) -> int:
        """Return the exit code of the run, which is `otherwise` without a signal."""
        return of_signal(self.number) if self.number else otherwise

    def arm(self, early: Sequence[int] = ()) -> None:
        """Let a signal end the run from now on, and those that came `early`: before the handlers.

        Raises `Interruption` if a signal has come already.
        """
        self._armed = True
        self.number = self.number or next(iter(early), 0)
        if self.number:
            self._count = 1
            raise Interruption(self.number)

    def disarm(self) -> None:
        """Let a signal only decide the exit code from now on: the run has ended."""
        self._armed = False
        sys.setprofile(None)

    def ignore(self) -> None:
        """Let no signal end the process any more."""
        self._answer = lambda _: None

    @contextmanager
    def answered_by(self, answer: Callable[[int], None]) -> Iterator[None]:
        """Call `answer` with the number of signals so far instead of ending the run.

        After the block a signal only decides the exit code: something was written by then, and
        the run is about to end. Raises `Interruption` if a signal has come already.
        """
        if self.number:
            raise Interruption(self.number)
        self._answer = answer
        try:
            yield
        finally:
            self.ignore()

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal; it may come between any two steps of the program."""
        self.number = self.number or number
        self._count += 1
        if self._answer is not None:
            self._answer(self._count)
        elif self._count > 1:
            os._exit(of_signal(self.number))  # the first is being reported, which takes long
        elif self._armed:
            interruption = Interruption(number)  # which calls a function of this program
            sys.setprofile(self._raise_again)
            raise interruption

    def _raise_again(self, frame: FrameType, event: str, _argument: object) -> None:
        """Raise an interruption again that was dropped: the run goes on, and nobody handles it.

        Finalizers drop what is raised in them, and so do extension modules here and there. It is
        raised at a call in this program's other modules, which drop nothing.
        """
        if event not in {"call", "c_call"}:
            return  # on its way out of a function
        module = str(frame.f_globals.get("__name__"))
        is_other = module.partition(".")[0] in {"commandsync", "__main__"} and module != __name__
        is_on_its_way = _interruption_in(sys.exc_info()[1]) is not None
        if is_other and not is_on_its_way:
            sys.setprofile(None)
            raise Interruption(self.number)


def _interruption_in(error: BaseException | None) -> Interruption | None:
    """Return the interruption that an exception is, or was at first; None if it never was one."""
    while error is not None and not isinstance(error, Interruption):
        error = error.__context__
    return error


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise an interruption in place of an exception that it has become.

    Python 3.11 makes a `RuntimeError` of an exception that is raised while a class tells its
    attributes their names, as it does in modules that load.
    """
    try:
        yield
    except Exception as error:
        if interruption := _interruption_in(error):
            raise interruption from None
        raise


@contextmanager
def handled(*, armed: bool = True) -> Iterator[Signals]:
    """Handle signals for as long as the block lasts; `armed` is as for `Signals`."""
    signals, hook = Signals(armed=armed), sys.unraisablehook

    def show_dropped(unraisable: "sys.UnraisableHookArgs") -> None:
        if not isinstance(unraisable.exc_value, Interruption):  # that is raised again
            hook(unraisable)

    sys.unraisablehook = show_dropped
    before = {number: signal.signal(number, signals.handle) for number in _HANDLED}
    try:
        yield signals
    finally:
        signals.disarm()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = hook


def announce_stop() -> None:
    """Print that the run is stopping; a signal may come during another print, so write raw."""
    with suppress(OSError):  # it may have no reader
        os.write(2, _STOPPING)


def of_signal(number: int) -> int:
    """Return the exit code of a run that a signal ended, as POSIX shells report it."""
    return 128 + number


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')  # of JSON
_TOKEN_FILE, _ENV_FILE = "--token-file", "--env-file"


class RedactedStream:
    """A text stream that shows no token, with the other attributes of the stream.

    It has no `buffer`: bytes that are written there would go past it.
    """

    def __init__(self, stream: TextIO, tokens: Tokens) -> None:
        self.unredacted = stream
        self._tokens = tokens

    def write(self, text: str | bytes) -> int:
        """Write a text without the tokens; a JSON document in one piece stays one.

        click writes the completions of a word as bytes.
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


def unredacted(stream: TextIO) -> TextIO:
    """Return the stream below a `RedactedStream`, to print a token that was asked for."""
    return stream.unredacted if isinstance(stream, RedactedStream) else stream


@contextmanager
def redacted_outputs(environ: Mapping[str, str], arguments: Sequence[str] = ()) -> Iterator[None]:
    """Show no token on the standard streams until the block ends; nor write one into a file.

    The tokens are in the environment, in the files that the arguments name, and in the files that
    the run reads later. They are known before anything is shown: an error may quote any argument.
    """
    with redacting() as tokens:
        for secret in (*secrets_in(environ), *_in_files(arguments)):
            from commandsync.errors import CommandsyncError  # noqa: PLC0415 - as late as needed

            with suppress(CommandsyncError):  # an invalid token is refused where it is needed
                if not (token := Token(secret)).is_short:  # the run may not use it
                    keep_secret(token)
        streams = (RedactedStream(stream, tokens) for stream in (sys.stdout, sys.stderr))
        stdout, stderr = (cast("TextIO", stream) for stream in streams)
        with redirect_stdout(stdout), redirect_stderr(stderr):
            yield


def _in_files(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the tokens in the files of the options; a pipe is left alone: it is read only once."""
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        name, equals, value = argument.partition("=")
        path = value if equals else following
        if name not in {_TOKEN_FILE, _ENV_FILE} or not os.path.isfile(path):  # noqa: PTH113 - without pathlib
            continue
        if name == _ENV_FILE:
            from commandsync.sync.files import read_env_file  # noqa: PLC0415 - seldom needed

            with suppress(ValueError):
                yield from read_env_file(path).values()
        else:
            from commandsync.errors import FileError  # noqa: PLC0415 - seldom needed
            from commandsync.sync.files import read_token  # noqa: PLC0415 - as above

            with suppress(FileError):
                yield read_token(path)


def _redacted(text: str, tokens: Tokens) -> str:
    """Hide tokens in a text: in the strings of JSON, since a quote must not lose its backslash."""
    import json  # noqa: PLC0415 - seldom needed

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
