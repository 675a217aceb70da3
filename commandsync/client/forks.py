"""What a forked child does not share with its parent: locks, places of requests, connections."""

import os
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """An object that is of use in a child only after it is renewed."""

    def renew(self) -> object:
        """Forget what threads and sockets of the parent hold; returns what must stay alive."""


_all: WeakSet[Renewable] = WeakSet()
_left: list[object] = []  # a pool or loop that is collected would change what the parent watches


def renew_in_children(renewable: Renewable) -> None:
    """Renew an object in every child that is forked from now on.

    The threads of the parent do not run in a child. A lock that one of them held would never be
    released there, and neither would the place of its request.
    """
    _all.add(renewable)


def _renew() -> None:
    _left.extend(renewable.renew() for renewable in _all)


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows cannot fork
    os.register_at_fork(after_in_child=_renew)
