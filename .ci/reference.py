"""Write the generated part of docs/listings.md: what is known of the listing services.

With `--check` it checks that the page is current.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.report.records import services_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).resolve().parents[1] / "docs" / "listings.md"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with `--check` say that it differs; return the exit code."""
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition("<!-- services -->\n\n")
    _, end, after = rest.partition("\n\n<!-- end -->")
    if not end:
        sys.exit("docs/listings.md has no place for the services")
    current = f"{before}{begin}{services_markdown()}{end}{after}"
    if current == text:
        return 0
    if arguments == ["--check"]:
        print("docs/listings.md is not current: run make generate", file=sys.stderr)
        return 1
    PAGE.write_text(current, encoding="utf-8", newline="\n")
    print("wrote docs/listings.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
