"""Every operation of the service under all checks of schemathesis, on both databases.

    python -m benchmarks.contract [EXAMPLES]

50 examples for each operation by default, with a new seed. Ends with 1 if an answer is not as the
OpenAPI document says, and shows how to repeat it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.support.contract import run_schemathesis
from tests.support.postgres import serving

_LONGEST = 600.0  # seconds for each database


def main(examples: str = "50") -> int:
    """Run it, print what schemathesis prints, and return the exit code."""
    failed = False
    with tempfile.TemporaryDirectory() as name, serving("contract") as server:
        folder = Path(name)
        with server.database() as url:
            for database in (str(folder / "listing.db"), url):
                ended = run_schemathesis(
                    database, folder, "--max-examples", examples, longest=_LONGEST
                )
                print(f"{database.partition(':')[0]}\n{ended.stdout}{ended.stderr}", flush=True)
                failed = failed or ended.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
