"""What a run does and waits for: in one place of a terminal, erased after; with -v line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock, Timer
from time import monotonic
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from commandsync.api.policy import Send, Wait
from commandsync.report import progress as text
from commandsync.report import render_settled, summary
from commandsync.report.escape import path, visible
from commandsync.report.lines import joined
from commandsync.sync.progress import ApplyProgress, CallProgress, FilesRead

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from commandsync.apply.steps import Step
    from commandsync.cli.output import Output
    from commandsync.plan.plan import Plan
    from commandsync.sync.progress import Progress
    from commandsync.sync.site import Site

PATIENCE = 1.0
"""Seconds: what takes longer is shown while it lasts."""

_BAR = 24  # columns


@contextmanager
def shown(output: Output) -> Iterator[Callable[[Progress], object]]:
    """Show progress as long as the block lasts: on a terminal, or with -v; never with -q."""
    if output.verbosity > 0:
        yield Lines(output).show
    elif output.verbosity < 0 or not sys.stderr.isatty():
        yield lambda _progress: None
    else:
        place = Place(color=output.screen(sys.stderr).color)
        try:
            yield place.show
        finally:
            place.close()


class Lines:
    """Shows progress line by line: what was read, each change that is settled, and each wait."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._applying = False
        self._sites: list[Site] = []
        self._calls: dict[int, tuple[float, Timer | None]] = {}  # when each began
        self._lock = RLock()  # calls are made in several threads

    def show(self, progress: Progress) -> None:
        """Show what there is to say about it."""
        match progress:
            case FilesRead():
                self._say(_files_line(progress))
            case CallProgress():
                with self._lock:
                    self._show_call(progress)
            case ApplyProgress(step=step):
                self._applying = step is not None
                screen = self._output.screen(sys.stderr)
                for settled in step.settled if step else ():
                    self._output.talk(render_settled(settled, screen=screen))
                if step and step.wait:
                    self._say(text.reread_line(step.wait))
            case _:
                assert_never(progress)

    def _show_call(self, progress: CallProgress) -> None:
        key, now, timer = id(progress.operation), monotonic(), None
        if progress.step is None and key not in self._calls:
            return  # it was never sent
        begun, last = self._calls.pop(key, (now, None))
        if last is not None:
            last.cancel()
        if progress.site not in self._sites:
            self._sites.append(progress.site)
            self._say(_site_line(progress.site))
        match progress.step:
            case None:
                reads = progress.operation.method == "GET"
                if reads or not self._applying:  # an apply shows its changes as they are settled
                    self._say(f"{progress.operation.name}: {now - begun:.2f} s")
                return
            case Wait():
                self._say(_wait_line(progress, 0))
            case Send():
                line = _wait_line(progress, PATIENCE)
                timer = _timer(lambda: self._say(line))
            case _:
                assert_never(progress.step)
        self._calls[key] = begun, timer

    def _say(self, line: str) -> None:
        self._output.talk(joined([line], self._output.screen(sys.stderr)))


@dataclass(frozen=True, slots=True)
class _Call:
    """A call in flight; `since` is when its step began, and the timer ends when it is late."""

    progress: CallProgress
    since: float
    timer: Timer


@dataclass(slots=True)
class _Apply:
    """An apply: how many of its changes are settled, and when its pause ends."""

    total: int
    settled: set[int] = field(default_factory=set)
    pause_end: float = 0.0


