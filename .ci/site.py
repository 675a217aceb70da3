"""Build the documentation site from docs/, or check that it can be built and loads nothing else.

mkdocs calls the functions that begin with `on_` (`hooks:` in mkdocs.yml): the site also has the
documents and files beside docs/ that its pages link to.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("README.md", "SECURITY.md", "CHANGELOG.md", "schemas/*.json", "examples/seed.json")
_ICON = "commandsync/pages/static/icon.svg"
_UNSEARCHED = "CHANGELOG.md"
_FIRST = "manifest.md"  # in a search for a word that several pages have
_SESSION = re.compile(r'(<div class="language-console[^>]*>.*?<code)(>.*?</code>)', re.DOTALL)
_LOADED = re.compile(
    r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^>]*>"""
)
_IMPORTED = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)]*""")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link the repository that CI builds the site of; elsewhere it is not known."""
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        config.repo_url = f"{os.environ['GITHUB_SERVER_URL']}/{repository}"
        config.repo_name = repository
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files beside docs/ to the site."""
    files.append(File.generated(config, "icon.svg", abs_src_path=str(ROOT / _ICON)))
    for pattern in BESIDE:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Return a page as the site and its search need it.

    All documents are in one folder there, what is for contributors is not, and a `|` in the code of
    a table is not escaped.
    """
    page.meta["search"] = {
        "exclude": page.file.src_uri == _UNSEARCHED,
        "boost": 4 if page.file.src_uri == _FIRST else 1,
    }
    linked = re.sub(r"(?<=\]\()(?:\.\./|docs/)(?=[A-Za-z])", "", markdown)
    linked = re.sub(r"\[([^]]+)\]\((?:CONTRIBUTING\.md|LICENSE)\)", r"\1", linked)
    return re.sub(r"`[^`\n]+`", lambda code: code[0].replace(r"\|", "|"), linked)


def on_page_content(html: str, **_: object) -> str:
    """Return a page whose buttons copy the commands of a session, without prompts and outputs.

    A picture, which a phone shows small, is a link to itself.
    """
    linked = re.sub(r'<img [^>]*src="(images/[^"]+)"[^>]*>', r'<a href="\1">\g<0></a>', html)
    return _SESSION.sub(_copied, linked)


def _copied(session: re.Match[str]) -> str:
    lines = unescape(re.sub(r"<[^>]+>", "", session[0])).splitlines()
    typed = "\n".join(line[2:] for line in lines if line.startswith(("$ ", "> ")))
    return f'{session[1]} data-md-copy="{escape(typed)}"{session[2]}'


def on_post_page(output: str, **_: object) -> str:
    """Return a page that a keyboard can scroll, and whose search has a name.

    The theme gives the dialog no name, and puts a wide table into a box that scrolls.
    """
    named = output.replace('class="md-search"', 'class="md-search" aria-label="Search"')
    return named.replace("<table>", '<table tabindex="0">')


on_post_template = on_post_page


def build(folder: Path) -> bool:
    """Build the site into a folder; say what is wrong, and return whether nothing is.

    With its own `--quiet`, mkdocs counts no warning.
    """
    built = subprocess.run(  # noqa: S603 - the command is this file's own
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if built.returncode:
        print(f"{built.stdout}{built.stderr}", end="", file=sys.stderr)
    return not built.returncode


def from_other_hosts(folder: Path) -> list[str]:
    """Return what a browser would load from another host for the pages in a folder."""
    loaded = []
    for path in sorted(folder.rglob("*")):
        pattern = {".html": _LOADED, ".css": _IMPORTED, ".svg": _IMPORTED}.get(path.suffix)
        if pattern is not None:
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(folder).as_posix()
            loaded += [f"{name}: {found}" for found in pattern.findall(text)]
    return loaded


def main(arguments: Sequence[str]) -> int:
    """Build the site, into a folder if it is named, with `--check` into a temporary one.

    Returns the exit code.
    """
    with tempfile.TemporaryDirectory() as name:
        (target,) = arguments or [str(ROOT / "build" / "site")]
        folder = Path(name if target == "--check" else target)
        if not build(folder):
            return 1
        loaded = from_other_hosts(folder)
    print("".join(f"{line}\n" for line in loaded), end="", file=sys.stderr)
    return 1 if loaded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
