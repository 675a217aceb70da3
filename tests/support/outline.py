"""The outline of a page: its tags without texts, so that two pages can be compared."""

from html.parser import HTMLParser

_VOID = {"br", "hr", "input", "link", "meta"}


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.links: list[dict[str, str | None]] = []
        self.values: list[str] = []
        self.attributes: set[str] = set()
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        names = " ".join(attributes)
        self.tags.append(f"<{tag} {names} class={attributes.get('class')}>")
        self.attributes |= attributes.keys()
        self.values += [value for value in attributes.values() if value]
        if tag == "a":
            self.links.append(attributes)
        if tag not in _VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]  # within a tag
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self._open, self.getpos())
        self.tags.append(f"</{tag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def close(self) -> None:
        super().close()
        assert self._open == []


class Outline:
    """What a page consists of.

    Attributes:
        tags: Its tags in their order, with the names of their attributes and with their classes.
        text: Its texts, as they are.
        words: The words of its texts, with a space between all of them.
        links: The attributes of each link.
        values: The values of all attributes.
        attributes: Their names.
    """

    def __init__(self, html: str) -> None:
        parser = _Parser()
        parser.feed(html)
        parser.close()
        self.tags = parser.tags
        self.text = "".join(parser.texts)
        self.words = " ".join(" ".join(parser.texts).split())
        self.links = parser.links
        self.values = parser.values
        self.attributes = parser.attributes

    def headings(self) -> list[int]:
        """Return the levels of the headings, in their order."""
        return [int(tag[2]) for tag in self.tags if tag[:2] == "<h" and tag[2].isdigit()]
