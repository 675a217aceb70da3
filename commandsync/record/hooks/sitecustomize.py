"""Loaded by each Python of a recorded program: the run's authority, and redirects if unfenced.

It is a file of the run and imports nothing of commandsync: it runs in the program's own Python, of
any version. Libraries that bring their own roots (aiogram, httpx with certifi) get the run's
authority as well. Without a fence, connections to the platforms go to the stand-ins, those that
are allowed go through, and all others are refused and written down.
"""

import os
import socket
import ssl
import sys

_AUTHORITY = os.environ.get("COMMANDSYNC_RECORD_AUTHORITY", "")
_PORT = int(os.environ.get("COMMANDSYNC_RECORD_PORT", "0"))  # 0: there is a fence
_ALLOWED = os.environ.get("COMMANDSYNC_RECORD_ALLOWED", "").split()
_PLATFORM = tuple(os.environ.get("COMMANDSYNC_RECORD_PLATFORM", "").split())
_REFUSED = os.environ.get("COMMANDSYNC_RECORD_REFUSED", "")
_names = {}  # hosts by the address that was answered for them


def _trust():
    load = ssl.SSLContext.load_verify_locations

    def load_with_authority(self, *arguments, **named):
        load(self, *arguments, **named)
        load(self, cafile=_AUTHORITY)

    ssl.SSLContext.load_verify_locations = load_with_authority


def _is_platform(host):
    return any(host == name or (name[0] == "." and host.endswith(name)) for name in _PLATFORM)


def _refuse(host):
    with open(_REFUSED, "a", encoding="utf-8") as file:
        file.write(f"{host}\n")


def _redirect():
    look_up, connect = socket.getaddrinfo, socket.socket.connect
    connect_ex, send_to = socket.socket.connect_ex, socket.socket.sendto

    def look_up_known(host, port, *arguments, **named):
        name = host.decode() if isinstance(host, bytes) else host
        if (
            name is None
            or f"{name}:{port}" in _ALLOWED
            or name in {"localhost", "127.0.0.1", "::1"}
        ):
            return look_up(host, port, *arguments, **named)
        if _is_platform(name.lower()):
            return look_up("127.0.0.1", _PORT, *arguments, **named)
        _refuse(name)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known (recording)")

    def checked(self, address):
        if self.family not in {socket.AF_INET, socket.AF_INET6}:
            return address
        host, port = address[:2]
        if _is_platform(str(host).lower()):
            return ("127.0.0.1", _PORT)
        local = host in {"127.0.0.1", "::1", "localhost"}
        if (local and port == _PORT) or f"{host}:{port}" in _ALLOWED:
            return address
        _refuse(f"{host}:{port}")
        raise ConnectionRefusedError(111, "Connection refused (recording)")

    socket.getaddrinfo = look_up_known
    socket.socket.connect = lambda self, address: connect(self, checked(self, address))
    socket.socket.connect_ex = lambda self, address: connect_ex(self, checked(self, address))
    socket.socket.sendto = lambda self, data, *rest: send_to(
        self, data, *rest[:-1], checked(self, rest[-1])
    )


def _load_next():
    """Load the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = [place for place in sys.path if os.path.abspath(place or ".") != here]
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    found = PathFinder.find_spec("sitecustomize", path)
    if found and found.loader:
        found.loader.exec_module(module_from_spec(found))


if _AUTHORITY:
    _trust()
if _PORT:
    _redirect()
_load_next()
