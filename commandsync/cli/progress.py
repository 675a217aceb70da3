"""The progress of a run: on a terminal in one line that is erased at the end, with -v line by line.

`rich.progress` shows that line, and is loaded when there is something to show. (`rich.status` would
also send results to standard error.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import ceil
from threading import RLock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never
from urllib.parse import urlsplit

from commandsync.api.policy import Send, Wait
from commandsync.report import render_settled
from commandsync.report.lines import joined, path, visible
from commandsync.sync.settings import ApplyProgress, CallProgress, FilesRead, LockProgress

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.text import Text

    from commandsync.api.operations import Operation
    from commandsync.apply.outcomes import Step
    from commandsync.cli.output import Output
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.sync.settings import Progress, Site

PATIENCE = 1.0  # seconds: a longer wait is shown while it lasts
_BAR = 24  # columns


@contextmanager
def shown(output: Output) -> Iterator[Callable[[Progress], object]]:
    """Show progress as long as the block lasts: on a terminal, or with -v; never with -q.

    A manifest that was found in a folder above is named in any case.
    """
    if output.verbosity > 0:
        yield Lines(output).show
    elif output.verbosity < 0 or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield partial(_tell, output)
    else:
        place = ProgressPlace(color=output.screen(sys.stderr).color)
        try:
            yield partial(_show_in, place, output)
        finally:
            place.close()


def _show_in(place: ProgressPlace, output: Output, progress: Progress) -> None:
    _tell(output, progress)
    place.show(progress)


def _tell(output: Output, progress: Progress) -> None:
    if isinstance(progress, FilesRead) and progress.is_found:
        output.talk(f"using {path(progress.paths[0])}")
    elif isinstance(progress, LockProgress):
        output.talk(visible(progress.sentence))


class _Call(NamedTuple):
    """A call in flight: when it and its step began; the timer ends when the step takes long."""

    progress: CallProgress
    begun: float
    since: float
    timer: Timer


class _Calls(list[_Call]):
    """The calls in flight, which several threads make; `late` is called where one takes long."""

    def __init__(self, late: Callable[[Operation[Any]], object]) -> None:
        super().__init__()
        self._late = late

    def note(self, progress: CallProgress) -> _Call | None:
        """Note the step of a call; return the call, None for the end of one never sent."""
        call, now = self.of(progress.operation), monotonic()
        if call is not None:
            self.remove(call)
            call.timer.cancel()
        if progress.step is None:
            return call
        timer = Timer(PATIENCE, self._late, (progress.operation,))
        timer.daemon = True
        call = _Call(progress, call.begun if call else now, now, timer)
        self.append(call)
        timer.start()
        return call

    def of(self, operation: Operation[Any]) -> _Call | None:
        """Return the call of this very operation, if it is in flight; few are."""
        calls = [*self]  # other threads change it
        return next((call for call in calls if call.progress.operation is operation), None)


class Lines:
    """Shows progress line by line: each read, each settled change, and each wait."""

    def __init__(self, output: Output) -> None:
        self._calls = _Calls(self._late)
        self._lock = RLock()
        self._output = output
        self._applying = False
        self._sites: list[Site] = []

    def show(self, progress: Progress) -> None:
        """Show one step."""
        match progress:
            case FilesRead():
                self._say(_files_line(progress))
            case LockProgress():
                self._say(visible(progress.sentence))
            case CallProgress():
                with self._lock:
                    self._show_call(progress)
            case ApplyProgress(step=step):
                self._applying = step is not None
                screen = self._output.screen(sys.stderr)
                for settled in step.settled if step else ():
                    self._output.talk(render_settled(settled, screen=screen))
                if step and step.wait:
                    self._say(_reread_line(step.wait))
            case _:
                assert_never(progress)

    def _show_call(self, progress: CallProgress) -> None:
        if progress.step is not None and progress.site not in self._sites:
            self._sites.append(progress.site)
            self._say(_site_line(progress.site))
        call = self._calls.note(progress)
        if call is None:
            return
        reads = progress.operation.method == "GET"
        if isinstance(progress.step, Wait):
            self._say(_wait_line(progress, 0))
        elif progress.step is None and (reads or not self._applying):  # an apply shows its changes
            self._say(f"{progress.operation.name}: {monotonic() - call.begun:.2f} s")

    def _late(self, operation: Operation[Any]) -> None:
        call = self._calls.of(operation)
        if call and isinstance(call.progress.step, Send):
            self._say(_wait_line(call.progress, PATIENCE))

    def _say(self, line: str) -> None:
        self._output.talk(joined([line], self._output.screen(sys.stderr)))


class ProgressPlace:
    """Shows in one place of the terminal the bar of an apply, and the call that takes long.

    It is open during an apply, and from a step of a call that takes long until no call is left.
    """

    def __init__(self, *, color: bool) -> None:
        self._calls = _Calls(self._late)
        self._lock = RLock()
        self._color = color
        self._writes: list[tuple[Operation[Any], str]] = []  # of an apply, each with its change
        self._total = 0  # the changes that are applied; 0 for no apply
        self._settled: set[Change] = set()
        self._pause_end = 0.0
        self._display: Display | None = None
        self._has_bar = False
        self._closed = False

    def show(self, progress: Progress) -> None:
        """Show the present step of a run."""
        with self._lock:
            if isinstance(progress, CallProgress):
                self._calls.note(progress)
            elif isinstance(progress, ApplyProgress):
                self._apply(progress.plan, progress.step)
            self._update()

    def close(self) -> None:
        """Erase the place; calls that a signal left in flight show nothing any more."""
        with self._lock:
            self._closed = True
            self._update()

    def _late(self, _operation: Operation[Any]) -> None:
        with self._lock:
            self._update(is_late=True)

    def _apply(self, plan: Plan, step: Step | None) -> None:
        self._total = len(plan.changes) if step else 0
        if step is None:
            self._settled.clear()
            return
        self._settled.update(settled.change for settled in step.settled)
        from commandsync.document.change import change_view

        self._pause_end = monotonic() + step.wait if step.wait else 0.0
        for call in step.start:
            if call.key >= 0:  # a write
                change = plan.changes[call.key]
                name = f"{change_view(change).title} {visible(change.name)}"
                self._writes.append((call.operation, name))

    def _update(self, *, is_late: bool = False) -> None:
        """Open the place if there is something to show, or erase it."""
        waits = bool(self._calls) and (is_late or self._display is not None)
        is_wanted = not self._closed and (waits or self._total > 0)
        if self._display and (not is_wanted or self._has_bar != bool(self._total)):
            self._display.stop()
            self._display = None
        if is_wanted and not self._display:
            self._display = self._opened()
        if self._display:
            task, done = self._display.task_ids[0], len(self._settled)
            self._display.update(task, total=self._total, completed=done)

    def _opened(self) -> Display:
        from rich.console import Console  # only a terminal needs it
        from rich.progress import BarColumn, Progress, ProgressColumn, RenderableColumn, TextColumn
        from rich.table import Column

        self._has_bar = self._total > 0
        bar: list[ProgressColumn] = [
            TextColumn("Applying"),
            BarColumn(_BAR, complete_style="cyan", finished_style="green"),
            TextColumn("{task.completed:,}/{task.total:,}"),
        ]
        console = Console(stderr=True, no_color=not self._color)
        console.width -= 2  # a terminal may show `^C` behind the line
        display = Progress(
            *(bar if self._has_bar else ()),
            RenderableColumn(self, table_column=Column()),  # the only one that is cut
            console=console,
            transient=True,
            redirect_stdout=False,  # results come after it is erased; warnings go above it
        )
        display.add_task("")
        display.start()
        return display

    def __rich__(self) -> Text:
        """Return the status as it is now; called in a thread of its own, with no lock."""
        from rich.text import Text

        return Text(self._status(), style="dim", no_wrap=True, overflow="ellipsis")

    def _status(self) -> str:
        calls, now = [*self._calls], monotonic()
        if late := [call for call in calls if now - call.since >= PATIENCE]:
            # The end of a rate limit says most about the others.
            call = max(late, key=lambda item: getattr(item.progress.step, "everyone", -1))
            return _wait_line(call.progress, now - call.since, self._change_of(call))
        if self._pause_end > now:
            return _reread_line(self._pause_end - now)
        return self._change_of(calls[-1]) if calls else ""

    def _change_of(self, call: _Call) -> str:
        """Return the change that a call of an apply makes; empty for another call."""
        operation = call.progress.operation
        return next((name for write, name in reversed(self._writes) if write is operation), "")


def _wait_line(progress: CallProgress, elapsed: float, name: str = "") -> str:
    """Return the reason for which a call, such as `list commands`, has waited so many seconds."""
    step, call = progress.step, name or progress.operation.name
    assert step  # noqa: S101 - the calls in flight have one
    retry, mark = step.retry, ":"
    if retry:
        call, mark = f"{call}: retry {retry.number} of {retry.most}", ","
    if isinstance(step, Wait):
        left = max(0, ceil(step.seconds - elapsed))
        why = retry.error.message if retry else "the service allows no more requests before"
        return f"{call} in {left} s: {visible(why)}"
    host = visible(urlsplit(progress.site.address.base_url).netloc)
    return f"{call}{mark} no answer for {elapsed:.0f} s from {host}"


def _reread_line(seconds: float) -> str:
    return f"reading again in {ceil(seconds)} s: not every write is listed yet"


def _files_line(read: FilesRead) -> str:
    """Return the files that were read, the number of their records, and the time it took."""
    from commandsync.document.view import managed
    from commandsync.records.texts import counted

    if isinstance(read.content, tuple):
        contained = "; ".join(managed(manifest.snapshot) for manifest in read.content)
    else:
        contained = f"a plan of {counted(len(read.content.changes), 'change')}"
    return f"read {', '.join(map(path, read.paths))}: {contained}, {read.seconds:.2f} s"


def _site_line(site: Site) -> str:
    """Return the bot of a run, if there is one, its service, and the source of its token."""
    url, source = visible(site.address.base_url), visible(site.token_from)
    where = f"bot {visible(site.bot)} at {url}" if site.bot else url
    if site.token is None:
        return f"{where}, without a token ({source} is not set)"
    owner = f"token of bot {visible(site.token.bot)}" if site.token.bot else "token"
    return f"{where}, with the {owner} from {source}"
