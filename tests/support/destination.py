"""A simulated service that takes a whole list, behind a server that counts and replaces answers.

Its lists are checked without the package's own rules.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests

from commandsync.testing import SimulatedListing
from tests.support.bots import Instead, Proxy
from tests.support.home import Home, Ran, fields
from tests.support.rawserver import Request
from tests.support.simulations import serve_simulation

SERVICES = ("top.gg", "discordbotlist.com", "telegram", "disq.ink")
UNREAD = tuple(name for name in SERVICES if name != "telegram")
NAMES = [f"command{number}" for number in range(10)]
SENT = "sent.yaml"

LOST = Instead(0)
LOST_AFTER = Instead(0, forwarded=True)

Fault = Callable[[SimulatedListing], Instead | None]


@dataclass
class Destination:
    """A simulation, and the manifest of a bot that is listed there."""

    home: Home
    listing: SimulatedListing
    proxy: Proxy

    @property
    def entry(self) -> str:
        """Its entry in `listings:`."""
        written = self.listing.manifest.replace(self.listing.base_url, self.proxy.url)
        written = written.replace("absent: empty", "absent: empty, keep: [is_ephemeral, icon]")
        return written.removeprefix("listings:\n")

    @property
    def is_read(self) -> bool:
        return self.listing.service in {"telegram", "max"}

    @property
    def names(self) -> list[str]:
        """The names that it shows."""
        return [record.get("name") or record["command"] for record in self.listing.commands]

    def call(self, method: str, **body: Any) -> Any:  # noqa: ANN401 - JSON
        """Call a method of Telegram as another program does, and return its result."""
        return self.post(method, **body)["result"]

    def post(self, method: str, **body: Any) -> Any:  # noqa: ANN401 - JSON
        """Call a method of Telegram as another program does, and return the answer."""
        url = f"{self.listing.base_url}/bot{self.listing.token}/{method}"
        return requests.post(url, json=body, timeout=10).json()

    @property
    def secret(self) -> str:
        """The part of its token that nothing may show."""
        return self.listing.token.rpartition(":")[2]

    @property
    def known(self) -> tuple[str, ...]:
        """The options with which a run knows the list sent last."""
        return () if self.is_read else ("--since", SENT)

    def manifest(self, *records: str | tuple[str, ...], more: str = "") -> str:
        texts = [(each,) if isinstance(each, str) else each for each in records]
        bot = f'bot: "{self.listing.bot}"\n'
        return f"{fields(*texts)}{bot}listings:\n{self.entry}{more}"

    def write(self, *records: str | tuple[str, ...], more: str = "", name: str = "") -> None:
        self.home.write(self.manifest(*records, more=more), name or "commands.yaml")

    def apply(self, *options: str, form: str = "json", exits: int | None = None) -> Ran:
        """Apply; where the list is read, `--unseen` is left out, which is not for such lists."""
        options = tuple(each for each in options if each != "--unseen" or not self.is_read)
        return self.home.run("apply", "--yes", "--format", form, *options, exits=exits)

    def sent(self, *records: str | tuple[str, ...]) -> None:
        """Let commands be sent, and remember the manifest; requests are counted from now on."""
        self.write(*records)
        self.write(*records, name=SENT)
        self.apply("--unseen", exits=0)
        self.proxy.requests.clear()

    def fail(self, fault: Fault, *, times: int = 1_000, reads: bool = False) -> None:
        """Let a fault happen to the next writes, or to reads too."""
        left = iter(range(times))

        def rule(request: Request) -> Instead | None:
            is_meant = reads or request.writes
            return fault(self.listing) if is_meant and next(left, None) is not None else None

        self.proxy.rule = rule


def result_of(ran: Ran) -> Any:  # noqa: ANN401 - any document
    """Return the one result or plan in the document of a run."""
    document = ran.document
    return document["results"][0] if "results" in document else document


def outcomes(ran: Ran) -> dict[str, int]:
    """Return the outcomes of the changes that are not zero."""
    return {name: count for name, count in result_of(ran)["outcomes"].items() if count}


@contextmanager
def destination(home: Home, service: str, **choices: Any) -> Iterator[Destination]:  # noqa: ANN401 - as of simulations
    """Run a simulation with its proxy; its token is in the environment."""
    with serve_simulation(service, **choices) as listing, Proxy(listing.base_url) as proxy:
        home.variable(listing.variable, listing.token)
        yield Destination(home, listing, proxy)


SUB_COMMAND, GROUP = 1, 2


def discord_problems(array: list[dict[str, Any]], *, description: int = 100) -> list[str]:
    """Return what Discord's documentation does not allow in an array of commands."""
    return list(_problems(array, level=0, description=description))


def _problems(nodes: list[dict[str, Any]], *, level: int, description: int) -> Iterator[str]:
    names = [node["name"] for node in nodes]
    if len(set(names)) != len(names):
        yield f"a name is there twice: {names}"
    if level and not 1 <= len(nodes) <= 25:
        yield f"{len(nodes)} options"
    for node in nodes:
        inner = node.get("options")
        yield from _texts(node, description)
        if node.keys() - {"options"} != {"name", "description", "type"}:
            yield f"keys: {node}"
        if node["type"] != (GROUP if level and inner is not None else SUB_COMMAND):
            yield f"type: {node}"
        if inner is not None:
            yield from _problems(inner, level=level + 1, description=description)
            yield from ["too deep"] * (level == 2)


def _texts(node: dict[str, Any], description: int) -> Iterator[str]:
    name = node["name"]
    if not (1 <= utf16(name) <= 32 and all(map(is_in_discord_names, name))) or name != name.lower():
        yield f"name: {node}"
    if not 1 <= utf16(node["description"]) <= description:
        yield f"description: {node}"


def is_in_discord_names(character: str) -> bool:
    """Return whether a name of Discord can have a character, by Unicode's names of its scripts."""
    if character in "-_'" or unicodedata.category(character)[0] in "LN":
        return True
    name = unicodedata.name(character, "")
    return "DEVANAGARI" in name or name.startswith("THAI CHARACTER ")


def telegram_problems(array: list[dict[str, Any]]) -> list[str]:
    """Return what Telegram's documentation does not allow in a list of commands."""
    found = [
        str(each)
        for each in array
        if each.keys() != {"command", "description"}
        or not re.fullmatch("[a-z0-9_]{1,32}", each["command"], re.ASCII)
        or not 1 <= utf16(each["description"]) <= 256
    ]
    names = [each["command"] for each in array]
    return found + ["too many"] * (len(array) > 100) + ["twice"] * (len(set(names)) < len(names))


def leaves(nodes: list[dict[str, Any]], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and description of each command, group and sub-command of an array."""
    for node in nodes:
        yield above + node["name"], node["description"]
        yield from leaves(node.get("options", []), f"{above}{node['name']} ")


def utf16(text: str) -> int:
    """Return a length as JavaScript counts it."""
    return sum(2 if ord(character) > 0xFFFF else 1 for character in text)