class Place:
    """Shows in one place of the terminal the bar of an apply, and the call that takes long."""

    def __init__(self, *, color: bool) -> None:
        self._color = color
        self._calls: dict[int, _Call] = {}
        self._changes: dict[int, str] = {}  # what the calls of an apply are for
        self._late: set[int] = set()
        self._apply: _Apply | None = None
        self._live: Live | None = None
        self._closed = False
        self._lock = RLock()

    def show(self, progress: Progress) -> None:
        """Show what a run does now, or waits for."""
        match progress:
            case FilesRead():
                pass
            case CallProgress():
                self._note_call(progress)
            case ApplyProgress():
                self._note_apply(progress)
            case _:
                assert_never(progress)

    def close(self) -> None:
        """Erase the place; calls that a signal left in flight show nothing any more."""
        with self._lock:
            self._closed = True
            for call in self._calls.values():
                call.timer.cancel()
            self._update()

    def _note_call(self, progress: CallProgress) -> None:
        key = id(progress.operation)
        with self._lock:
            call = self._calls.get(key)
            if progress.step is not None:
                timer = call.timer if call else _timer(lambda: self._note_late(key))
                self._calls[key] = _Call(progress, monotonic(), timer)
            elif call is not None:
                call.timer.cancel()
                del self._calls[key]
                self._changes.pop(key, None)
                self._late.discard(key)
                self._update()

    def _note_late(self, key: int) -> None:
        with self._lock:
            if key in self._calls:  # pragma: no branch - it may end in this moment
                self._late.add(key)
                self._update()

    def _note_apply(self, progress: ApplyProgress) -> None:
        plan, step = progress.plan, progress.step
        with self._lock:
            self._apply = None if step is None or not plan.changes else self._advanced(plan, step)
            self._update()

    def _advanced(self, plan: Plan, step: Step) -> _Apply:
        apply = self._apply or _Apply(len(plan.changes))
        apply.settled.update(id(settled.change) for settled in step.settled)
        apply.pause_end = monotonic() + step.wait if step.wait else 0.0
        for call in step.start:
            if call.key >= 0:  # a write
                change = plan.changes[call.key]
                self._changes[id(call.operation)] = (
                    f"{summary.named(change)} {visible(change.name)}"
                )
        return apply

    def _update(self) -> None:
        """Open the place if there is something to show, else erase it."""
        wanted = not self._closed and bool(self._late or self._apply)
        if wanted and self._live is None:
            self._live = self._opened()
        elif not wanted and self._live is not None:
            self._live.stop()
            self._live = None

    def _opened(self) -> Live:
        from rich.console import Console  # only a terminal needs it
        from rich.live import Live

        live = Live(
            get_renderable=self._content,
            console=Console(stderr=True, no_color=not self._color),
            transient=True,
            redirect_stdout=False,  # results come after it is erased; warnings go above it
        )
        live.start(refresh=True)
        return live

    def _content(self) -> RenderableType:
        """Return the line as it is now; called in a thread of its own, with no lock."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        apply = self._apply
        status = Text(self._status(apply), style="dim", no_wrap=True, overflow="ellipsis")
        if apply is None:
            return status
        done = len(apply.settled)
        grid = Table.grid(padding=(0, 1), expand=True)
        for _ in range(3):
            grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        bar = ProgressBar(total=apply.total, completed=done, width=_BAR)
        grid.add_row("Applying", bar, f"{done:,}/{apply.total:,}", status)
        return grid

    def _status(self, apply: _Apply | None) -> str:
        calls = [*self._calls.items()]
        if late := [(key, call) for key, call in calls if key in self._late]:
            key, call = max(late, key=lambda item: _weight(item[1].progress))
            elapsed = monotonic() - call.since
            return _wait_line(call.progress, elapsed, self._changes.get(key, ""))
        left = apply.pause_end - monotonic() if apply else 0.0
        if left > 0:
            return text.reread_line(left)
        return next((self._changes.get(key, "") for key, _ in reversed(calls)), "")


def _timer(function: Callable[[], object]) -> Timer:
    timer = Timer(PATIENCE, function)
    timer.daemon = True
    timer.start()
    return timer


def _weight(progress: CallProgress) -> int:
    """Return how much a wait says about the others: the end of a rate limit says most."""
    step = progress.step
    return 1 + step.everyone if isinstance(step, Wait) else 0


def _wait_line(progress: CallProgress, elapsed: float, name: str = "") -> str:
    if progress.step is None:  # pragma: no cover - it ends in this moment
        return ""
    host = urlsplit(progress.site.address.base_url).netloc
    call = name or progress.operation.name
    return text.wait_line(progress.step, elapsed, call=call, host=host)


def _files_line(read: FilesRead) -> str:
    """Return which files were read, how much they contain, and how long it took."""
    if isinstance(read.content, tuple):
        contained = "; ".join(summary.managed(manifest.snapshot) for manifest in read.content)
    else:
        contained = f"a plan of {summary.counted(len(read.content.changes), 'change')}"
    return f"read {', '.join(map(path, read.paths))}: {contained}, {read.seconds:.2f} s"


def _site_line(site: Site) -> str:
    """Return which bot a run is for, if for one, on which service, and with which token."""
    url, source = visible(site.address.base_url), visible(site.token_from)
    where = f"bot {visible(site.bot)} at {url}" if site.bot else url
    if site.token is None:
        return f"{where}, without a token ({source} is not set)"
    owner = f"token of bot {visible(site.token.bot)}" if site.token.bot else "token"
    return f"{where}, with the {owner} from {source}"
