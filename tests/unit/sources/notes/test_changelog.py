"""The section of a version, cut out of changelogs of many shapes as a person would cut it."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.errors import FileError
from commandsync.sources.notes.changelog import section_of

FOLDER = Path(__file__).parents[3] / "fixtures" / "changelogs"
SHAPES = sorted(path.name for path in FOLDER.iterdir())
MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)
"""What a person cuts: the section, then each link definition that it uses."""

BLOCKS = (
    "A paragraph.",
    "Two lines,\nwith [a link][guide] and `## code`.",
    "- an item\n- another\n  - nested\n\n    # not a heading of the file",
    "1. first\n2. second",
    "### Added",
    "Fixed\n=====\n",
    "```md\n## 9.9.9\n```",
    "~~~\n# 9.9.9\n```\n~~~",
    "    ## 9.9.9",
    "> ## 9.9.9\n> quoted",
    "<!--\n## 9.9.9\n-->",
    "<details>\n## 9.9.9\n</details>",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "#9.9.9",
    "",
)
DEEPER = [block.replace("Fixed\n=====\n", "#### Fixed") for block in BLOCKS]
HEADINGS = ("## {}", "## v{}", "## [{}] - 2024-03-09", "## Version {}", "{}\n---", "## 🎉 {} ##")


def marked(shape: str) -> tuple[str, str, str]:
    """Return a changelog without the marks, the version, and what is between the marks."""
    text = (FOLDER / shape).read_text(encoding="utf-8")
    section, *definitions = MARKED.findall(text)
    wanted = "\n\n".join(filter(None, [section, "\n".join(definitions)]))
    return re.sub("[⟦⟧]", "", text), shape.removesuffix(".md").partition("@")[2], wanted


@pytest.mark.parametrize("shape", SHAPES)
def test_a_section_is_cut_out_to_the_byte(shape: str) -> None:
    text, version, wanted = marked(shape)

    notes = section_of(text, version, path="CHANGELOG.md")

    assert notes.text.rstrip("\n") == wanted
    assert notes.version == version.removeprefix("v")


@pytest.mark.parametrize("shape", SHAPES)
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(shape: str) -> None:
    text, version, wanted = marked(shape)
    version = f"v{version}" if version[0].isdigit() else version.lower()

    notes = section_of("\ufeff" + text.replace("\n", "\r\n"), version, path="CHANGELOG.md")

    section = notes.text.rstrip("\r\n")
    assert section.replace("\r\n", "\n") == wanted
    assert "]:" in wanted or section == wanted.replace("\n", "\r\n")


@given(
    st.lists(st.lists(st.sampled_from(DEEPER), max_size=4), min_size=1, max_size=5),
    st.sampled_from(HEADINGS),
    st.data(),
)
def test_a_section_is_what_was_put_below_its_heading(
    sections: list[list[str]], heading: str, data: st.DataObject
) -> None:
    bodies = ["\n\n".join(["Begins.", *blocks, "Ends."]) for blocks in sections]
    versions = [f"1.{len(bodies) - number}.0" for number in range(len(bodies))]
    parts = [
        f"{heading.format(version)}\n\n{body}\n"
        for version, body in zip(versions, bodies, strict=True)
    ]
    text = "\n".join(["# Changelog\n", *parts, "[guide]: https://lantern.example\n"])
    chosen = data.draw(st.integers(0, len(bodies) - 1))

    notes = section_of(text, versions[chosen], path="CHANGELOG.md")

    definition = "\n\n[guide]: https://lantern.example" if "[guide]" in bodies[chosen] else ""
    assert notes.text.rstrip("\n") == bodies[chosen] + definition


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (
            "## Unreleased\n\nx\n\n## 1.2.0-rc.1\n\nx\n\n## 1.1.0 [YANKED]\n\nx\n\n## 1.0\n\nx",
            "1.0",
        ),
        ("*Lantern*\n`1.2.0`\\\nthe big one\n===\n\nx", "1.2.0"),
        ("## 1.3.0 (unreleased)\n\nx\n\n## 1.2.0 (released 2024-03-09)\n\nx", "1.2.0"),
        ("# Lantern 2\n\n## 1.2.0b1\n\nx\n\n## 1.2.0.dev3\n\nx\n\n## 1.1\n\nx", "1.1"),
        (
            "# Log\n\n## 2024-03-09\n\n### Requires Python 3.12\n\nx\n\n## 2024-01-01\n\nx",
            "2024-03-09",
        ),
    ],
)
def test_without_a_version_the_first_released_one_is_meant(text: str, version: str) -> None:
    assert section_of(text, path="CHANGELOG.md").version == version


def test_a_prerelease_is_the_first_one_on_request() -> None:
    text = "## 1.2.0-rc.1\n\nNearly.\n\n## 1.1.0\n\nOut.\n"

    notes = section_of(text, path="CHANGELOG.md", prereleases=True)

    assert (notes.text, notes.version, notes.prerelease) == ("Nearly.\n", "1.2.0-rc.1", True)


VERSIONS = "".join(f"## 1.{n}.0\n\nx\n\n" for n in range(9, 0, -1))


@pytest.mark.parametrize(
    ("text", "version", "message", "hint"),
    [
        (VERSIONS, "1.1.1", "no heading for the version 1.1.1", "did you mean 1.1.0? it has 1.9.0"),
        (VERSIONS[: VERSIONS.index("## 1.4.0")], "2", "no heading for", "1.6.0, 1.5.0"),
        ("## 1.2.0\n## 1.1.0\n\nb", "1.2.0", "no text for the version 1.2.0", "below its heading"),
        ("## 1.2.0\n\n## Credits\n\nb", "1.2.0", "no text for the version", "below its heading"),
        ("## 1.2.0-rc.1\n\nx", "1.2", "no heading for the version 1.2", "it has 1.2.0-rc.1"),
        ("- 1.2.0: reminders\n- 1.1.0: away", "1.2.0", "no heading for", "begins with a heading"),
        ("## 1.3.0\n\n### Upgrade from 1.2.0\n\nx", "1.2.0", "no heading for", "it has 1.3.0"),
        ("## 1.2.0\n\na\n\n## 1.2.0\n\nb", "v1.2.0", "2 headings for", "give each version one"),
        ("## 1.2.0\n\n<a name='x'></a>\n\n## 1.1.0\n\nb", "1.2.0", "no text for", "below its"),
        (
            "## 1.2.0 [YANKED]\n\na\n\n## 1.1.0-beta\n\nb",
            "",
            "a released version",
            "name a version",
        ),
        ("Nothing.", "", "no heading for a released version", "a section begins with a heading"),
    ],
)
def test_an_absent_version_is_an_error(text: str, version: str, message: str, hint: str) -> None:
    with pytest.raises(FileError) as caught:
        section_of(text, version, path="C")

    assert caught.value.message.startswith("C has ")
    assert message in caught.value.message
    assert hint in str(caught.value.hint)
