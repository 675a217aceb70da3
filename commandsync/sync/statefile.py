"""The memory of this machine: the requests that replaced a list, and the locks of listings.

A `Delivery` is one request that replaced a list which its service does not return, or may have
replaced it. A store keeps the deliveries of all runs: `StateFile` in a file, and the Action as
deployments at GitHub. Before the request an apply begins a delivery, and afterwards it tells the
store the end of it. A delivery without an end may have arrived: the run may have been killed, or
its answer lost.

`remembered` finds the lists that a service may show now. Several runs may send at the same time,
and their requests may arrive in any order. So these are the list of the last delivery that was
accepted, and the lists of all later deliveries and of earlier ones that were in flight then.
Only a definite failure takes a delivery away. The number that the store gave a delivery is its
place in the order: neither the clock of a machine nor the place of a commit in the history says
the list sent last. Another token may belong to another bot, which has another list. So a delivery
counts only for the token that it was sent with, by a digest that nobody can turn back into the
token.

Two applies that read a page before either writes would both add what is missing. So each holds the
lock of every listing that it reads, from before it reads until it has verified its writes. The
second one waits, and reads what the first one left. The system releases the lock of a process that
was killed. A lock is a file in the user's folder for the state of programs; another file beside it
has the number of the process that holds it. Other users and machines have locks of their own.

`--state` names the state file. By default it is in git's common folder, which all worktrees of a
clone share, and outside a repository in the user's own folder for the state of programs. It is JSON
that only its user may read, it is replaced as a whole under a lock, and it contains no token. A
counter gives each event of the file its place: the begin of a delivery, which is its number, and
its end. An apply that sends a list holds a lock of that listing until the request has its answer:
so the holder knows that no earlier request of this machine is in flight, and notes that a delivery
without an end has ended there. A file that is damaged, or that belongs to a repository which git
does not trust, is an error: an empty memory would say that nothing was sent.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from hashlib import sha256
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from commandsync.api.credentials import Token
from commandsync.diagnostics import Do
from commandsync.errors import CommandsyncError, RefusedError
from commandsync.sync.earlier import GitError, git
from commandsync.sync.files import MOST_BYTES, read_file, reason, write_file

if TYPE_CHECKING:
    from filelock import BaseFileLock


_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A list that was sent, or may have been sent."""

    service: str  # the name of the service
    identity: str  # of the listing
    token: str  # the digest of the token that it was sent with
    digest: str  # of the request
    # The names of its commands; None if the store has no room for them.
    names: tuple[str, ...] | None
    size: int  # how many commands it has
    commit: str = ""  # the commit that was checked out; empty outside a repository
    at: datetime  # when it was sent, in UTC: only for people
    number: int = 0  # its place in the order of all deliveries of the store, which gives it
    is_sent: bool = False  # whether the service accepted it
    # When it was sent last, and until when it may have arrived, by the store's own order of events.
    began: float = 0.0
    ended: float = inf


class End(Enum):
    """The end of a delivery."""

    ACCEPTED = auto()
    UNCHANGED = auto()  # the request certainly changed nothing
    UNKNOWN = auto()  # it may have arrived, or may yet arrive


@dataclass(frozen=True, slots=True)
class Remembered:
    """The knowledge of a list that its service does not return."""

    # The lists that the service may show now, the newest first.
    possible: tuple[Delivery, ...] = ()
    # When the last list was sent with another token, if none was sent with this one.
    other_token: datetime | None = None

    @property
    def is_known(self) -> bool:
        """Whether no other list can be shown: one of these was accepted."""
        return any(delivery.is_sent for delivery in self.possible)


def token_digest(token: Token | None, identity: str) -> str:
    """Return the digest that the deliveries of one token to a listing have."""
    key = token.reveal() if token else ""
    return hmac.digest(key.encode(), identity.encode(), "sha256").hex()[:_DIGITS]


