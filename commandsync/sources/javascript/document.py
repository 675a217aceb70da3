"""A command as Discord has it, of what the code states; notes for what only a run can tell."""

from commandsync.diagnostics import Notice
from commandsync.sources.applicationcommands import KEYS, spelled
from commandsync.sources.code import BY_HAND
from commandsync.sources.javascript.value import REST, Computed, Record, Value, Written

_MOST = 25  # options or choices, that Discord allows
_KEYS = (KEYS["command"] | KEYS["option"] | {REST}) - {"id"}


class Documents:
    """Makes documents of commands."""

    def __init__(self, *, localized: bool) -> None:
        self._localized = localized
        self.notes: list[Notice] = []

    def _note(self, what: str, at: Written) -> None:
        self.notes.append(Notice(f"{what} is computed at run time", BY_HAND, at.place))

    def text(self, record: Record, key: str) -> str:
        """Return a text of an object; empty if it has none, or none that can be read."""
        value = record.get(key)
        if isinstance(value, Computed):
            self._note(f"the {key} of this command", value)
        return value.strip() if isinstance(value, str) else ""

    def of(self, value: Value, at: Written, what: str = "command") -> dict[str, Value] | None:
        """Return a command or a part of one; None if its name or its type cannot be read."""
        fields = spelled(value) if isinstance(value, Record) else {"name": value}
        name, of_type = fields.get("name", fields.get(REST)), fields.get("type")
        for key, each in (("type", of_type), ("name", name)):
            if isinstance(each, Computed):
                self._note(f"the {key} of this {what}", each)
                return None
        if not isinstance(name, str) or not name.strip() or not isinstance(value, Record):
            self._note(f"the name of this {what}", at)
            return None
        known = {
            key: self._plain(key, fields[key], value.at, f"{what} {name!r}")
            for key in fields
            if key in _KEYS and (self._localized or not key.endswith("_localizations"))
        }
        known.pop(REST, None)
        return known

    def _plain(self, key: str, value: Value, at: Written, what: str) -> Value:
        if isinstance(value, Computed):
            self._note(f"{'a part' if key == REST else f'the {key}'} of the {what}", value)
        if isinstance(value, list):
            part = f"{key.removesuffix('s')} of the {what}".partition(" of the option")[0]
            if len(value) > _MOST:
                message = f"only the first {_MOST} {key} of the {what} are read"
                self.notes.append(Notice(message, "Discord allows no more", at.place))
            return list(filter(None, (self.of(each, at, part) for each in value[:_MOST])))
        if isinstance(value, Record):  # the texts of the languages
            return {each: self._plain(key, text, at, what) for each, text in value.items()}
        return value if isinstance(value, (str, int)) else None
