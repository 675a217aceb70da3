"""The environment of a recorded program: listed variables only, and no real token.

Only the variables that a program needs to start are passed on: the `PATH`, the locale, the
variables of its language, and the names in the project's own `.env` and in `--env`. In each value,
a platform's token keeps the part that is an id, so that a bot finds itself, and loses its secret.
The common names of token variables are always set to the stand-in's.

`Trust` is the certificate of the stand-ins, and the files by which programs find its authority.

Shapes: Discord's documentation, "Authentication"; core.telegram.org/bots/api, "Authorizing".
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import os
import re
import ssl
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import trustme

DISCORD, TELEGRAM = "discord", "telegram"
APPLICATION = "1000000000000000001"
"""The application's id where no token shows one."""

_SECRET = "recording-" * 6
_DISCORD_TOKEN = re.compile(r"([\w-]{20,})\.([\w-]{5,8})\.([\w-]{25,})")
_SHORTEST_ID = 20  # characters of the first part of such a token
_TELEGRAM_TOKEN = re.compile(r"(?<!\d)(\d{6,12})(:|%3[Aa])([\w-]{30,50})(?![\w-])")
_PASSED = re.compile(
    r"PATH$|HOME$|USER$|LOGNAME$|SHELL$|TERM$|TZ$|LANG$|LANGUAGE$|LC_\w+$|LD_LIBRARY_PATH$"
    r"|NODE_(?:ENV|OPTIONS|PATH)$|NVM_\w+$|VOLTA_HOME$|BUN_INSTALL$|DENO_DIR$|TS_NODE_\w+$"
    r"|PYTHON\w+$|PYENV_\w+$|VIRTUAL_ENV$|CONDA_\w+$|POETRY_\w*ENVIRONMENTS?_\w+$|UV_PYTHON\w*$"
    r"|JAVA_HOME$|JDK_HOME$|GO(?:PATH|ROOT|CACHE|FLAGS)$|CARGO_HOME$|RUSTUP_HOME$|RUST_\w+$"
    r"|DOTNET_\w+$|GEM_(?:HOME|PATH)$|RUBY\w+$|BUNDLE_(?:PATH|GEMFILE)$|PHPRC$|ASDF_\w+$|MISE_\w+$"
)
"""The variables that a program, or its language, needs to start."""
_SECRET_NAME = re.compile("TOKEN|SECRET|KEY|PASSWORD", re.IGNORECASE)
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$")
_LARGEST_ENV = 1 << 20  # bytes
_SHORTEST_SECRET = 8
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "example.env")
_READ = re.compile(
    r"process\.env(?:\.|\[['\"])(\w+)"  # JavaScript
    r"|(?:os\.environ\[|os\.environ\.get\(|getenv\()\s*['\"](\w+)"  # Python
)
_SCRIPTS = {".js", ".cjs", ".mjs", ".ts", ".py"}
_LIBRARIES = {"node_modules", "venv", "env", "site-packages", "dist", "build", "__pycache__"}
_MOST_FILES = 300
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_OWN = "/run/commandsync"  # inside the fence
_NAME_SERVICE = {
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
"""The files by which programs find hosts, as they are inside."""
_LASTS = dt.timedelta(days=2)


def application_of(token: str) -> str | None:
    """Return the application's id in a token of Discord, or in its header; None without one."""
    part = token.removeprefix("Bot ").partition(".")[0]
    try:
        decoded = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_").decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return decoded if re.fullmatch(r"\d{15,20}", decoded) else None


def _id_part(found: re.Match[str]) -> str:
    """Return the part of a token with the id, or an empty text; other text may come before it."""
    given = found[1]
    parts = (given[start:] for start in range(len(given) - _SHORTEST_ID + 1))
    return next((part for part in parts if application_of(part)), "")


def without_tokens(text: str) -> str:
    """Return a text in which each platform's token has its id and no secret."""

    def discord(found: re.Match[str]) -> str:
        if not (part := _id_part(found)):
            return found[0]
        return f"{found[1].removesuffix(part)}{part}.{_SECRET[:6]}.{_SECRET[:38]}"

    text = _DISCORD_TOKEN.sub(discord, text)
    return _TELEGRAM_TOKEN.sub(lambda found: f"{found[1]}{found[2]}{_SECRET[:35]}", text)


def has_token(text: str) -> bool:
    """Whether a text has a token of a platform."""
    return without_tokens(text) != text


def discord_token(application: str) -> str:
    """Return a token of Discord's shape for an application."""
    part = base64.urlsafe_b64encode(application.encode()).decode().rstrip("=")
    return f"{part}.{_SECRET[:6]}.{_SECRET[:38]}"


def telegram_token(bot: str) -> str:
    """Return a token of Telegram's shape for a bot."""
    return f"{bot}:{_SECRET[:35]}"


def application_in(environment: Mapping[str, str]) -> str:
    """Return the application whose token is in an environment, or the stand-in's."""
    for value in environment.values():
        for found in _DISCORD_TOKEN.finditer(value):
            if application := application_of(_id_part(found)):
                return application
    return APPLICATION


def read_variables(path: Path) -> dict[str, str]:
    """Return the variables of a file such as `.env`: none if it is not a regular file.

    A link, a pipe or a device is not read: the file is the bot's, and can be any of them.
    """
    with suppress(OSError):
        flags = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        number = os.open(path, os.O_RDONLY | flags)
        with os.fdopen(number, "rb") as file:
            if stat.S_ISREG(os.fstat(number).st_mode):
                text = file.read(_LARGEST_ENV).decode("utf-8", "replace")
                variables = {}
                for line in filter(None, map(_LINE.match, text.splitlines())):
                    name, value = line.groups()
                    if value[:1] in {"'", '"', "`"} and value[0] in value[1:]:
                        value = value[1 : value.index(value[0], 1)]
                    else:
                        value = re.split(r"\s+#", value, maxsplit=1)[0]
                    variables[name] = value
                return variables
    return {}


def secrets_in(variables: Mapping[str, str]) -> list[str]:
    """Return the values that are secrets: by their names, or since they are a platform's token."""
    return [
        value
        for name, value in variables.items()
        if len(value) >= _SHORTEST_SECRET
        and (has_token(value) or (_SECRET_NAME.search(name) and not value.isdecimal()))
    ]


def unset_variables(folder: Path, known: Iterable[str]) -> list[str]:
    """Return the variables that have no value, and that an example of `.env` or the code names."""
    have = {*read_variables(folder / ".env"), *known}
    named = [name for file in _EXAMPLES for name in read_variables(folder / file)]
    for path in islice(_code(folder), _MOST_FILES):
        with suppress(OSError):
            text = path.read_bytes()[:_LARGEST_ENV].decode("utf-8", "replace")
            named += [found[1] or found[2] for found in _READ.finditer(text)]
    return [name for name in dict.fromkeys(named) if name not in have]


def _code(folder: Path) -> Iterator[Path]:
    """Yield the files of code in a folder, without its libraries."""
    for place, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if each[0] != "." and each not in _LIBRARIES]
        for name in files:
            path = Path(place, name)
            if path.suffix in _SCRIPTS and path.is_file() and not path.is_symlink():
                yield path


