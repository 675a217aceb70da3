import signal
import subprocess
import sys

import pytest

from commandsync.sync.process import Interruption, handled, of_signal, unwrapped
from tests.support.home import LONGEST


def test_a_signal_has_the_exit_code_of_shells() -> None:
    assert (of_signal(2), of_signal(15)) == (130, 143)


def test_a_signal_ends_a_run_that_writes_nothing() -> None:
    with handled() as signals:
        with pytest.raises(Interruption) as raised:
            signal.raise_signal(signal.SIGTERM)

        assert raised.value.number == signals.number == signal.SIGTERM


def test_an_interruption_that_became_another_exception_is_one_still() -> None:
    class Signalled:
        def __set_name__(self, *_: object) -> None:
            raise Interruption(signal.SIGINT)

    with pytest.raises(Interruption), unwrapped():
        type("Owner", (), {"attribute": Signalled()})
    with pytest.raises(RuntimeError, match="a defect"), unwrapped():
        raise RuntimeError("a defect")


def test_while_something_is_written_signals_are_answered_and_counted() -> None:
    heard: list[int] = []

    with handled() as signals:
        with signals.answered_by(heard.append):
            assert signals.writing
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)

        assert heard == [1, 2]
        assert signals.number == signal.SIGINT


def test_after_the_writing_a_signal_only_decides_the_exit_code() -> None:
    heard: list[int] = []

    with handled() as signals:
        with signals.answered_by(heard.append):
            pass
        signal.raise_signal(signal.SIGINT)

        assert heard == []
        assert signals.number == signal.SIGINT


def test_the_handlers_from_before_come_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    with handled():
        pass

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_second_signal_ends_the_program_at_once() -> None:
    child = (
        "import signal\n"
        "from commandsync.sync.process import Interruption, handled\n"
        "with handled():\n"
        "    try:\n"
        "        signal.raise_signal(signal.SIGTERM)\n"
        "    except Interruption:\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        print('still here')\n"
    )

    ended = subprocess.run([sys.executable, "-c", child], capture_output=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (143, b"", b"")


def test_a_defect_is_a_message_without_a_traceback() -> None:
    sketch = (
        "import sys, commandsync.cli.program as program\n"
        "def broken(*_, **__): raise ZeroDivisionError('ouch')\n"
        "program.program.main = broken\n"
        "sys.exit(program.run(['plan']))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", sketch], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 1
    assert "defect in commandsync: ZeroDivisionError: ouch\n  hint: please report" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("before", [[], [signal.SIGTERM, signal.SIGINT]], ids=["none", "two"])
def test_an_early_signal_ends_it_at_its_beginning(before: list[int]) -> None:
    with handled(armed=False) as signals:
        if not before:
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interruption) as raised:
            signals.arm(before)

    assert raised.value.number == signals.number == signal.SIGTERM


def test_after_the_run_a_signal_only_decides_the_exit_code() -> None:
    with handled(armed=False) as signals:
        signals.arm()
        signals.disarm()
        signal.raise_signal(signal.SIGTERM)

        assert signals.number == signal.SIGTERM


LOST = (
    "import signal, sys, time\n"
    "from commandsync.sync.process import Interruption, handled\n"
    "class Lost:\n"
    "    def __del__(self): signal.raise_signal(signal.SIGTERM)\n"
    "sys.unraisablehook = lambda _: None\n"
    "with handled() as signals:\n"
    "    try:\n"
    "        Lost()\n"
    "        {then}\n"
    "    except Interruption as interruption:\n"
    "        print(interruption.number)\n"
)


SWALLOWED = LOST.replace(
    "        Lost()\n",
    "        try: signal.raise_signal(signal.SIGTERM)\n        except BaseException: pass\n",
)


@pytest.mark.parametrize("lost", [LOST, SWALLOWED], ids=["finalizer", "library"])
@pytest.mark.parametrize(
    "then", ["time.sleep(3600)", "signals.answered_by(print).__enter__(); print('writes')"]
)
def test_a_dropped_interruption_is_raised_again(lost: str, then: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", lost.format(then=then)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )

    assert (ended.stdout, ended.stderr) == (f"{int(signal.SIGTERM)}\n", "")
