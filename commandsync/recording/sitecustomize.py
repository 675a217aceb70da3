"""Loaded by each Python of a recorded program: libraries that bring their own roots trust the run.

It is a file of the run and imports nothing of commandsync: it runs in the program's own Python, of
any version. Libraries such as certifi (aiogram, httpx) do not look at the roots of the machine.
"""

import os
import ssl
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_AUTHORITY = os.path.join(os.path.dirname(_HERE), "authority.pem")
_load = ssl.SSLContext.load_verify_locations


def _load_with_authority(self, *arguments, **named):
    _load(self, *arguments, **named)
    _load(self, cafile=_AUTHORITY)


def _load_next():
    """Load the sitecustomize that this one hides, if there is one."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    path = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
    found = PathFinder.find_spec("sitecustomize", path)
    if found and found.loader:
        found.loader.exec_module(module_from_spec(found))


if os.path.isfile(_AUTHORITY):
    ssl.SSLContext.load_verify_locations = _load_with_authority
_load_next()
