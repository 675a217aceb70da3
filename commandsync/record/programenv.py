"""The environment of a recorded program: no real token in it, and the run's authority trusted.

Values with the shape of a platform's token are replaced, keeping the part that is an id, so that a
bot finds itself; the common names of token variables are set where they are not. Proxies are
removed, since each connection goes to a stand-in.

Shapes: Discord's documentation, "Authentication"; core.telegram.org/bots/api, "Authorizing".
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import trustme

DISCORD, TELEGRAM = "discord", "telegram"
APPLICATION = "1000000000000000001"
"""The application's id where no token shows one."""

_HOOKS = Path(__file__).with_name("hooks")
_SECRET = "recording-" * 6
_DISCORD_TOKEN = re.compile(r"(?<![\w.-])([\w-]{20,34})\.([\w-]{5,8})\.([\w-]{25,})(?![\w.-])")
_TELEGRAM_TOKEN = re.compile(r"(?<![\w:-])(\d{6,12}):([\w-]{30,50})(?![\w:-])")
_OWN_VARIABLES = re.compile("COMMANDSYNC_|GITHUB_TOKEN$|ACTIONS_")  # none of these is the program's
_PROXY = re.compile("(https?|all|no|ftp)_proxy$", re.IGNORECASE)
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_LASTS = dt.timedelta(days=2)


def application_of(token: str) -> str | None:
    """Return the application's id in a token of Discord, or in its header; None without one."""
    part = token.removeprefix("Bot ").partition(".")[0]
    try:
        decoded = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_").decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return decoded if decoded.isdigit() else None


def without_tokens(text: str) -> str:
    """Return a text in which each platform's token has its id and no secret."""

    def discord(found: re.Match[str]) -> str:
        if application_of(found[1]) is None:
            return found[0]
        return f"{found[1]}.{_SECRET[:6]}.{_SECRET[:38]}"

    text = _DISCORD_TOKEN.sub(discord, text)
    return _TELEGRAM_TOKEN.sub(lambda found: f"{found[1]}:{_SECRET[:35]}", text)


def discord_token(application: str) -> str:
    """Return a token of Discord's shape for an application."""
    part = base64.urlsafe_b64encode(application.encode()).decode().rstrip("=")
    return f"{part}.{_SECRET[:6]}.{_SECRET[:38]}"


def telegram_token(bot: str) -> str:
    """Return a token of Telegram's shape for a bot."""
    return f"{bot}:{_SECRET[:35]}"


def application_in(environment: Mapping[str, str]) -> str:
    """Return the application whose token is in an environment, or the one of the stand-in."""
    for value in environment.values():
        for found in _DISCORD_TOKEN.finditer(value):
            if application := application_of(found[1]):
                return application
    return APPLICATION


def program_environment(
    environment: Mapping[str, str], trust: Trust, *, platform: str
) -> dict[str, str]:
    """Return the environment that the program gets instead of this one.

    `platform` says which shape a token has whose variable names no platform.
    """
    kept = {
        name: without_tokens(value)
        for name, value in environment.items()
        if not (_PROXY.match(name) or _OWN_VARIABLES.match(name))
    }
    application = application_in(environment)
    tokens = {DISCORD: discord_token(application), TELEGRAM: telegram_token("1000001")}
    made = {
        "DISCORD_TOKEN": tokens[DISCORD],
        "TOKEN": tokens[platform],
        "BOT_TOKEN": tokens[platform],
        "CLIENT_ID": application,
    }
    return {**made, **kept, **trust.variables(environment)}


@dataclass(frozen=True, slots=True)
class Trust:
    """The files of a run by which its program trusts the stand-ins, and their own certificate.

    The authority's key is in memory only, and ends with the run.
    """

    folder: Path
    server: ssl.SSLContext

    @classmethod
    def make(cls, folder: Path, hosts: tuple[str, ...]) -> Trust:
        """Make an authority and a certificate for hosts, and write what the program reads."""
        authority = trustme.CA(organization_name="commandsync, a recording")
        names = [f"*{host}" if host.startswith(".") else host for host in hosts]
        until = dt.datetime.now(dt.UTC) + _LASTS
        issued = authority.issue_cert(*names, "localhost", not_after=until)
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued.configure_cert(server)
        own = authority.cert_pem.bytes()
        (folder / "authority.pem").write_bytes(own)
        (folder / "roots.pem").write_bytes(b"\n".join([own, *_system_roots()]))
        return cls(folder, server)

    @property
    def system_files(self) -> dict[str, str]:
        """The roots of the run in the places of this machine's own, for programs without variables.

        They serve children that get an empty environment; Node reads none of them.
        """
        return dict.fromkeys(_BUNDLES, str(self.folder / "roots.pem"))

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables by which programs find the authority."""
        authority, roots = (str(self.folder / f"{name}.pem") for name in ("authority", "roots"))
        path = [str(_HOOKS), environment.get("PYTHONPATH", "")]
        return {
            "NODE_EXTRA_CA_CERTS": authority,
            "DENO_CERT": authority,
            "SSL_CERT_FILE": roots,
            "REQUESTS_CA_BUNDLE": roots,
            "COMMANDSYNC_RECORD_AUTHORITY": authority,
            "PYTHONPATH": ":".join(filter(None, path)),
        }

    def redirects(
        self, port: int, allowed: tuple[str, ...], hosts: tuple[str, ...]
    ) -> dict[str, str]:
        """Return the variables by which the hooks redirect a program that has no fence."""
        return {
            "COMMANDSYNC_RECORD_PORT": str(port),
            "COMMANDSYNC_RECORD_ALLOWED": " ".join(allowed),
            "COMMANDSYNC_RECORD_PLATFORM": " ".join(hosts),
            "COMMANDSYNC_RECORD_REFUSED": str(self.folder / "refused.txt"),
            "NODE_OPTIONS": f"--require {json.dumps(str(_HOOKS / 'preload.cjs'))}",
        }


def _system_roots() -> list[bytes]:
    """Return the roots that this machine trusts."""
    paths = ssl.get_default_verify_paths()
    file = Path(paths.cafile or paths.openssl_cafile)
    return [file.read_bytes()] if file.is_file() else []
