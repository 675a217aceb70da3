"""`python -m commandsync`, and the script `commandsync`: signals are handled first.

It imports only modules that Python has loaded when it starts, so that nothing comes before the
handlers. A signal that comes while Python itself starts is handled by Python.
"""

import _signal  # type: ignore[import-not-found]  # signal.py without enum, which takes longer
from os import _exit

early: list[int] = []
"""The signals that came before the program was loaded."""


def _note(number: int, _frame: object) -> None:
    """Record a signal until the program can report it; a second one ends the process at once."""
    if early:
        _exit(128 + early[0])
    early.append(number)


for _number in (_signal.SIGINT, _signal.SIGTERM):
    _signal.signal(_number, _note)


def main() -> None:
    """Run the command line; it exits with its code."""
    from commandsync.cli import program  # noqa: PLC0415 - signals first

    program.main(early)


if __name__ == "__main__":
    main()