def remembered(deliveries: Iterable[Delivery], *, identity: str, token: str) -> Remembered:
    """Return the knowledge of a listing; `token` is the digest of the present token.

    If that is empty, it is the token that sent last.
    """
    here = [delivery for delivery in deliveries if delivery.identity == identity]
    here.sort(key=attrgetter("number"), reverse=True)
    own = [each for each in here if each.token == (token or here[0].token)]
    if not own:
        return Remembered((), here[0].at if here else None)
    last = next((each for each in own if each.is_sent), own[-1])
    return Remembered(tuple(each for each in own if _may_follow(last, each)))


def _may_follow(last: Delivery, other: Delivery) -> bool:
    """Whether a delivery may have arrived after the last accepted one, or is that."""
    return other.number >= last.number or other.ended >= last.began


Recheck = Callable[[Remembered], RefusedError | None]
"""Returns why a list must not be sent after all, by the knowledge now; None if it may be.

The job of a list plans again for that (`lists.ListJob`)."""


class Store(Protocol):
    """Keeps the deliveries of all runs.

    Each method raises `RefusedError` if the store cannot be read or written.
    """

    @property
    def is_shared(self) -> bool:
        """Whether the runs of all machines use it, or only the runs of this one."""

    def remembered(self, service: str, identity: str, token: str) -> Remembered:
        """Return the knowledge of a listing, by the digest of its token.

        Without a digest, the token counts that sent last.
        """

    def is_busy(self, identity: str) -> bool:
        """Whether another program on this machine sends a list to a listing.

        If not, none does so until the end of the next delivery to it.
        """

    def begin(self, delivery: Delivery, recheck: Recheck) -> Delivery:
        """Keep a delivery before its request is sent, and return it with its number.

        Other runs may have sent a list since the plan was made. Raises the error that `recheck`
        returns then.
        """

    def end(self, delivery: Delivery, end: End) -> None:
        """Keep the end of a delivery."""


INTERVAL = 0.1
"""Seconds between two attempts."""

_MOST_DIGITS = 20  # of the number of a process


class Locks:
    """The locks of some listings, by their identities; at first none of them is held.

    Two runs take several locks in the same order, so that neither waits for the other.
    """

    def __init__(self, identities: Iterable[str]) -> None:
        self._all = sorted(set(identities))
        self._left = [*self._all]
        self._held: list[BaseFileLock] = []
        self.problem = ""  # why there are no locks, once an attempt found that

    def attempt(self) -> str:
        """Take the locks that are free; return the identity of the first that is not, if any.

        Where the folder cannot be used, there are no locks.
        """
        while self._left and not self.problem:
            try:
                if not self._take(_path(self._left[0])):
                    return self._left[0]
            except OSError as error:
                self.problem = reason(error)
            else:
                del self._left[0]
        return ""

    def close(self) -> None:
        """Release all."""
        self._left = [*self._all]
        while self._held:
            self._held.pop().release()

    def _take(self, path: Path) -> bool:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - seldom needed

        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        self._held.append(lock)
        with suppress(CommandsyncError):  # only the message of another run names the process
            holder = str(path.with_suffix(".pid"))
            write_file(holder, f"{os.getpid()}\n", force=True, private=True)
        return True


def holder_of(identity: str) -> str:
    """Return the number of the process that holds a lock; empty if that is not known."""
    with suppress(CommandsyncError, ValueError):
        holder = str(_path(identity).with_suffix(".pid"))
        number = read_file(holder, most=_MOST_DIGITS).decode().strip()
        return number if number.isdecimal() else ""
    return ""


def _path(identity: str) -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415 - seldom needed

    return user_state_path(_NAME, appauthor=False) / f"{_name_of(identity)}.lock"


def _name_of(identity: str) -> str:
    """Return the name of a listing's lock."""
    return sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]


_VERSION = 1
_NAME = "commandsync"
_FILE = "state.json"
_SECONDS = 60.0  # to wait for another program that reads or writes the file
_REMOVE = (
    "restore it, or remove it: then nothing is known of the lists that were sent last, and "
    "the next apply has to be allowed to replace them"
)


