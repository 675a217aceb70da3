"""Build the documentation site from docs/, and check that it loads nothing from another host.

mkdocs calls the functions that begin with `on_` (`hooks:` in mkdocs.yml): the site also has the
documents and files beside docs/ that its pages link to. README.md becomes two pages: the landing
page, and the first five minutes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("SECURITY.md", "CHANGELOG.md", "schemas/*.json", "examples/seed.json")
_ICON = "commandsync/pages/static/icon.svg"
_UNSEARCHED = "CHANGELOG.md"
_FIRST = "manifest.md"  # in a search for a word that several pages have
_LANDING = "index.md"
_TOUR = ("The first five minutes", "In CI")  # the sections of README.md on a page of their own
# One line that installs, as every document writes it.
_INSTALL = re.compile(r"```sh\npipx install '(\.\[[a-z,]+\])'\n```")
_INSTALLERS = {"pipx": "pipx install", "uv": "uv tool install", "pip": "python -m pip install"}
_ROW = re.compile(r"^\| (\[.+\)) \| (.+) \|$", re.MULTILINE)
_PICTURE = re.compile(r'<img [^>]*src="([\w/]*?([\w-]+)\.(?:png|svg))"[^>]*>')
_PHONE = 400  # pixels: a picture that is not wider can be read on a phone
_SESSION = re.compile(r'(<div class="language-console[^>]*>.*?<code)>(.*?)</code>', re.DOTALL)
_PROMPTS = ("$ ", "> ")
_NOT_FOUND = """
<h1>This page does not exist</h1>
<p>Search for it above, or open one of these pages:</p>
<ul>
<li><a href="/index.html">commandsync</a>, with the ways to begin</li>
<li><a href="/manifest.html">Manifest</a>, with every key</li>
<li><a href="/command-line.html">Command line</a>, with every command</li>
</ul>
"""
_LOADED = re.compile(
    r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^>]*>"""
)
_IMPORTED = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)]*""")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Link the repository that CI builds the site of; elsewhere it is not known."""
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        config.repo_url = f"{os.environ['GITHUB_SERVER_URL']}/{repository}"
        config.repo_name = repository
    config.extra["polyfills"] = ["site.js"]  # before the script that begins a search
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the files beside docs/ to the site."""
    files.append(File.generated(config, "icon.svg", abs_src_path=str(ROOT / _ICON)))
    for name, text in _readme().items():
        files.append(File.generated(config, name, content=text))
    for pattern in BESIDE:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def _readme() -> dict[str, str]:
    """Return README.md as the landing page and the page of the first five minutes."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start, *sections = re.split(r"^(?=## )", readme, flags=re.MULTILINE)
    named = {section.partition("\n")[0].removeprefix("## "): section for section in sections}
    tour = "".join(named.pop(name) for name in _TOUR).removeprefix("#")
    links = re.compile(r"\*\*In five minutes\*\*: (?s:.+?)\n\n")
    start = links.sub(lambda found: _buttons(found[0]), start)
    named["Documentation"] = _cards(named["Documentation"])
    return {_LANDING: "".join([start, *named.values()]), "tour.md": tour}


def _buttons(links: str) -> str:
    """Return the first links of README.md, and one to its tour, as buttons."""
    found = re.findall(r"\[[^]]+\]\([^)]+\)", links)
    first, *others = (f"{link}{{ .md-button }}" for link in [*found, f"[{_TOUR[0]}](tour.md)"])
    return "\n".join([first.replace("}", ".md-button--primary }"), *others, "", ""])


def _cards(table: str) -> str:
    """Return the table of the documents as a grid."""
    cards = [f"-   {links}\n\n    {content}\n" for links, content in _ROW.findall(table)]
    rows = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
    grid = "\n".join(['<div class="grid cards" markdown>', "", *cards, "</div>", ""])
    return rows.sub(lambda _: grid, table)


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Return a page as the site and its search need it.

    All documents are in one folder there, what is for contributors is not, a `|` in the code of a
    table is not escaped, and the line that installs is there for each installer.
    """
    page.meta["search"] = {
        "exclude": page.file.src_uri == _UNSEARCHED,
        "boost": 4 if page.file.src_uri == _FIRST else 1,
    }
    if page.file.src_uri == _LANDING:
        page.meta["hide"] = ["toc"]
    linked = re.sub(r"(?<=\]\()(?:\.\./|docs/)(?=[A-Za-z])", "", markdown)
    linked = re.sub(r"\[([^]]+)\]\((?:CONTRIBUTING\.md|LICENSE)\)", r"\1", linked)
    linked = linked.replace("](README.md", f"]({_LANDING}")
    tabs = _INSTALL.sub(_installers, linked)
    return re.sub(r"`[^`\n]+`", lambda code: code[0].replace(r"\|", "|"), tabs)


def _installers(line: re.Match[str]) -> str:
    tab = "=== \"{}\"\n\n    ```sh\n    {} '{}'\n    ```\n"
    return "\n".join(tab.format(name, how, line[1]) for name, how in _INSTALLERS.items())


def on_page_content(html: str, **_: object) -> str:
    """Return a page whose buttons copy the commands of a session, without prompts and outputs.

    Only commands are highlighted: the highlighter would take `# Harbor` in an output for a prompt.
    A picture is a link to itself, and a wide one can be scrolled on a phone.
    """
    return _SESSION.sub(_copied, _PICTURE.sub(_linked, html))


def _linked(picture: re.Match[str]) -> str:
    width = re.search(r"-([0-9]+)", picture[2])
    wide = "" if width and int(width[1]) <= _PHONE else " wide"
    return f'<a class="picture{wide}" href="{picture[1]}">{picture[0]}</a>'


def _copied(session: re.Match[str]) -> str:
    lines = [(line, unescape(re.sub(r"<[^>]+>", "", line))) for line in session[2].split("\n")]
    typed = "\n".join(text[2:] for _, text in lines if text.startswith(_PROMPTS))
    shown = "\n".join(
        line
        if text.startswith(_PROMPTS)
        else f'<span class="go">{escape(text, quote=False)}</span>'
        for line, text in lines
    )
    return f'{session[1]} data-copy="{escape(typed)}">{shown}</code>'


def on_post_page(output: str, **_: object) -> str:
    """Return a page that a keyboard can scroll, whose search has a name, and whose title is short.

    The theme gives the dialog no name, puts a wide table into a box that scrolls, and would ask
    GitHub about the repository.
    """
    named = output.replace('class="md-search"', 'class="md-search" aria-label="Search"')
    named = named.replace('data-md-component="source"', "")
    named = named.replace("<title>commandsync - commandsync<", "<title>commandsync<")
    return named.replace("<table>", '<table tabindex="0">')


def on_post_template(output: str, *, template_name: str, **_: object) -> str:
    """Return a page that is not a document; the one for a wrong address leads to others."""
    if template_name == "404.html":
        output = output.replace("<h1>404 - Not found</h1>", _NOT_FOUND)
    return on_post_page(output)


@event_priority(-100)  # after the search
def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the index of the search as a script, too: from a folder, a page can load only that."""
    folder = Path(config.site_dir, "search")
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")


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
    """Build the site, into a folder if it is named; return the exit code."""
    folder = Path(*arguments) if arguments else ROOT / "build" / "site"
    if not build(folder):
        return 1
    loaded = from_other_hosts(folder)
    print("".join(f"{line}\n" for line in loaded), end="", file=sys.stderr)
    return 1 if loaded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
