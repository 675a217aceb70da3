"""Prepare a checkout for the build of a release: `python .ci/release.py REPOSITORY_URL TAG`.

It writes into the current folder. README.md and pyproject.toml get the addresses of the repository:
the package index shows them, and relative links do not work there. build/release gets the JSON
Schemas with their addresses as `$id`, the locks of the Action, and the notes of the release.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RELEASE = Path("build/release")
_LINK = re.compile(r"(!?)(\[[^]]*\]\()(?![a-z]+:|#)([^)]+\))")
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


def with_addresses(text: str, *, url: str, tag: str) -> str:
    """Return a document whose links lead to the files of a tag, with the name of the repository."""

    def absolute(link: re.Match[str]) -> str:
        image, label, target = link.groups()
        return f"{image}{label}{url}/{'raw' if image else 'blob'}/{tag}/{target}"

    repository = "/".join(url.split("/")[-2:])
    return _LINK.sub(absolute, text).replace("OWNER/commandsync", repository)


def notes_of(version: str, *, changes: str) -> str:
    """Return the section of a version in CHANGELOG.md, empty if it has none."""
    _, _, section = changes.partition(f"\n## [{version}]")
    return section.partition("\n")[2].partition("\n## ")[0].strip()


def with_id(schema: str, address: str) -> str:
    """Return a JSON Schema with its address."""
    content = json.loads(schema)
    draft = content.pop("$schema")
    identified = {"$schema": draft, "$id": address, **content}
    return f"{json.dumps(identified, indent=2, ensure_ascii=False)}\n"


def prepare(url: str, tag: str) -> str:
    """Write all files; return what is wrong, empty if nothing is."""
    found = _VERSION.search(Path("commandsync/version.py").read_text(encoding="utf-8"))
    if found is None or tag != f"v{found[1]}":
        return f"the tag {tag} is not the version in commandsync/version.py"
    notes = notes_of(found[1], changes=Path("CHANGELOG.md").read_text(encoding="utf-8"))
    if not notes:
        return f"CHANGELOG.md has no section [{found[1]}]"
    readme, project = Path("README.md"), Path("pyproject.toml")
    text = with_addresses(readme.read_text(encoding="utf-8"), url=url, tag=tag)
    readme.write_text(text, encoding="utf-8", newline="\n")
    with project.open("a", encoding="utf-8", newline="\n") as file:
        file.write(f'\n[project.urls]\nSource = "{url}"\n')
        file.write(f'Documentation = "{url}/blob/{tag}/README.md#documentation"\n')
        file.write(f'Changelog = "{url}/blob/{tag}/CHANGELOG.md"\n')
    RELEASE.mkdir(parents=True)
    (RELEASE / "notes.md").write_text(f"{notes}\n", encoding="utf-8", newline="\n")
    for path in sorted(Path("schemas").glob("*.schema.json")):
        schema = with_id(
            path.read_text(encoding="utf-8"), f"{url}/releases/download/{tag}/{path.name}"
        )
        (RELEASE / path.name).write_text(schema, encoding="utf-8", newline="\n")
    for lock in sorted(Path("commandsync/action").glob("requirements*.txt")):
        (RELEASE / lock.name).write_bytes(lock.read_bytes())
    return ""


def main(arguments: Sequence[str]) -> int:
    """Prepare the current folder; return the exit code."""
    wrong = prepare(*arguments)
    if wrong:
        print(wrong, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