def default_state(folder: str) -> str:
    """Return the path of the state file of a folder, if no option names one.

    Raises `RefusedError` if the folder is in a repository that git does not read.
    """
    try:
        common = os.fsdecode(git(folder, "rev-parse", "--git-common-dir")).strip("\n")
    except GitError as error:
        if "not a git repository" not in error.message:
            message = f"the list sent last is not known: {error.message}"
            raise RefusedError(message, hint=error.hint) from error
    except CommandsyncError as error:  # git is not installed
        here = Path(folder).absolute()
        if any((above / ".git").exists() for above in (here, *here.parents)):
            message = f"the list sent last is not known: {error.message}"
            raise RefusedError(message, hint=Do.NAME_STATE()) from error
    else:
        return str((Path(folder) / common).resolve() / _NAME / _FILE)
    from platformdirs import user_state_path  # noqa: PLC0415 - seldom needed

    return str(user_state_path(_NAME, appauthor=False) / _FILE)


class _State(NamedTuple):
    """The content of the file."""

    counter: int = 0
    deliveries: tuple[Delivery, ...] = ()


@dataclass(slots=True)
class StateFile:
    """The store in a file."""

    path: str
    _sending: dict[str, BaseFileLock] = field(default_factory=dict)  # by the identities of listings

    @property
    def is_shared(self) -> bool:
        """Return False: other machines have files of their own."""
        return False

    def remembered(self, service: str, identity: str, token: str) -> Remembered:  # noqa: ARG002 - one file has all
        """Return the knowledge of a listing, by the digest of its token."""
        return remembered(self._read().deliveries, identity=identity, token=token)

    def is_busy(self, identity: str) -> bool:
        """Take the lock of a listing, and return whether another program has it."""
        if identity not in self._sending:
            lock = self._lock(f"{self.path}.{_name_of(identity)}.lock")
            if not _acquired(lock, 0):
                return True
            self._sending[identity] = lock
        return False

    def begin(self, delivery: Delivery, recheck: Recheck) -> Delivery:
        """Keep a delivery; no other program may send to its listing."""
        if self.is_busy(delivery.identity):
            raise RefusedError("another apply sends a list to this listing", hint="run again")
        try:
            return self._begun(delivery, recheck)
        except BaseException:
            self._sending.pop(delivery.identity).release()
            raise

    def _begun(self, delivery: Delivery, recheck: Recheck) -> Delivery:
        """Keep a delivery; the caller holds the lock of its listing."""
        identity, token = delivery.identity, delivery.token
        with self._changed() as (before, write):
            refused = recheck(remembered(before.deliveries, identity=identity, token=token))
            if refused:
                raise refused
            number = before.counter + 2
            # The lock proves that no earlier request of this machine is in flight.
            earlier = tuple(
                replace(each, ended=number - 1.0)
                if each.identity == identity and each.ended == inf
                else each
                for each in before.deliveries
            )
            begun = replace(delivery, number=number, began=float(number), ended=inf)
            write(_State(number, (*earlier, begun)))
        return begun

    def end(self, delivery: Delivery, end: End) -> None:
        """Keep the end of a delivery."""
        try:
            with self._changed() as (before, write):
                number = before.counter + 1
                accepted = end is End.ACCEPTED
                ended = replace(delivery, is_sent=accepted, ended=float(number))
                kept = [each for each in before.deliveries if each.number != delivery.number]
                if end is not End.UNCHANGED:
                    kept.append(ended)
                # Only deliveries that can still count stay, of each listing and token.
                keys = dict.fromkeys((each.identity, each.token) for each in kept)
                known = (remembered(kept, identity=place, token=token) for place, token in keys)
                counting = tuple(each for memory in known for each in memory.possible)
                write(_State(number, counting))
        finally:
            if lock := self._sending.pop(delivery.identity, None):
                lock.release()

    def _lock(self, path: str) -> BaseFileLock:
        from filelock import FileLock  # noqa: PLC0415 - seldom needed

        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"the folder of {self.path} cannot be created: {error.strerror}"
            raise RefusedError(message, hint=Do.NAME_STATE()) from error
        return FileLock(path, mode=0o600, thread_local=False)

    @contextmanager
    def _changed(self) -> Iterator[tuple[_State, Callable[[_State], None]]]:
        """Hold the lock of the file; yield its content, and the function that replaces it."""
        lock = self._lock(f"{self.path}.lock")
        if not _acquired(lock, _SECONDS):
            hint = "end the program that uses it, and run again"
            raise RefusedError(f"{self.path} is locked by another program", hint=hint)
        try:
            yield self._read(), self._write
        finally:
            lock.release()

    def _write(self, state: _State) -> None:
        document = {
            "version": _VERSION,
            "counter": state.counter,
            "sent": [_written(each) for each in state.deliveries],
        }
        text = json.dumps(document, indent=1) + "\n"
        try:
            write_file(self.path, text, force=True, new_folder=True, private=True)
        except CommandsyncError as error:
            message = f"the sent list cannot be recorded: {error.message}"
            raise RefusedError(message, hint=Do.NAME_STATE()) from error

    def _read(self) -> _State:
        """Read the file; without one, nothing was sent."""
        if not os.path.lexists(self.path):
            return _State()
        unknown = "the list sent last is not known"
        try:
            document = json.loads(read_file(self.path, most=MOST_BYTES))
            version = document["version"]
            if version == _VERSION:
                deliveries = tuple(_loaded(each) for each in document["sent"])
                return _State(_checked(document["counter"], int), deliveries)
        except CommandsyncError as error:
            raise RefusedError(f"{unknown}: {error.message}", hint=Do.NAME_STATE()) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RefusedError(f"{unknown}: {self.path} is damaged", hint=_REMOVE) from error
        message = f"{unknown}: {self.path} is of version {version}, and this program reads 1"
        raise RefusedError(message, hint=_REMOVE)