def program_environment(
    environment: Mapping[str, str], folder: Path, named: Iterable[str], *, platform: str
) -> dict[str, str]:
    """Return the environment that the program gets instead of this one.

    `named` are further variables that are passed on; `platform` says the platform of a
    token whose variable names none.
    """
    own = {*named, *read_variables(folder / ".env")}
    kept = {
        name: without_tokens(value)
        for name, value in environment.items()
        if _PASSED.match(name) or name in own or has_token(value)
    }
    application = application_in(environment)
    tokens = {DISCORD: discord_token(application), TELEGRAM: telegram_token("1000001")}
    made = {
        "DISCORD_TOKEN": tokens[DISCORD],
        "TOKEN": tokens[platform],
        "BOT_TOKEN": tokens[platform],
        "CLIENT_ID": application,
    }
    # A token of its platform keeps its id; any other value under such a name is another secret.
    made |= {name: kept[name] for name in made if has_token(environment.get(name, ""))}
    if environment.get("CLIENT_ID", "").isdecimal():
        made["CLIENT_ID"] = environment["CLIENT_ID"]
    path = filter(None, (f"{_OWN}/python", kept.get("PYTHONPATH", "")))
    return {
        **kept,
        **made,
        "NODE_EXTRA_CA_CERTS": f"{_OWN}/authority.pem",
        "DENO_CERT": f"{_OWN}/authority.pem",
        "SSL_CERT_FILE": f"{_OWN}/roots.pem",
        "REQUESTS_CA_BUNDLE": f"{_OWN}/roots.pem",
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@dataclass(frozen=True, slots=True)
class Trust:
    """The certificate of the stand-ins, and the files by which the program trusts it.

    The authority's key is in memory only, and ends with the run.
    """

    server: ssl.SSLContext
    files: Mapping[str, str]  # the texts that are seen at paths inside the fence

    @classmethod
    def make(cls, hosts: Iterable[str]) -> Trust:
        """Make an authority, and a certificate for hosts."""
        authority = trustme.CA(organization_name="commandsync, a recording")
        names = [f"*{host}" if host.startswith(".") else host for host in hosts]
        until = dt.datetime.now(dt.UTC) + _LASTS
        issued = authority.issue_cert(*names, "localhost", not_after=until)
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued.configure_cert(server)
        own = authority.cert_pem.bytes().decode()
        paths = ssl.get_default_verify_paths()
        file = Path(paths.cafile or paths.openssl_cafile)
        machine = [file.read_text(encoding="utf-8", errors="replace")] if file.is_file() else []
        roots = "\n".join([own, *machine])
        hook = Path(__file__).with_name("sitecustomize.py").read_text(encoding="utf-8")
        files = {
            **_NAME_SERVICE,
            **dict.fromkeys(_BUNDLES, roots),
            f"{_OWN}/authority.pem": own,
            f"{_OWN}/roots.pem": roots,
            f"{_OWN}/python/sitecustomize.py": hook,
        }
        return cls(server, files)
