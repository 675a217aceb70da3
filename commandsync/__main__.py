"""`python -m commandsync`, and the script `commandsync`: signals are handled before all else.

What is imported here is loaded when Python starts, so that nothing comes before the handlers. A
signal that comes earlier still, while Python itself starts, is Python's to handle.
"""

import _signal  # type: ignore[import-not-found]  # signal.py without enum, which takes longer
from os import _exit

early: list[int] = []
"""The signals that have come by now."""


def _note(number: int, _frame: object) -> None:
    """Note a signal until the program can tell of it; a second one ends it at once."""
    if early:
        _exit(128 + early[0])
    early.append(number)


for _number in (_signal.SIGINT, _signal.SIGTERM):
    _signal.signal(_number, _note)


def main() -> None:
    """Run the command line; it leaves with its exit code."""
    from commandsync.cli import main as run  # noqa: PLC0415 - signals first

    run(early)


if __name__ == "__main__":
    main()