def _acquired(lock: BaseFileLock, seconds: float) -> bool:
    """Whether a lock is free in time; raises `RefusedError` if it cannot be locked."""
    from filelock import Timeout  # noqa: PLC0415 - seldom needed

    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        return False
    except OSError as error:
        message = f"{lock.lock_file} cannot be locked: {(error.strerror or 'failed').lower()}"
        raise RefusedError(message, hint=Do.NAME_STATE()) from error
    return True


def _written(delivery: Delivery) -> dict[str, Any]:
    return {
        "number": delivery.number,
        "service": delivery.service,
        "identity": delivery.identity,
        "token": delivery.token,
        "state": "sent" if delivery.is_sent else "sending",
        "at": delivery.at.isoformat(),
        "commit": delivery.commit,
        "request": delivery.digest,
        "ended": None if delivery.ended == inf else int(delivery.ended),
        "names": list(delivery.names or ()),
    }


def _loaded(record: Mapping[str, Any]) -> Delivery:
    """Read a delivery; raises `ValueError`, `KeyError` or `TypeError` if it has another form."""
    texts = {
        key: _checked(record[key], str)
        for key in ("service", "identity", "token", "commit", "request", "at", "state")
    }
    names = tuple(_checked(name, str) for name in _checked(record["names"], list))
    ended, at = record["ended"], datetime.fromisoformat(texts["at"])
    if texts["state"] not in {"sending", "sent"} or at.tzinfo is None:
        raise ValueError("another state")
    number = _checked(record["number"], int)
    return Delivery(
        service=texts["service"],
        identity=texts["identity"],
        token=texts["token"],
        digest=texts["request"],
        names=names,
        size=len(names),
        commit=texts["commit"],
        at=at,
        number=number,
        is_sent=texts["state"] == "sent",
        began=float(number),
        ended=inf if ended is None else float(_checked(ended, int)),
    )


def _checked(value: Any, kind: type) -> Any:  # noqa: ANN401 - any JSON
    if type(value) is not kind:
        raise TypeError(f"not {kind.__name__}")
    return value
